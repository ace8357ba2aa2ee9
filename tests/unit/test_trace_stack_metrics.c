#include "unit.h"

#include "trace/stack/stack_report.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)

static struct spans spans;
static struct graph graph;
static struct stack_metrics metrics;
static const struct drive *drive;

/* A span of a process, in ns since T0. */
static struct span a_span(
	const char *layer, uint64_t id, uint64_t parent, int64_t from, int64_t to, int32_t rank)
{
	return (struct span){.id = id,
		.parent = parent,
		.start_ns = T0 + from,
		.end_ns = T0 + to,
		.pid = 100 + rank % 1000,
		.tid = 100 + rank % 1000,
		.rank = rank,
		.op = SPAN_WRITE,
		.offset = SPAN_NO_OFFSET,
		.layer = layer,
		.function = "f",
		.object = "/x"};
}

static void add(struct span s)
{
	assert_int_equal(spans_add(&spans, "host", &s), 0);
}

static void compute(int layer)
{
	struct lp_err err = {0};

	assert_int_equal(spans_sort(&spans), 0);
	assert_int_equal(graph_open(&graph, &spans), 0);
	assert_int_equal(graph_join(&graph, &err), 0);
	assert_int_equal(stack_metrics_compute(&graph, layer, drive, &metrics, &err), 0);
}

static int release(void **state)
{
	(void)state;
	stack_metrics_release(&metrics);
	graph_release(&graph);
	spans_release(&spans);
	return 0;
}

/* A collective write that became two writes, of which one lies in the other's time: added out of
 * order, as several threads and hosts deliver them. */
static void two_layers(void)
{
	struct span s = a_span("posix", 12, 10, 30, 60, 0);

	s.result = 700;
	add(s);
	s = a_span("mpi-io", 10, 0, 0, 100, 0);
	s.flags = SPAN_COLLECTIVE;
	s.size = s.result = 1000;
	s.offset = 4096;
	s.function = "MPI_File_write_at_all";
	add(s);
	s = a_span("posix", 11, 10, 10, 40, 0);
	s.result = 300;
	add(s);
	s = a_span("posix", 13, 0, 200, 210, 0); /* the program's own */
	s.result = -ENOSPC;
	add(s);
	add(a_span("mpi-io", 10, 0, 50, 70, 1)); /* another rank may use the same numbers */
}

static unsigned layer(const char *name)
{
	return (unsigned)layer_find(name);
}

static void test_layers(void **state)
{
	const struct stack_layer_sum *mpi, *posix;

	(void)state;
	two_layers();
	compute(-1);
	mpi = &metrics.layers[layer("mpi-io")];
	posix = &metrics.layers[layer("posix")];
	assert_int_equal(mpi->calls, 2);
	assert_int_equal(mpi->inclusive_ns, 120);
	assert_int_equal(mpi->exclusive_ns, 50 + 20); /* the two writes cover 10 to 60 */
	assert_int_equal(mpi->communicating_ns, 50);
	assert_int_equal(mpi->waiting_ns, 0);
	assert_int_equal(mpi->busy_ns, 100);
	assert_int_equal(mpi->longest_ns, 100);
	assert_int_equal(posix->calls, 3);
	assert_int_equal(posix->bytes, 1000);
	assert_int_equal(posix->errors, 1);
	assert_int_equal(posix->busy_ns, 50 + 10);
	assert_true(stack_layer_throughput(posix) > 1.66e10);
	assert_true(stack_layer_throughput(posix) < 1.67e10);
	assert_int_equal(metrics.outside[layer("posix")], 1);
}

static void test_calls(void **state)
{
	const struct stack_call *call;

	(void)state;
	two_layers();
	compute(-1);
	assert_int_equal(metrics.n_calls, 2);
	assert_int_equal(metrics.n_ranks, 2);
	call = stack_metrics_call(&metrics, 0, 0);
	assert_non_null(call);
	assert_int_equal(call->parts, 2);
	assert_int_equal(call->exclusive_ns[layer("mpi-io")], 50);
	assert_int_equal(call->exclusive_ns[layer("posix")], 50); /* they overlap */
	assert_non_null(stack_metrics_call(&metrics, 1, 0));
	assert_null(stack_metrics_call(&metrics, 0, 1));
	assert_null(stack_metrics_call(&metrics, 2, 0));
}

static void test_other_layer(void **state)
{
	(void)state;
	two_layers();
	compute(layer_find("posix"));
	assert_int_equal(metrics.n_calls, 3);
	assert_int_equal(graph.n_parents[metrics.calls[0].span], 1);
}

/* A parent is one only if the child can be inside it. */
static void test_wrong_parents(void **state)
{
	struct span s;

	(void)state;
	add(a_span("mpi-io", 1, 0, 0, 100, 0));
	add(a_span("posix", 2, 1, 50, 150, 0)); /* ends later */
	s = a_span("posix", 3, 1, 10, 20, 0);
	s.tid = 7; /* another thread */
	add(s);
	add(a_span("posix", 4, 99, 10, 20, 0)); /* there is none */
	s = a_span("posix", 5, 1, 10, 20, 0);
	assert_int_equal(spans_add(&spans, "other", &s), 0); /* another host */
	add(a_span("posix", 6, 6, 10, 20, 0));		     /* itself */
	add(a_span("posix", 7, 1, 10, 20, 0));		     /* this one */
	compute(-1);
	assert_int_equal(graph.n, 1);
	assert_int_equal(graph.unjoined[layer("posix")].spans, 5);
}

