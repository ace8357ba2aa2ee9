/* What calls cost servers and disks: src/trace/stack/stack_calls.c, stack_collective.c,
 * stack_sums.c, on graphs that are made by hand. */
#include "unit.h"

#include "base/cleanup.h"
#include "trace/stack/stack_report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)
#define MS INT64_C(1000000)

static struct spans spans;
static struct graph graph;
static struct stack_metrics metrics;
static const struct drive drive = {.name = (char *)"d",
	.active_w = 10,
	.idle_w = 4,
	.seek_w = 14,
	.seek_ms = 2,
	.spin_w = 20,
	.spin_s = 5};

/* A span of a thread of its own, in ms since T0. Its id is looked up by test_edge(). */
static void add(const char *observer, const char *layer, uint64_t id, int64_t from, int64_t to,
	int64_t bytes, int64_t offset)
{
	struct span s = {.id = id,
		.start_ns = T0 + from * MS,
		.end_ns = T0 + to * MS,
		.pid = (int32_t)id,
		.tid = (int32_t)id,
		.rank = SPAN_NO_RANK,
		.op = SPAN_WRITE,
		.offset = offset,
		.size = bytes,
		.result = bytes,
		.layer = layer,
		.function = layer,
		.object = "vdb"};

	if (!strcmp(layer, "mpi-io")) {
		s.rank = (int32_t)(id / 100);
		s.flags = SPAN_COLLECTIVE;
		s.function = "MPI_File_write_at_all";
		s.object = "/x";
	}
	assert_int_equal(spans_add(&spans, observer, &s), 0);
}

static uint32_t place(uint64_t id)
{
	for (uint32_t i = 0; i < spans.n; i++) {
		if (spans.items[i].id == id)
			return i;
	}
	fail();
	return 0;
}

static void edge_bytes(uint64_t parent, uint64_t child, int64_t bytes)
{
	assert_int_equal(graph_add(&graph, place(parent), place(child), bytes), 0);
}

static void edge(uint64_t parent, uint64_t child)
{
	edge_bytes(parent, child, 0);
}

static void begin_joining(void)
{
	assert_int_equal(spans_sort(&spans), 0);
	assert_int_equal(graph_open(&graph, &spans), 0);
}

static void compute(const struct drive *d)
{
	struct lp_err err = {0};

	assert_int_equal(graph_close(&graph), 0);
	assert_int_equal(stack_metrics_compute(&graph, -1, d, &metrics, &err), 0);
}

static int release(void **state)
{
	(void)state;
	stack_metrics_release(&metrics);
	graph_release(&graph);
	spans_release(&spans);
	return 0;
}

/* Two ranks write together: rank 1 begins 20 ms late, its write goes to s2, whose disk is slow. The
 * one of rank 0 is done by s1 in two parallel requests. */
static void two_ranks(void)
{
	add("c1", "mpi-io", 1, 0, 100, 1000, 0);
	add("c2", "mpi-io", 101, 20, 100, 1000, 1000);
	add("s1", "server", 11, 10, 30, 600, 0);
	add("s1", "server", 12, 20, 40, 400, 600);
	add("s1", "block", 13, 15, 25, 600, 0);
	add("s1", "block", 14, 25, 35, 400, 600); /* goes on where the other one ended */
	add("s2", "server", 21, 30, 90, 1000, 0);
	add("s2", "block", 22, 35, 85, 1000, 4096);
	add("s2", "block", 23, 95, 120, 500, 0); /* written behind the call */
	begin_joining();
	edge(1, 11);
	edge(1, 12);
	edge(11, 13);
	edge(12, 14);
	edge(101, 21);
	edge(21, 22);
	edge(21, 23);
}

static void test_shares(void **state)
{
	const struct stack_call *call;
	const struct stack_share *share;

	(void)state;
	two_ranks();
	compute(NULL);
	assert_int_equal(metrics.n_servers, 2);
	assert_string_equal(stack_server_name(&metrics, 0), "s1");
	call = stack_metrics_call(&metrics, 0, 0);
	assert_int_equal(call->n_shares, 1);
	share = &metrics.shares[call->shares];
	assert_int_equal(share->ns, 30 * MS); /* the two overlap */
	assert_int_equal(share->disk_ns, 20 * MS);
	assert_int_equal(share->behind_ns, 0);
	assert_int_equal(share->requests, 2);
	assert_int_equal(share->disk_accesses, 2);
	assert_int_equal(share->n_disks, 1);
	assert_int_equal(share->bytes, 1000);
	assert_int_equal(call->disk_accesses, 2);
	assert_int_equal(stack_call_server_ns(&metrics, call), 30 * MS);
	assert_true(fabs(stack_call_disk_rate(&metrics, call) - 1000 / 0.02) < 1);

	call = stack_metrics_call(&metrics, 1, 0);
	share = &metrics.shares[call->shares];
	assert_string_equal(stack_server_name(&metrics, share->server), "s2");
	assert_int_equal(share->ns, 65 * MS); /* 30 to 90, and the 5 ms before the call returned */
	assert_int_equal(share->behind_ns, 20 * MS);
	assert_int_equal(share->disk_accesses, 2);
	assert_int_equal(call->disk_bytes, 1500);
	assert_int_equal(metrics.servers[1].longest_ns, 65 * MS);
	assert_int_equal(metrics.calls[metrics.servers[1].slowest].rank, 1);
}

