#include "unit.h"

#include "trace/stack/gaps.h"
#include "trace/stack/layer.h"
#include <stdlib.h>
#include <string.h>

static void test_remark(void **state)
{
	const struct spans_totals t = {.lost = 3,
		.killed = 1,
		.open = 2,
		.called = 1u << STACK_POSIX,
		.unserved = 1u << 3 | 1u << STACK_POSIX,
		.n_ranks = 4,
		.ranks_seen = 3,
		.refused = 2,
		.confined = 1,
		.rings = 1};
	struct stack_gaps g = stack_gaps_of(&t, 1u << STACK_POSIX | 1u << 1 | 1u << 3, false),
			  back = {0};
	char text[STACK_GAPS_TEXT], *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);
	json_t *o;

	(void)state;
	assert_true(stack_gaps_any(&g));
	g.gone = 1;
	g.late = 2;
	stack_gaps_format(&g, text);
	stack_gaps_add(&back, "kind=clock-step step_us=3");
	assert_false(stack_gaps_any(&back));
	stack_gaps_add(&back, text);
	assert_int_equal(back.lost, 3);
	assert_int_equal(back.killed, 1);
	assert_int_equal(back.n_ranks, 4);
	assert_int_equal(back.ranks_seen, 3);
	assert_int_equal(back.uncalled, 1u << 1 | 1u << 3);
	assert_int_equal(back.unserved, 1u << 3);
	assert_int_equal(back.gone, 1);
	assert_int_equal(back.late, 2);
	assert_int_equal(back.refused, 2);
	stack_gaps_print(out, &back);
	fclose(out);
	assert_non_null(strstr(printed, "2 processes were not recorded: the limits"));
	assert_non_null(strstr(printed, "1 process was recorded only until it restricted its"));
	assert_non_null(strstr(printed, "1 process used io_uring"));
	assert_non_null(strstr(printed, "the layer hdf5 was never called"));
	assert_non_null(
		strstr(printed, "the layer mpi-io was not recorded: limpet was built without"));
	assert_non_null(strstr(printed, "3 calls are missing"));
	assert_non_null(strstr(printed, "1 process ended without a normal exit"));
	assert_non_null(strstr(printed, "3 of 4 ranks of the job were seen"));
	assert_non_null(strstr(printed, "1 daemon ended while watched; requests that it had"));
	assert_non_null(strstr(printed, "2 daemons started while recording, and were found"));
	o = stack_gaps_json(&back);
	assert_int_equal(json_integer_value(json_object_get(o, "open")), 2);
	assert_int_equal(json_integer_value(json_object_get(o, "unable")), 2);
	assert_int_equal(json_integer_value(json_object_get(o, "confined")), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "io_uring")), 1);
	json_decref(o);
	free(printed);
}

static void test_none(void **state)
{
	const struct spans_totals t = {.called = 1u << STACK_POSIX};
	struct stack_gaps g = stack_gaps_of(&t, 1u << STACK_POSIX, false);

	(void)state;
	assert_false(stack_gaps_any(&g));
}

static void test_one(void **state)
{
	const struct stack_gaps g = {.lost = 1, .killed = 1, .open = 1, .damaged = 1, .gone = 1};
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	(void)state;
	assert_non_null(out);
	stack_gaps_print(out, &g);
	fclose(out);
	assert_string_equal(printed,
		"1 call is missing: there was no memory for it\n"
		"1 process ended without a normal exit (killed, _exit or exec); what it did until "
		"then is recorded\n"
		"1 call never ended\n"
		"1 record is invalid and left out\n"
		"1 daemon ended while watched; requests that it had not answered never ended\n");
	free(printed);
}

/* Layers outside of the regions are not watched, so it is unknown whether they were called. */
static void test_regions(void **state)
{
	const struct spans_totals visited = {.visits = 1},
				  summed = {.sums.items[STACK_POSIX][SPAN_MARK].calls = 1},
				  never = {.processes = 1};
	struct stack_gaps g = stack_gaps_of(&never, 1u << STACK_POSIX, true), back = {0};
	char text[STACK_GAPS_TEXT];

	(void)state;
	assert_true(g.unentered && stack_gaps_any(&g));
	assert_int_equal(g.uncalled, 0);
	stack_gaps_format(&g, text);
	stack_gaps_add(&back, text);
	assert_true(back.unentered);
	g = stack_gaps_of(&visited, 1u << STACK_POSIX, true);
	assert_false(g.unentered);
	assert_int_equal(g.uncalled, 1u << STACK_POSIX);
	assert_false(stack_gaps_of(&summed, 1u << STACK_POSIX, true).unentered);
	assert_false(stack_gaps_of(&never, 1u << STACK_POSIX, false).unentered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_remark),
		cmocka_unit_test(test_none), cmocka_unit_test(test_one),
		cmocka_unit_test(test_regions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