static void test_regions(void **state)
{
	struct span mark = a_span("posix", 1, 0, 0, 100, SPAN_NO_RANK);

	(void)state;
	mark.op = SPAN_MARK;
	mark.function = "checkpoint";
	add(mark);
	add(a_span("posix", 2, 1, 10, 30, SPAN_NO_RANK));
	add(a_span("posix", 3, 1, 40, 80, SPAN_NO_RANK));
	add(a_span("posix", 4, 0, 200, 300, SPAN_NO_RANK));
	compute(-1);
	assert_int_equal(metrics.n_regions, 1);
	assert_string_equal(metrics.regions[0].name, "checkpoint");
	assert_int_equal(metrics.regions[0].ns, 100);
	assert_int_equal(metrics.regions[0].calls, 2);
	assert_int_equal(metrics.regions[0].calls_ns, 60);
	assert_int_equal(metrics.n_calls, 3);
	assert_int_equal(metrics.calls[2].region, SPANS_NONE);
	assert_int_equal(metrics.n_ranks, 0);
	assert_int_equal(metrics.n_processes, 1);
}

/* What files may say: sums stay numbers. */
static void test_huge(void **state)
{
	struct span s = a_span("posix", 1, 0, 0, 1, INT32_MAX);

	(void)state;
	s.start_ns = 0;
	s.end_ns = INT64_C(1) << 62;
	s.result = INT64_MAX;
	for (uint64_t i = 1; i < 6; i++) {
		s.id = i;
		add(s);
	}
	s.layer = "telepathy";
	add(s);
	compute(-1);
	assert_int_equal(metrics.layers[layer("posix")].inclusive_ns, INT64_MAX);
	assert_int_equal(metrics.layers[layer("posix")].bytes, INT64_MAX);
	assert_int_equal(metrics.n_calls, 5);
}

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	print(f);
	fclose(f);
	return text;
}

static void print_text(FILE *out)
{
	stack_text_print(out, &metrics, 1);
}

static void print_waterfall(FILE *out)
{
	stack_text_waterfall(out, &metrics, stack_metrics_call(&metrics, 0, 0));
}

static void print_csv(FILE *out)
{
	stack_csv_print(out, &metrics);
}

static void print_chrome(FILE *out)
{
	stack_chrome_print(out, &metrics);
}

static void check_printed(void (*print)(FILE *out), const char *const *words)
{
	char *text = printed(print);

	for (; *words; words++) {
		if (!strstr(text, *words))
			fail_msg("'%s' is not in: %s", *words, text);
	}
	free(text);
}

static void test_texts(void **state)
{
	static const char *const table[] = {"2 calls of mpi-io by 2 processes, in 210 ns\n",
		"mpi-io           2     1.0 kB      60 ns    100 ns      70 ns ",
		("posix            3     1.0 kB      23 ns     30 ns      70 ns          -       "
		 "16.7 GB/s"),
		"spent 50 ns (42%) outside of the I/O below them",
		"1 call of posix was made outside of calls of mpi-io\n",
		"       0:0    100 ns  MPI_File_write_at_all 1.0 kB at 4096 of /x\n",
		"mpi-io 50 ns, posix 50 ns\n", NULL};
	static const char *const waterfall[] = {
		"call 0:0 of host, process 100, at 2023-11-14T22:13:20Z\n",
		"|################################|      0 ns    100 ns  mpi-io MPI_File_write",
		"|   #########                    |     10 ns     30 ns    posix f 300 B of /x\n",
		"|         ##########             |     30 ns     30 ns    posix f 700 B of /x\n",
		NULL};
	static const char *const csv[] = {"rank,call,start_ns,",
		"0,0,1700000000000000000,100,write,4096,1000,1000,2,0,50,0,0,0,0,0,,0,0,0,50,50,0,"
		"0,"
		"0,0,0,0,host,mpi-"
		"io,"
		"MPI_File_write_at_all,/x\n",
		NULL};
	static const char *const chrome[] = {"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[",
		"{\"ph\":\"X\",\"name\":\"MPI_File_write_at_all\",\"cat\":\"mpi-io\",\"ts\":"
		"0.000,\"dur\":0.100,\"pid\":1,\"tid\":100,",
		NULL};

	(void)state;
	two_layers();
	compute(-1);
	check_printed(print_text, table);
	check_printed(print_waterfall, waterfall);
	check_printed(print_csv, csv);
	check_printed(print_chrome, chrome);
}

static void test_json(void **state)
{
	json_t *all, *call;

	(void)state;
	two_layers();
	compute(-1);
	all = stack_json_make(&metrics, SIZE_MAX);
	assert_non_null(all);
	assert_int_equal(json_array_size(json_object_get(all, "layers")), 2);
	assert_int_equal(json_array_size(json_object_get(all, "calls")), 2);
	json_decref(all);
	call = stack_json_call(&metrics, &metrics.calls[0]);
	assert_int_equal(json_array_size(json_object_get(call, "below")), 2);
	assert_int_equal(json_integer_value(json_object_get(call, "ns")), 100);
	json_decref(call);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_layers, release),
		cmocka_unit_test_teardown(test_calls, release),
		cmocka_unit_test_teardown(test_other_layer, release),
		cmocka_unit_test_teardown(test_wrong_parents, release),
		cmocka_unit_test_teardown(test_regions, release),
		cmocka_unit_test_teardown(test_huge, release),
		cmocka_unit_test_teardown(test_texts, release),
		cmocka_unit_test_teardown(test_json, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
