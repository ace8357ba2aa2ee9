/* Joins of OrangeFS, on a world that is made up: clients, whose daemons do one request after
 * another, write and read a file whose strips lie on three servers. Every span says which call it
 * really belongs to, in `rank`, which no join looks at; so no edge may lie between spans of
 * different calls, whatever is missing and in whatever order spans come.
 */
#include "unit.h"

#include "trace/stack/graph.h"
#include "trace/stack/layer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)
#define CLIENTS 3
#define CALLS 40 /* of a client */
#define SERVERS 3
#define STRIP (INT64_C(64) << 10)
#define FUSE_DEVICE 55
#define DISK 2065
#define BLOCK INT64_C(4096)

static struct spans spans;
static struct graph graph;
static uint64_t seed;
static uint32_t next_id;

static struct {
	struct span span;
	char observer[4];
} made[20000];
static size_t n_made;

static uint32_t chance(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

static struct span a_span(const char *layer, int64_t from, int64_t to, int32_t call)
{
	return (struct span){.id = ++next_id,
		.start_ns = T0 + from,
		.end_ns = T0 + to,
		.rank = call,
		.op = SPAN_WRITE,
		.offset = SPAN_NO_OFFSET,
		.layer = layer,
		.function = "f",
		.object = ""};
}

static struct span inside(const struct span *s, const char *layer, int64_t ns)
{
	struct span in = *s;

	in.id = ++next_id;
	in.layer = layer;
	in.start_ns += ns;
	in.end_ns -= ns;
	return in;
}

static void make(const char *kind, int number, struct span s)
{
	assert_true(n_made < sizeof(made) / sizeof(made[0]));
	made[n_made].span = s;
	snprintf(made[n_made++].observer, sizeof(made[0].observer), "%s%d", kind, number);
}

static void range(struct span *s, int64_t offset, int64_t size)
{
	s->offset = offset;
	s->size = s->result = size;
}

/* What a server does for a request: whole blocks, and the disk below them. */
static void make_server(int server, const struct span *network, int64_t offset, int64_t late)
{
	struct span s = inside(network, "server", 1000), c;
	int64_t from = offset / BLOCK * BLOCK;
	int64_t to = (offset + s.size + BLOCK - 1) / BLOCK * BLOCK;

	s.offset = offset;
	s.start_ns += late;
	s.end_ns += late;
	make("s", server, s);
	c = inside(&s, "storage", 500);
	c.connection = c.unique = 0;
	c.position = c.length = 0;
	c.tid = 500 + (int32_t)(s.unique % 64);
	c.device = DISK;
	c.inode = 4;
	if (s.op == SPAN_WRITE && offset % BLOCK) {
		c.op = SPAN_READ;
		c.end_ns = c.start_ns + 10;
		range(&c, from, BLOCK);
		make("s", server, c);
		c = inside(&c, "storage", 0);
		c.op = SPAN_WRITE;
		c.start_ns += 20;
		c.end_ns = s.end_ns - 500;
	}
	range(&c, from, to - from);
	make("s", server, c);
	c = inside(&c, "block", 100);
	c.flags = 0;
	c.inode = c.key = 0;
	make("s", server, c);
}

/* The strips of a range on each server, one message each; and one that is not about bytes. */
static void make_messages(const struct span *client, int64_t offset, int64_t size, int64_t late)
{
	static uint32_t tag;

	for (int server = 0; server < SERVERS; server++) {
		int64_t round = STRIP * SERVERS, first = -1, at = 0, bytes = 0;
		struct span s = inside(client, "network", 1000);

		for (int64_t i = offset; i < offset + size; i += STRIP - i % STRIP) {
			int64_t end = i + STRIP - i % STRIP;

			if (i / STRIP % SERVERS != server)
				continue;
			if (first < 0) {
				first = i;
				at = i / round * STRIP + i % STRIP;
			}
			bytes += (end < offset + size ? end : offset + size) - i;
		}
		s.flags = SPAN_STRIPED;
		s.device = 0;
		s.unique = ++tag;
		s.connection = (uint64_t)client->pid * 100 + (uint64_t)server;
		s.position = tag * 7919;
		s.length = 300;
		s.key = 0x3000 + (uint64_t)server;
		range(&s, first, bytes);
		if (bytes) {
			make("c", client->pid, s);
			make_server(server, &s, at, late);
		}
	}
}

static void make_call(int client, int i, int64_t late)
{
	static uint64_t unique;
	int32_t call = client * CALLS + i;
	int64_t from = i * INT64_C(60000) + chance(5000), size = 1 + chance(3 * STRIP);
	int64_t offset = ((int64_t)client * CALLS + i) * 4 * STRIP + chance(STRIP);
	struct span s = a_span("posix", from, from + 50000, call);

	s.op = chance(3) ? SPAN_WRITE : SPAN_READ;
	s.pid = 100;
	s.tid = 100 + chance(4);
	s.device = FUSE_DEVICE;
	s.inode = 4242;
	range(&s, offset, size);
	make("c", client, s);
	s = inside(&s, "fuse", 1000);
	s.asker = s.tid;
	s.key = 77;
	s.unique = unique += 2;
	make("c", client, s);
	s = inside(&s, "client", 1000);
	s.pid = s.tid = client;
	s.offset = SPAN_NO_OFFSET;
	s.size = 0;
	make("c", client, s);
	make_messages(&s, offset, size, late);
}

static void make_world(int64_t late)
{
	n_made = 0;
	for (int c = 1; c <= CLIENTS; c++) {
		for (int i = 0; i < CALLS; i++)
			make_call(c, i, late);
	}
}

/* Add them in another order, but for one of `lose` (0: none); and join. */
static void join(uint32_t lose)
{
	struct lp_err err = {0};

	for (size_t i = n_made; i > 1; i--) {
		size_t other = chance((uint32_t)i);

		made[n_made] = made[other];
		made[other] = made[i - 1];
		made[i - 1] = made[n_made];
	}
	for (size_t i = 0; i < n_made; i++) {
		if (!lose || chance(lose))
			assert_int_equal(spans_add(&spans, made[i].observer, &made[i].span), 0);
	}
	assert_int_equal(spans_align(&spans), 0);
	assert_int_equal(graph_open(&graph, &spans), 0);
	assert_int_equal(graph_join(&graph, &err), 0);
}

static int release(void **state)
{
	(void)state;
	graph_release(&graph);
	spans_release(&spans);
	n_made = 0;
	return 0;
}

static void check_never_cross(void)
{
	for (size_t i = 0; i < graph.n; i++) {
		const struct span *parent = &spans.items[graph.edges[i].parent];
		const struct span *child = &spans.items[graph.edges[i].child];

		if (parent->rank != child->rank)
			fail_msg("%s of call %d is joined to %s of call %d", child->layer,
				child->rank, parent->layer, parent->rank);
	}
}

static uint64_t unjoined(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < layers_n; i++)
		n += graph.unjoined[i].spans;
	return n;
}

