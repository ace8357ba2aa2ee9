#include "base/cleanup.h"
#include "printed.h"
#include "report/score_print.h"
#include <jansson.h>
#include <string.h>

static void board_make(struct score_board *b)
{
	struct score_case none = {.label = "none", .units = {.tn = 4}};
	struct score_case hog = {.label = "disk|hog",
		.faulty = true,
		.itp = true,
		.dtp = true,
		.units = {.tp = 1, .tn = 3},
		.delays_s = {90},
		.n_delays = 1};

	assert_int_equal(score_board_add(b, &hog), 0);
	assert_int_equal(score_board_add(b, &none), 0);
	score_board_finish(b);
}

static void test_markdown(void **state)
{
	_cleanup_(score_board_release) struct score_board b = {0};
	_cleanup_free_ char *text = NULL;
	struct printed p;

	(void)state;
	board_make(&b);
	assert_int_equal(score_print_markdown(printed_begin(&p), &b), 0);
	text = printed_end(&p);
	assert_string_equal(text,
		"| fault | runs | ITP | IFP | DTP | DFP | TP | FP | FN | TN | precision | recall | "
		"MCC "
		"|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
		"| none | 1 | - | 0.0% | - | 0.0% | 0 | 0 | 0 | 4 | - | - | - |\n"
		"| disk\\|hog | 1 | 100.0% | 0.0% | 100.0% | 0.0% | 1 | 0 | 0 | 3 | 1.000 | 1.000 "
		"| "
		"1.000 |\n"
		"| all | 2 | 100.0% | 0.0% | 100.0% | 0.0% | 1 | 0 | 0 | 7 | 1.000 | 1.000 | 1.000 "
		"|\n"
		"\n| time to detection | faults | least | 1/4 | median | 3/4 | most |\n"
		"|---|---:|---:|---:|---:|---:|---:|\n"
		"| disk\\|hog | 1 | 90.0 s | 90.0 s | 90.0 s | 90.0 s | 90.0 s |\n"
		"| all | 1 | 90.0 s | 90.0 s | 90.0 s | 90.0 s | 90.0 s |\n");
}

static void test_text(void **state)
{
	_cleanup_(score_board_release) struct score_board b = {0};
	_cleanup_free_ char *text = NULL;
	struct printed p;

	(void)state;
	board_make(&b);
	assert_int_equal(score_print_text(printed_begin(&p), &b, false), 0);
	text = printed_end(&p);
	assert_non_null(
		strstr(text, "\ndisk|hog     1  100.0%  0.0%  100.0%  0.0%   1   0   0   3"));
}

/* Additional counts have a separate table, if there are any. */
static void test_apart(void **state)
{
	struct score_case one = {
		.label = "x", .units = {.warned = 2, .false_warned = 1, .absent = 3}};
	_cleanup_(score_board_release) struct score_board b = {0};
	_cleanup_free_ char *text = NULL;
	struct printed p;

	(void)state;
	board_make(&b);
	assert_int_equal(score_board_add(&b, &one), 0);
	assert_int_equal(score_print_markdown(printed_begin(&p), &b), 0);
	text = printed_end(&p);
	assert_non_null(strstr(text,
		"\n| counted apart | warned | wrongly warned | absent |\n|---|---:|---:|---:|\n"
		"| x | 2 | 1 | 3 |\n| all | 2 | 1 | 3 |\n"));
}

static void test_json(void **state)
{
	_cleanup_(score_board_release) struct score_board b = {0};
	_cleanup_free_ char *text = NULL;
	json_auto_t *root = NULL;
	json_t *rows, *total;
	struct printed p;

	(void)state;
	board_make(&b);
	assert_int_equal(score_print_json(printed_begin(&p), &b, SCORE_BY_OBSERVER), 0);
	text = printed_end(&p);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "by")), "observer");
	rows = json_object_get(root, "rows");
	total = json_object_get(root, "total");
	assert_int_equal(json_array_size(rows), 2);
	assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "itp_percent")));
	assert_int_equal(json_integer_value(json_object_get(total, "tn")), 7);
	assert_true(json_real_value(json_object_get(
			    json_object_get(total, "detection_s"), "median")) == 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