/* At each instant the deepest layer counts, and the parts add up. */
static void test_split(void **state)
{
	const struct stack_call *call;
	int64_t sum = 0;

	(void)state;
	two_ranks();
	compute(NULL);
	call = stack_metrics_call(&metrics, 0, 0);
	for (unsigned i = 0; i < STACK_LAYERS_MAX; i++)
		sum += call->exclusive_ns[i];
	assert_int_equal(sum, 100 * MS);
	assert_int_equal(call->exclusive_ns[layer_find("block")], 20 * MS);
	assert_int_equal(call->exclusive_ns[layer_find("server")], 10 * MS);
	assert_int_equal(call->exclusive_ns[layer_find("mpi-io")], 70 * MS);
	assert_int_equal(call->waiting_ns, 80 * MS); /* mpi-io and the server hand on */
	assert_int_equal(call->parts, 4);
	assert_int_equal(metrics.layers[layer_find("mpi-io")].waiting_ns, (70 + 20) * MS);
	assert_int_equal(metrics.layers[layer_find("block")].waiting_ns, 0);
}

static void test_collective(void **state)
{
	const struct stack_call *call;

	(void)state;
	two_ranks();
	compute(NULL);
	assert_int_equal(metrics.n_collectives, 1);
	assert_int_equal(metrics.collectives[0].n_calls, 2);
	assert_int_equal(metrics.collectives[0].n_servers, 2);
	call = stack_metrics_call(&metrics, 0, 0);
	assert_int_equal(call->collective, 0);
	assert_int_equal(call->late_ns, 20 * MS);
	assert_int_equal(call->communicating_ns, 70 * MS);
	assert_int_equal(stack_metrics_call(&metrics, 1, 0)->late_ns, 0);
	assert_int_equal(metrics.n_clients, 2);
	assert_int_equal(metrics.clients[1].rank, 1);
	assert_int_equal(metrics.clients[1].ns, 80 * MS);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 + 1e-6 * fabs(b);
}

static void test_energy(void **state)
{
	const struct stack_call *call;

	(void)state;
	two_ranks();
	compute(&drive);
	call = stack_metrics_call(&metrics, 0, 0);
	/* 2 ms of seeking at 10 W above idle, 18 ms of work at 6 W */
	assert_true(near(call->joules, 0.002 * 10 + 0.018 * 6));
	assert_true(near(stack_call_energy(&metrics, call), call->joules + 4 * 0.1));
	assert_true(near(stack_call_power(&metrics, call), 4 + call->joules / 0.1));
	call = stack_metrics_call(&metrics, 1, 0);
	assert_true(near(call->joules, 2 * 0.002 * 10 + 0.071 * 6));
	assert_true(near(metrics.servers[1].joules, call->joules));
}

/* An access that serves two calls is counted for both, and its energy is shared. */
static void test_many_to_one(void **state)
{
	const struct stack_call *a, *b;

	(void)state;
	add("c1", "mpi-io", 1, 0, 50, 10, 0);
	add("c2", "mpi-io", 101, 0, 60, 10, 10);
	add("s1", "block", 11, 10, 40, 20, 0);
	begin_joining();
	edge_bytes(1, 11, 14);
	edge_bytes(101, 11, 6);
	compute(&drive);
	a = stack_metrics_call(&metrics, 0, 0);
	b = stack_metrics_call(&metrics, 1, 0);
	assert_int_equal(a->disk_accesses, 1);
	assert_int_equal(b->disk_accesses, 1);
	assert_int_equal(a->disk_bytes, 14);
	assert_int_equal(b->disk_bytes, 6);
	assert_int_equal(metrics.servers[0].disk_bytes, 20);
	assert_true(near(a->joules, b->joules));
	assert_true(near(a->joules + b->joules, 0.002 * 10 + 0.028 * 6));
	assert_int_equal(metrics.collectives[0].n_servers, 1);
}

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	print(out);
	fclose(out);
	return text;
}

static void print_text(FILE *out)
{
	stack_text_print(out, &metrics, 5);
	stack_text_waterfall(out, &metrics, stack_metrics_call(&metrics, 1, 0));
}