static void test_all(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		seed = 1 + i;
		make_world(i % 2 ? INT64_C(3000000000) : 0);
		join(0);
		check_never_cross();
		assert_int_equal(unjoined(), 0);
		for (size_t k = 0; k < spans.n; k++)
			assert_int_equal(
				graph.n_parents[k], spans.layers[k] == STACK_POSIX ? 0 : 1);
		release(NULL);
	}
}

/* Whatever is lost, what is left is joined to the right call, or not at all. */
static void test_lost(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		seed = 100 + i;
		make_world(i % 3 ? 0 : INT64_C(1000000000) * (i + 1));
		join(2 + i % 7);
		check_never_cross();
		assert_true(unjoined() > 0);
		release(NULL);
	}
}

static struct span a_client(int64_t from, int64_t to, int32_t tid, uint64_t unique)
{
	struct span s = a_span("client", from, to, (int32_t)unique);

	s.pid = 9;
	s.tid = tid;
	s.device = FUSE_DEVICE;
	s.unique = unique;
	return s;
}

static struct span a_message(int64_t from, int32_t tid, int64_t offset, int64_t size)
{
	struct span s = a_span("network", from, from + 10, -1);

	s.pid = 9;
	s.tid = tid;
	s.flags = SPAN_STRIPED;
	range(&s, offset, size);
	return s;
}

