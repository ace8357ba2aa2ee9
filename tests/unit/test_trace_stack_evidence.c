#include "unit.h"

#include "trace/stack/stack_evidence.h"
#include <limpet/identity.h>
#include <stdlib.h>
#include <string.h>

#define T0 INT64_C(1700000000000000000)
#define MS INT64_C(1000000)

static struct spans spans;
static struct graph graph;
static struct stack_metrics metrics;

static void add(const char *observer, const char *layer, uint64_t id, int64_t from, int64_t to)
{
	const struct span s = {.id = id,
		.start_ns = T0 + from * MS,
		.end_ns = T0 + to * MS,
		.pid = (int32_t)id,
		.tid = (int32_t)id,
		.rank = strcmp(layer, "mpi-io") ? SPAN_NO_RANK : 2,
		.op = SPAN_WRITE,
		.offset = SPAN_NO_OFFSET,
		.layer = layer,
		.function = "f",
		.object = ""};

	assert_int_equal(spans_add(&spans, observer, &s), 0);
}

/* Two calls of rank 2 that wait for the disk of s3, the second for longer, but later. */
static void two_calls(void)
{
	struct lp_err err = {0};

	add("c1", "mpi-io", 1, 0, 1000);
	add("s3", "block", 2, 100, 900);
	add("c1", "mpi-io", 3, 5000, 17000);
	add("s3", "block", 4, 5500, 16700);
	assert_int_equal(spans_sort(&spans), 0);
	assert_int_equal(graph_open(&graph, &spans), 0);
	assert_int_equal(graph_add(&graph, 0, 1, 0), 0);
	assert_int_equal(graph_add(&graph, 2, 3, 0), 0);
	assert_int_equal(graph_close(&graph), 0);
	assert_int_equal(stack_metrics_compute(&graph, -1, NULL, &metrics, &err), 0);
}

/* One call that waits for the answers of s3, which are on the way for most of the time, and one for
 * which s3 works longer. */
static void late_answers(void)
{
	struct lp_err err = {0};

	add("c1", "mpi-io", 1, 0, 12000);
	add("c1", "network", 2, 100, 11900);
	add("s3", "server", 3, 200, 800);
	add("c1", "mpi-io", 4, 13000, 15000);
	add("c1", "network", 5, 13100, 14900);
	add("s3", "server", 6, 13200, 14700);
	assert_int_equal(spans_sort(&spans), 0);
	assert_int_equal(graph_open(&graph, &spans), 0);
	assert_int_equal(graph_add(&graph, 0, 1, 0), 0);
	assert_int_equal(graph_add(&graph, 1, 2, 0), 0);
	assert_int_equal(graph_add(&graph, 3, 4, 0), 0);
	assert_int_equal(graph_add(&graph, 4, 5, 0), 0);
	assert_int_equal(graph_close(&graph), 0);
	assert_int_equal(stack_metrics_compute(&graph, -1, NULL, &metrics, &err), 0);
}

static int release(void **state)
{
	(void)state;
	stack_metrics_release(&metrics);
	graph_release(&graph);
	spans_release(&spans);
	return 0;
}

static void evidence_free(struct lp_suspect *s)
{
	for (uint32_t i = 0; i < s->n_evidence; i++)
		free(s->evidence[i]);
	free(s->evidence);
}

static void notes_free(struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_notes; i++) {
		free(v->notes[i]);
		free(v->hints[i]);
	}
	free(v->notes);
	free(v->hints);
}

static void test_suspects(void **state)
{
	struct lp_identity *components[] = {lp_identity_new("s3", "layer", "block", NULL),
		lp_identity_new("s1", "disk", "vdb", NULL)};
	struct lp_suspect suspects[] = {
		{.component = 0, .first_us = T0 / 1000 + 4000000, .last_us = INT64_MAX},
		{.component = 0, .first_us = T0 / 1000, .last_us = T0 / 1000 + 2000000},
		{.component = 1}};
	struct lp_verdict v = {
		.components = components, .n_components = 2, .suspects = suspects, .n_suspects = 3};

	(void)state;
	two_calls();
	assert_true(stack_evidence_applies(&v));
	assert_int_equal(stack_evidence_add(&v, &metrics), 0);
	assert_int_equal(suspects[0].n_evidence, 1);
	assert_string_equal(
		suspects[0].evidence[0], "call 1 of rank 2 waited 11.2 of 12.0 s for s3's disk");
	assert_string_equal(
		suspects[1].evidence[0], "call 0 of rank 2 waited 0.8 of 1.0 s for s3's disk");
	assert_int_equal(suspects[2].n_evidence, 0);
	assert_int_equal(v.n_notes, 1);
	assert_string_equal(v.notes[0],
		"the slowest call: call 1 of rank 2 waited 11.2 of 12.0 s for s3's disk");
	assert_string_equal(v.hints[0], "limpet stack show");
	for (int i = 0; i < 3; i++)
		evidence_free(&suspects[i]);
	notes_free(&v);
	lp_identity_unref(components[0]);
	lp_identity_unref(components[1]);
}

/* What clients see of s3 accuses it: the call says of what. */
static void test_network(void **state)
{
	struct lp_identity *component = lp_identity_new("s3", "peer", "clients", NULL);
	struct lp_identity *layer = lp_identity_new("s3", "layer", "server", NULL);
	struct lp_identity *components[] = {component, layer};
	struct lp_suspect suspects[] = {
		{.component = 0, .last_us = INT64_MAX, .cause = "slow-network"},
		{.component = 1, .last_us = INT64_MAX, .cause = "disk-busy"},
		{.component = 0,
			.first_us = T0 / 1000 + 13000000,
			.last_us = INT64_MAX,
			.cause = "packet-loss"}};
	struct lp_verdict v = {
		.components = components, .n_components = 2, .suspects = suspects, .n_suspects = 3};

	(void)state;
	late_answers();
	assert_int_equal(stack_evidence_add(&v, &metrics), 0);
	assert_int_equal(suspects[0].n_evidence, 1);
	assert_string_equal(suspects[0].evidence[0],
		"call 0 of rank 2 waited 11.2 of 12.0 s for the network to s3");
	assert_string_equal(suspects[1].evidence[0], "call 1 of rank 2 waited 1.5 of 2.0 s for s3");
	assert_string_equal(suspects[2].evidence[0],
		"call 1 of rank 2 waited 0.3 of 2.0 s for the network to s3");
	for (int i = 0; i < 3; i++)
		evidence_free(&suspects[i]);
	notes_free(&v);
	lp_identity_unref(component);
	lp_identity_unref(layer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_suspects, release),
		cmocka_unit_test_teardown(test_network, release)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
