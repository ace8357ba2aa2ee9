#include "unit.h"

#include "trace/stack/job_sums.h"
#include "trace/stack/layer.h"
#include <stdlib.h>
#include <string.h>

static void test_remarks(void **state)
{
	const struct spans_sum one = {.calls = 3,
		.errors = 1,
		.bytes = 4096,
		.ns = 9000000,
		.own_ns = 4000000,
		.together_ns = 4000000,
		.longest_ns = 5000000};
	struct job_sums sums = {.n_ranks = 4}, back = {0};
	char text[JOB_SUM_TEXT], *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);
	const struct spans_sum *got;
	json_t *o;

	(void)state;
	job_sums_add(&sums, STACK_POSIX, SPAN_WRITE, &one);
	job_sums_add(&sums, STACK_POSIX, SPAN_WRITE, &one);
	job_sums_add(&sums, 99, SPAN_WRITE, &one);
	job_sum_format(&sums, STACK_POSIX, SPAN_WRITE, text);
	job_sums_take(&back, "kind=stack-gaps lost=3 calls=9");
	job_sums_take(&back, "kind=stack-sum layer=nowhere operation=write calls=9");
	assert_false(back.any);
	job_sums_take(&back, text);
	got = &back.items[STACK_POSIX][SPAN_WRITE];
	assert_true(back.any);
	assert_int_equal(back.n_ranks, 4);
	assert_int_equal(got->calls, 6);
	assert_int_equal(got->errors, 2);
	assert_int_equal(got->bytes, 8192);
	assert_int_equal(got->own_ns, 8000000);
	assert_int_equal(got->longest_ns, 5000000); /* not added */
	job_sums_print(out, &back);
	fclose(out);
	assert_non_null(strstr(printed, "sums of a job of 4 ranks"));
	assert_non_null(strstr(printed, "posix     write             6"));
	o = job_sums_json(&back);
	assert_int_equal(json_array_size(json_object_get(o, "sums")), 1);
	json_decref(o);
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_remarks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