/* Which messages are a request's of the kernel. */
static void test_client(void **state)
{
	struct span s = a_span("fuse", 0, 1000, 2);

	(void)state;
	s.device = FUSE_DEVICE;
	s.unique = 2;
	range(&s, 1000, 500);
	make("c", 1, s);
	make("c", 1, a_client(10, 900, 9, 2));
	make("c", 1, a_client(10, 900, 8, 4)); /* two at once in one thread */
	make("c", 1, a_client(20, 900, 8, 6));
	make("c", 1, a_message(100, 9, 1200, 300));
	make("c", 1, a_message(100, 9, 1200, 301)); /* too long */
	make("c", 1, a_message(100, 9, 900, 10));   /* before the range */
	make("c", 1, a_message(100, 7, 1000, 10));  /* of another thread */
	make("c", 1, a_message(950, 9, 1000, 10));  /* after the answer */
	make("c", 1, a_message(100, 8, 0, 10));	    /* for which of both? */
	make("c", 2, a_message(100, 9, 1000, 10));  /* on another host */
	s = a_message(100, 9, 1000, 10);
	s.op = SPAN_READ;
	make("c", 1, s);
	s.op = SPAN_META;
	s.result = 0;
	make("c", 1, s); /* needs no range */
	join(0);
	assert_int_equal(graph.unjoined[STACK_NETWORK].spans, 7);
	for (size_t i = 0; i < graph.n; i++)
		assert_int_equal(spans.items[graph.edges[i].parent].rank, 2);
	assert_int_equal(graph.n, 3); /* fuse and client, the write, the other */
}

static struct span a_request(int64_t offset, int64_t size, uint8_t op)
{
	struct span s = a_span("server", 0, 1000, 1);

	s.flags = SPAN_STRIPED;
	s.key = 0x3000;
	s.op = op;
	range(&s, offset, size);
	return s;
}

static void make_io(uint64_t key, int64_t offset, int64_t size, uint8_t op, int64_t at)
{
	struct span s = a_span("storage", at, at + 10, 1);

	s.flags = SPAN_STRIPED;
	s.key = key;
	s.op = op;
	range(&s, offset, size);
	make("s", 1, s);
}

/* Which calls are a server's request's. */
static void test_server(void **state)
{
	(void)state;
	make("s", 1, a_request(5000, 4096, SPAN_WRITE)); /* in the blocks from 4096 to 12288 */
	make_io(0x3000, 4096, 4096, SPAN_READ, 100);
	make_io(0x3000, 8192, 4096, SPAN_READ, 100);
	make_io(0x3000, 4096, 8192, SPAN_WRITE, 100);
	make_io(0x3000, 4096, 8192, SPAN_READ, 100);  /* more than a block */
	make_io(0x3000, 4096, 8193, SPAN_WRITE, 100); /* too long */
	make_io(0x3000, 0, 4096, SPAN_WRITE, 100);    /* before it */
	make_io(0x3001, 4096, 8192, SPAN_WRITE, 100); /* another file */
	make_io(0x3000, 4096, 8192, SPAN_WRITE, 995); /* not yet done at the answer */
	make_io(0x3000, 0, 0, SPAN_SYNC, 100);	      /* it did not ask for that */
	join(0);
	assert_int_equal(graph.n, 3);
	assert_int_equal(graph.unjoined[STACK_STORAGE].spans, 6);
	release(NULL);
	/* Two that share a block: what is in it is nobody's, the rest is clear. */
	make("s", 1, a_request(0, 5000, SPAN_WRITE));
	make("s", 1, a_request(5000, 5000, SPAN_WRITE));
	make_io(0x3000, 4096, 4096, SPAN_WRITE, 100);
	make_io(0x3000, 0, 8192, SPAN_WRITE, 100);
	join(0);
	assert_int_equal(graph.n, 1);
	assert_int_equal(graph.unjoined[STACK_STORAGE].spans, 1);
	assert_int_equal(graph.unjoined[STACK_STORAGE].bytes, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all, release),
		cmocka_unit_test_teardown(test_lost, release),
		cmocka_unit_test_teardown(test_client, release),
		cmocka_unit_test_teardown(test_server, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
