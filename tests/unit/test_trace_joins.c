/* Joins of the layers below the C library, on a world that is made up: threads of a program write a
 * file over two servers, with direct I/O. Every span says which call it really belongs to, in
 * `rank`, which no join looks at; so no edge may lie between spans of different calls, whatever is
 * missing and in whatever order spans come.
 */
#include "unit.h"

#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"
#include "trace/stack/layer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)
#define THREADS 8
#define CALLS 12 /* of a thread */
#define SIZE (INT64_C(256) << 10)
#define REQUEST (INT64_C(128) << 10) /* of FUSE at most */
#define SHARD (INT64_C(4) << 20)
#define FUSE_DEVICE 55
#define DISK 2065

static struct spans spans;
static struct graph graph;
static uint64_t seed;
static uint32_t next_id;

/* Spans that were made, before they are added in another order. */
static struct {
	struct span span;
	const char *observer;
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

static void make(const char *observer, struct span s)
{
	assert_true(n_made < sizeof(made) / sizeof(made[0]));
	made[n_made].span = s;
	made[n_made++].observer = observer;
}

static void range(struct span *s, int64_t offset, int64_t size)
{
	s->offset = offset;
	s->size = s->result = size;
}

/* A request of a daemon to a server, what that does for it, and its disk. */
static void make_rpc(struct span q, int64_t offset, int64_t size, int64_t late)
{
	static uint32_t xid;
	const char *server = offset / SHARD % 2 ? "s2" : "s1";
	int64_t from = q.start_ns - T0, to = q.end_ns - T0;
	struct span s = a_span("network", from + 3000, to - 3000, q.rank);

	s.asker = q.asker;
	s.key = 9000 + (uint64_t)(offset / SHARD); /* each shard is a file */
	range(&s, offset % SHARD, size);
	s.unique = ++xid;
	s.connection = (unsigned char)server[1];
	s.position = xid * 7919;
	s.length = (uint32_t)size + 200;
	make("c1", s);
	s.layer = "server";
	s.id = ++next_id;
	s.start_ns += 2000 + late;
	s.end_ns += late - 2000;
	s.asker = q.asker;
	make(server, s);
	s.layer = "storage";
	s.id = ++next_id;
	s.start_ns += 1000;
	s.end_ns -= 1000;
	s.connection = s.unique = 0;
	s.position = s.length = 0;
	s.asker = 0;
	s.tid = 500 + (int32_t)(xid % 64);
	s.device = DISK;
	s.inode = s.key - 8000;
	make(server, s);
	s.layer = "block";
	s.id = ++next_id;
	s.start_ns += 100;
	s.end_ns -= 100;
	s.offset = (int64_t)xid * 131072;
	s.inode = s.key = 0;
	s.unique = xid;
	make(server, s);
}

/* What a FUSE request becomes. */
static void make_request(
	int32_t call, int32_t tid, int64_t offset, int64_t size, int64_t from, int64_t late)
{
	static uint64_t unique = 2;
	int64_t first = size < SHARD - offset % SHARD ? size : SHARD - offset % SHARD;
	struct span s = a_span("fuse", from, from + 40000, call);

	s.tid = s.asker = tid;
	s.device = FUSE_DEVICE;
	s.key = 77; /* the node */
	s.unique = unique += 2;
	range(&s, offset, size);
	make("c1", s);
	s.layer = "client";
	s.id = ++next_id;
	s.start_ns += 2000;
	s.end_ns -= 2000;
	s.offset = SPAN_NO_OFFSET;
	s.size = 0;
	make("c1", s);
	make_rpc(s, offset, first, late);
	if (first < size)
		make_rpc(s, offset + first, size - first, late);
}

/* Threads write in turn, all at once; `late` is how far the servers' clocks are ahead. The file
 * begins in the middle of a page, so that requests lie across shards. */
static void make_world(int64_t late)
{
	n_made = 0;
	for (int32_t t = 0; t < THREADS; t++) {
		for (int32_t i = 0; i < CALLS; i++) {
			int32_t call = i * THREADS + t;
			int64_t from = i * INT64_C(100000) + chance(5000),
				offset = call * SIZE + 512;
			struct span s = a_span("posix", from, from + 90000, call);

			s.pid = 100;
			s.tid = 100 + t;
			s.device = FUSE_DEVICE;
			s.inode = 4242;
			range(&s, offset, SIZE);
			make("c1", s);
			make_request(call, s.tid, offset, REQUEST, from + 500, late);
			make_request(call, s.tid, offset + REQUEST, REQUEST, from + 45000, late);
		}
	}
}

/* Add them in another order, but for one of `lose` (0: none); and join. */
static void join(uint32_t lose)
{
	struct lp_err err = {0};

	for (size_t i = n_made; i > 1; i--) {
		size_t other = chance((uint32_t)i);

		if (other != i - 1) {
			struct span s = made[other].span;
			const char *observer = made[other].observer;

			made[other].span = made[i - 1].span;
			made[other].observer = made[i - 1].observer;
			made[i - 1].span = s;
			made[i - 1].observer = observer;
		}
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
	seed = 1;
	make_world(0);
	join(0);
	check_never_cross();
	assert_int_equal(unjoined(), 0);
	for (size_t i = 0; i < spans.n; i++)
		assert_int_equal(graph.n_parents[i], spans.layers[i] == STACK_POSIX ? 0 : 1);
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

/* Servers' clocks that differ by seconds are moved, and the bound holds the truth. */
static void test_clocks(void **state)
{
	const int64_t late[] = {INT64_C(3000000000), -INT64_C(7000000000), 1500};

	(void)state;
	for (size_t k = 0; k < sizeof(late) / sizeof(late[0]); k++) {
		seed = 7;
		make_world(late[k]);
		join(0);
		for (size_t o = 0; o < spans.n_observers; o++) {
			const struct spans_clock *c = &spans.clocks[o];
			int64_t truth = spans.observer_names[o][0] == 's' ? late[k] : 0;

			assert_true(c->known);
			assert_false(c->drifts);
			assert_true(labs(c->offset_ns - truth) <= c->error_ns);
			assert_true(c->error_ns <= 4000);
		}
		check_never_cross();
		assert_int_equal(unjoined(), 0);
		release(NULL);
	}
}

/* A request of the kernel, of a thread or (0) of nobody, and the message that it becomes. */
static void make_pair(uint64_t node, int32_t asker, int64_t offset, int64_t at, int32_t call)
{
	struct span s = a_span("fuse", at, at + 1000, call);

	s.tid = s.asker = asker;
	s.device = FUSE_DEVICE;
	s.key = node;
	s.unique = (uint64_t)call * 2 + 2;
	range(&s, offset, 4096);
	make("c1", s);
	s = a_span("network", at + 100, at + 900, call);
	s.asker = asker;
	s.key = 9000;
	range(&s, offset, 4096);
	s.connection = 1;
	s.position = s.length = (uint32_t)call + 1;
	make("c1", s);
}

/* A file that the kernel has forgotten, and numbers anew; what nobody waits for follows. */
static void test_renumbered(void **state)
{
	(void)state;
	make_pair(77, 7, 0, 0, 0);
	make_pair(78, 7, 4096, 2000, 1);
	make_pair(78, 0, 8192, 4000, 2);
	make_pair(79, 0, 12288, 6000, 3); /* which may be another file's */
	join(0);
	check_never_cross();
	assert_int_equal(graph.n, 3);
	assert_int_equal(graph.unjoined[STACK_NETWORK].spans, 1);
}

/* Requests that no server has are counted, if there is any recording of servers. */
static void test_unseen(void **state)
{
	(void)state;
	seed = 1;
	make_world(0);
	for (size_t i = 0; i < n_made; i++) {
		if (!strcmp(made[i].observer, "s2"))
			made[i--] = made[--n_made];
	}
	join(0);
	check_never_cross();
	assert_true(graph.unseen > 0 && graph.unseen < CALLS * THREADS * 3);
}

/* A request of a server, and the call for it on a file. */
static void make_served(int64_t start_ns, uint64_t request_key, uint64_t call_key, uint64_t inode)
{
	struct span s = a_span("server", start_ns, start_ns + 600, 0);

	s.connection = 5;
	s.key = request_key;
	range(&s, 0, 4096);
	make("s1", s);
	s = a_span("storage", start_ns + 100, start_ns + 200, 0);
	s.key = call_key;
	s.device = 8;
	s.inode = inode;
	range(&s, 0, 4096);
	make("s1", s);
}

/* A call for a file whose key only a later call shows; but not if the number of the file was used
 * again for another one. */
static void test_named_later(void **state)
{
	for (int again = 0; again < 2; again++) {
		make_served(1000, 9, 0, 50);
		make_served(3000, 9, 9, 50);
		if (again)
			make_served(5000, 10, 10, 50);
		make_served(7000, 11, 0, 51); /* nothing shows this one */
		join(0);
		assert_int_equal(graph.unjoined[STACK_STORAGE].spans, 1 + again);
		release(state);
	}
}

/* Two requests that cannot be distinguished: neither is taken. */
static void test_ambiguous(void **state)
{
	struct span s = a_span("fuse", 0, 1000, 0);

	(void)state;
	s.tid = s.asker = 7;
	s.device = FUSE_DEVICE;
	s.key = 77;
	s.unique = 2;
	range(&s, 0, 4096);
	make("c1", s);
	s.unique = 4;
	make("c1", s);
	s = a_span("network", 100, 900, 0);
	s.asker = 7;
	s.key = 9;
	range(&s, 0, 4096);
	s.connection = 1;
	make("c1", s);
	/* The same place in the stream twice: none is the server's. */
	s = a_span("server", 200, 800, 0);
	s.connection = 5;
	s.key = 9;
	range(&s, 0, 4096);
	make("s1", s);
	make("s1", s);
	/* Two requests for the same bytes at the same time. */
	s = a_span("storage", 300, 400, 0);
	s.key = 9;
	range(&s, 0, 4096);
	make("s1", s);
	join(0);
	assert_int_equal(graph.n, 0);
	assert_int_equal(graph.unjoined[STACK_NETWORK].bytes, 4096);
	assert_int_equal(graph.unjoined[STACK_SERVER].spans, 2);
	assert_int_equal(graph.unjoined[STACK_STORAGE].bytes, 4096);
}

static struct span a_write(int64_t at, int64_t offset, int64_t size, uint64_t inode, int32_t call)
{
	struct span s = a_span("posix", at, at + 10, call);

	s.tid = 1;
	s.device = DISK;
	s.inode = inode;
	range(&s, offset, size);
	return s;
}

static int64_t edge_bytes(int32_t call)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < graph.n; i++) {
		if (spans.items[graph.edges[i].parent].rank == call)
			bytes += graph.edges[i].bytes;
	}
	return bytes;
}

/* Page cache that is written later belongs to the latest writes before it. */
static void test_pages(void **state)
{
	struct span b = a_span("block", 1000, 2000, -1);

	(void)state;
	make("h", a_write(0, 0, 8192, 5, 0));
	make("h", a_write(100, 4096, 4096, 5, 1)); /* the second page anew */
	make("h", a_write(200, 8192, 100, 5, 2));  /* the beginning of the third */
	make("h", a_write(300, 8292, 50, 5, 3));   /* and more of it */
	make("h", a_write(400, 0, 4096, 6, 4));	   /* another file */
	make("h", a_write(5000, 0, 4096, 5, 5));   /* later */
	b.tid = 99;
	b.device = DISK;
	b.inode = 5;
	b.flags = SPAN_MAPPED;
	b.offset = 1 << 20;
	b.key = 0;
	b.size = b.result = 4 * 4096; /* the fourth was not written */
	make("h", b);
	join(0);
	assert_int_equal(edge_bytes(0), 4096);
	assert_int_equal(edge_bytes(1), 4096);
	assert_int_equal(edge_bytes(2) + edge_bytes(3), 4096);
	assert_true(edge_bytes(2) >= 100 && edge_bytes(3) >= 50);
	assert_int_equal(edge_bytes(4), 0);
	assert_int_equal(edge_bytes(5), 0);
	assert_int_equal(graph.unjoined[STACK_BLOCK].bytes, 4096);
}

/* What a thread asks a disk for in a call is the call's, if it is about that disk and file. */
static void test_block_thread(void **state)
{
	struct span s = a_write(0, 0, 4096, 5, 0), b = a_span("block", 5, 8, -1);

	(void)state;
	make("h", s);
	s.tid = 2;
	s.device = 1;
	make("h", s);
	range(&b, 0, 4096);
	b.device = DISK;
	b.tid = 1;
	make("h", b);
	b.tid = 2; /* in a call for another disk */
	make("h", b);
	b.tid = 3; /* in none */
	make("h", b);
	b.tid = 1;
	b.op = SPAN_READ;
	b.flags = SPAN_MAPPED;
	b.inode = 6; /* of another file */
	make("h", b);
	b.tid = 1;
	b.flags = 0;
	b.start_ns += 100; /* after the call */
	b.end_ns += 100;
	make("h", b);
	join(0);
	assert_int_equal(graph.n, 1);
	assert_int_equal(graph.edges[0].bytes, 4096);
	assert_int_equal(graph.unjoined[STACK_BLOCK].spans, 4);
}

/* Pages of FUSE that are written back, and a request that waits for them. */
static void test_fuse_writeback(void **state)
{
	struct span s = a_write(0, 100, 5000, 5, 0), q = a_span("fuse", 1000, 2000, -1);

	(void)state;
	s.device = FUSE_DEVICE;
	make("h", s);
	s = a_span("posix", 900, 3000, 1);
	s.op = SPAN_SYNC;
	s.tid = 1;
	s.device = FUSE_DEVICE;
	s.inode = 5;
	make("h", s);
	q.asker = 0;
	q.tid = 1;
	q.device = FUSE_DEVICE;
	q.inode = 5;
	q.key = 77;
	q.flags = SPAN_BUFFERED;
	range(&q, 0, 8192);
	make("h", q);
	q.inode = 6; /* of a file that was not written */
	q.tid = 2;
	make("h", q);
	join(0);
	assert_int_equal(graph.n, 3); /* bytes, the rest of their pages, and waiting */
	assert_int_equal(edge_bytes(0), 8192);
	assert_int_equal(edge_bytes(1), 0);
	assert_int_equal(graph.unjoined[STACK_FUSE].bytes, 8192);
}

static void test_index(void **state)
{
	struct join_index x = {0};
	const struct join_entry *e;
	size_t at, n = 0;

	(void)state;
	make("h", a_span("posix", 0, 1000, 0));
	make("h", a_span("posix", 100, 200, 1));
	make("h", a_span("posix", 300, 400, 2));
	for (size_t i = 0; i < n_made; i++) {
		assert_int_equal(spans_add(&spans, "h", &made[i].span), 0);
		assert_int_equal(join_index_add(&x, &spans, 1, (uint32_t)i, 0), 0);
	}
	assert_int_equal(join_index_add(&x, &spans, 2, 0, 0), 0);
	join_index_sort(&x);
	for (at = join_index_last(&x, 1, T0 + 350); join_index_next(&x, 1, T0 + 350, &at, &e); n++)
		assert_int_equal(e->span, n ? 0 : 2);
	assert_int_equal(n, 2);
	at = join_index_last(&x, 1, T0 + 2000);
	assert_false(join_index_next(&x, 1, T0 + 2000, &at, &e));
	at = join_index_last(&x, 3, T0);
	assert_false(join_index_before(&x, 3, &at, &e));
	join_index_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all, release),
		cmocka_unit_test_teardown(test_lost, release),
		cmocka_unit_test_teardown(test_clocks, release),
		cmocka_unit_test_teardown(test_renumbered, release),
		cmocka_unit_test_teardown(test_unseen, release),
		cmocka_unit_test_teardown(test_named_later, release),
		cmocka_unit_test_teardown(test_ambiguous, release),
		cmocka_unit_test_teardown(test_pages, release),
		cmocka_unit_test_teardown(test_block_thread, release),
		cmocka_unit_test_teardown(test_fuse_writeback, release),
		cmocka_unit_test_teardown(test_index, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
