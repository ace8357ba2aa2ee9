/* Asynchronous calls and the FUSE and disk requests that they become. Threads of a program request
 * calls, alone or several at once; helpers of the same process do the work while other calls are
 * under way. Every span says which call it really belongs to, in `rank`, which no join looks at. */
#include "unit.h"

#include "trace/stack/graph.h"
#include "trace/stack/layer.h"
#include <stdlib.h>

#define T0 INT64_C(1700000000000000000)
#define DEVICE 55
#define THREADS 4
#define CALLS 40 /* of a thread */
#define SIZE INT64_C(65536)

static struct spans spans;
static struct graph graph;
static uint64_t seed = 1;
static uint64_t next_id;

static struct span made[4096];
static size_t n_made;

static uint32_t chance(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

static struct span *make(const char *layer, int64_t from, int64_t to, int32_t call)
{
	struct span *s = &made[n_made++];

	assert_true(n_made <= sizeof(made) / sizeof(made[0]));
	*s = (struct span){.id = ++next_id,
		.start_ns = T0 + from,
		.end_ns = T0 + to,
		.pid = 10,
		.rank = call,
		.op = SPAN_WRITE,
		.device = DEVICE,
		.layer = layer,
		.function = "f",
		.object = ""};
	return s;
}

/* A call that is requested in `ns`, and ends later. */
static struct span *make_call(
	int64_t from, int64_t to, int64_t ns, int32_t tid, int64_t offset, int32_t call)
{
	struct span *s = make("posix", from, to, call);

	s->flags = SPAN_LATER;
	s->unique = (uint64_t)ns;
	s->tid = tid;
	s->inode = s->key = 5;
	s->offset = offset;
	s->size = s->result = SIZE;
	return s;
}

static struct span *make_request(
	const char *layer, int64_t from, int32_t tid, int64_t offset, int64_t size, int32_t call)
{
	struct span *s = make(layer, from, from + 100, call);

	s->tid = s->asker = tid;
	s->offset = offset;
	s->size = s->result = size;
	if (layer[0] == 'f')
		s->key = 77;
	return s;
}

static void join(uint32_t lose)
{
	struct lp_err err = {0};

	for (size_t i = n_made; i > 1; i--) {
		size_t other = chance((uint32_t)i);
		struct span s = made[other];

		made[other] = made[i - 1];
		made[i - 1] = s;
	}
	for (size_t i = 0; i < n_made; i++) {
		if (!lose || chance(lose))
			assert_int_equal(spans_add(&spans, "c1", &made[i]), 0);
	}
	assert_int_equal(spans_sort(&spans), 0);
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
	for (size_t i = 0; i < graph.n; i++)
		assert_int_equal(spans.items[graph.edges[i].parent].rank,
			spans.items[graph.edges[i].child].rank);
}

/* All calls of all threads, each of which becomes two requests of helpers. */
static void make_all(void)
{
	for (int32_t t = 0; t < THREADS; t++) {
		for (int32_t i = 0; i < CALLS; i++) {
			int32_t call = t * CALLS + i;
			int64_t from = i / 4 * 10000 + chance(10), offset = call * SIZE;

			make_call(from, from + 30000 + chance(20000), 50, 100 + t, offset, call);
			for (int64_t half = 0; half < 2; half++)
				make_request("fuse", from + 100 + chance(20000),
					900 + (int32_t)chance(16), offset + half * SIZE / 2,
					SIZE / 2, call);
		}
	}
}

static void test_helpers(void **state)
{
	(void)state;
	make_all();
	join(0);
	check_never_cross();
	assert_int_equal(graph.n, 2 * THREADS * CALLS);
	assert_int_equal(graph.unjoined[STACK_FUSE].spans, 0);
}

/* Without some of the calls their requests belong to no other. */
static void test_lost(void **state)
{
	(void)state;
	make_all();
	join(3);
	check_never_cross();
	assert_true(graph.n > 0);
	assert_true(graph.unjoined[STACK_FUSE].spans > 0);
}

/* What another process does, before and behind the call, in a wider range and to another device is
 * not the call's; and between two calls there is no choice. */
static void test_others(void **state)
{
	(void)state;
	make_call(0, 10000, 50, 100, 0, 1);
	make_request("fuse", 500, 900, 0, SIZE, 1);
	make_request("fuse", 500, 900, 0, SIZE, 2)->pid = 11;
	make_request("fuse", 500, 900, 0, SIZE, 2)->device = DEVICE + 1;
	make_request("fuse", 500, 900, 0, SIZE, 2)->op = SPAN_READ;
	make_request("fuse", 500, 900, SIZE / 2, SIZE, 2);
	make_request("fuse", 10500, 900, 0, SIZE, 2);
	make_call(20000, 30000, 50, 100, 0, 3)->inode = 6;
	make_call(20000, 30000, 50, 101, 0, 4)->inode = 7;
	make_request("fuse", 21000, 900, 0, SIZE, 3)->key = 78;
	make_call(40000, 50000, 50, 101, 0, 5)->inode = 8; /* the node is another file's */
	make_request("fuse", 41000, 900, 0, SIZE, 6);
	join(0);
	check_never_cross();
	assert_int_equal(graph.n, 1);
	assert_int_equal(graph.unjoined[STACK_FUSE].spans, 7);
}

/* A thread is in the call while it requests it: requests to disks name no range of the file. */
static void test_requesting(void **state)
{
	(void)state;
	make_call(0, 10000, 50, 100, 0, 1);
	make_request("block", 20, 100, 4096, SIZE, 1);
	make_request("block", 200, 100, 4096, SIZE, 2); /* the thread does something else */
	make_call(20000, 30000, 50, 100, 0, 3);		/* two at once */
	make_call(20010, 30000, 40, 100, SIZE, 4);
	make_request("block", 20020, 100, 4096, SIZE, 3);
	make_request("fuse", 20020, 100, SIZE, SIZE, 4); /* ... but this names the range */
	join(0);
	check_never_cross();
	assert_int_equal(graph.n, 2);
	assert_int_equal(graph.unjoined[STACK_BLOCK].spans, 2);
}

/* The call of the layer above returns before the end. */
static void test_above(void **state)
{
	struct span *above = make("mpi-io", 0, 1000, 1), *call;

	(void)state;
	above->tid = 100;
	call = make_call(10, 50000, 50, 100, 0, 1);
	call->parent = above->id;
	call = make_call(20, 50000, 50, 101, 0, 2); /* not of this thread */
	call->parent = above->id;
	join(0);
	check_never_cross();
	assert_int_equal(graph.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_helpers, release),
		cmocka_unit_test_teardown(test_lost, release),
		cmocka_unit_test_teardown(test_others, release),
		cmocka_unit_test_teardown(test_requesting, release),
		cmocka_unit_test_teardown(test_above, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