static void print_html(FILE *out)
{
	assert_int_equal(stack_html_print(out, &metrics), 0);
}

static void print_chrome(FILE *out)
{
	assert_int_equal(stack_chrome_print(out, &metrics), 0);
}

static void test_print(void **state)
{
	_cleanup_free_ char *text = NULL, *chrome = NULL, *html = NULL;
	struct strbuf sb = {0};
	json_t *o;

	(void)state;
	two_ranks();
	compute(&drive);
	spans.clocks = calloc(spans.n_observers, sizeof(*spans.clocks));
	assert_non_null(spans.clocks);
	spans.clocks[0] = (struct spans_clock){
		.offset_ns = 2500000000, .error_ns = 40000, .messages = 7, .known = true};
	text = printed(print_text);
	assert_non_null(strstr(text, "1 server, s2 with 65.0 ms, its disk 55.0 ms"));
	assert_non_null(strstr(text, "1 collective operations, of 2.0 ranks on average on 2.0"));
	assert_non_null(strstr(text, "s2 block block 1.0 kB at 4096 of vdb"));
	assert_non_null(strstr(
		text, "the slowest call: call 0 of rank 0 spent 70.0 of 100.0 ms in mpi-io"));
	stack_add_wait(&sb, &metrics, stack_metrics_call(&metrics, 1, 0));
	assert_string_equal(sb.text, "call 0 of rank 1 waited 55.0 of 80.0 ms for s2's disk");
	strbuf_release(&sb);
	html = printed(print_html);
	assert_non_null(strstr(html, "\"texts\":[\"MPI_File_write_at_all\",\"/x\","));
	assert_non_null(
		strstr(html, " was 2.500000 s ahead; its times are right to within 0.000040"));
	assert_non_null(strstr(html, "\"error_ns\":40000"));
	assert_null(strstr(html, "<img"));
	chrome = printed(print_chrome);
	o = json_loads(chrome, 0, NULL);
	assert_non_null(o);
	/* 9 spans, the names of 9 processes, two ends of 7 arrows */
	assert_int_equal(json_array_size(json_object_get(o, "traceEvents")), 9 + 9 + 14);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(o, "otherData"), "clocks")), 1);
	json_decref(o);
	o = stack_json_make(&metrics, SIZE_MAX);
	assert_int_equal(json_array_size(json_object_get(o, "servers")), 2);
	assert_int_equal(json_array_size(json_object_get(o, "collectives")), 1);
	json_decref(o);
}

/* One rank reads from two servers. s1 is at work for 30 of 35 ms; s2 for 10 of 90, the rest of
 * which its answer is on the way. */
static void test_network(void **state)
{
	const struct stack_call *call;
	struct strbuf sb = {0};
	json_t *o, *servers;

	(void)state;
	add("c1", "mpi-io", 1, 0, 100, 1000, 0);
	add("c1", "network", 2, 5, 40, 500, 0);
	add("c1", "network", 3, 5, 95, 500, 500);
	add("c1", "network", 4, 50, 60, 0, 0); /* no server was seen to have it */
	add("s1", "server", 11, 7, 37, 500, 0);
	add("s2", "server", 12, 10, 20, 500, 0);
	begin_joining();
	edge(1, 2);
	edge(1, 3);
	edge(1, 4);
	edge(2, 11);
	edge(3, 12);
	compute(NULL);
	call = stack_metrics_call(&metrics, 0, 0);
	assert_int_equal(call->n_shares, 2);
	assert_int_equal(metrics.shares[call->shares].ns, 30 * MS);
	assert_int_equal(metrics.shares[call->shares].network_ns, 5 * MS);
	assert_int_equal(metrics.shares[call->shares + 1].ns, 10 * MS);
	assert_int_equal(metrics.shares[call->shares + 1].network_ns, 80 * MS);
	stack_add_wait(&sb, &metrics, call);
	assert_string_equal(
		sb.text, "call 0 of rank 0 waited 80.0 of 100.0 ms for the network to s2");
	strbuf_reset(&sb);
	stack_add_wait_for(&sb, &metrics, &metrics.shares[call->shares], false);
	assert_string_equal(sb.text, "call 0 of rank 0 waited 30.0 of 100.0 ms for s1");
	strbuf_release(&sb);
	o = stack_json_make(&metrics, SIZE_MAX);
	servers = json_object_get(json_array_get(json_object_get(o, "calls"), 0), "servers");
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(servers, 1), "network_ns")),
		80 * MS);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_shares, release),
		cmocka_unit_test_teardown(test_network, release),
		cmocka_unit_test_teardown(test_split, release),
		cmocka_unit_test_teardown(test_collective, release),
		cmocka_unit_test_teardown(test_energy, release),
		cmocka_unit_test_teardown(test_many_to_one, release),
		cmocka_unit_test_teardown(test_print, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
