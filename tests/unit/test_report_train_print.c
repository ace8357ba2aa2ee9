#include "base/cleanup.h"
#include "printed.h"
#include "report/train_print.h"
#include <jansson.h>
#include <string.h>

static char *warnings[] = {"it is short"};

static void result_make(struct train_result *r, struct train_asymmetry *a)
{
	struct lp_params p = {
		.smooth = 15, .win_size = 60, .win_shift = 30, .k = 3, .step_us = 1000000};

	*a = (struct train_asymmetry){.metric = "await",
		.unit = "ms",
		.component = "a/disk:1",
		.group = "disk",
		.share = 0.75,
		.own = 40,
		.peers = 10,
		.start_us = 1700000000000000,
		.end_us = 1700000060000000};
	for (size_t i = 0; i < TRAIN_CURVE_COLUMNS; i++) {
		a->own_curve[i] = 40;
		a->peers_curve[i] = 10;
	}
	*r = (struct train_result){.thresholds = thresholds_new("cdf", &p),
		.asymmetries = a,
		.n_asymmetries = 1,
		.warnings = warnings,
		.n_warnings = 1,
		.n_runs = 2,
		.n_windows = 50,
		.span_us = 3600000000};
	assert_int_equal(thresholds_add(r->thresholds, "await", "a/disk:1", 8.4), 0);
	assert_int_equal(thresholds_add(r->thresholds, "await", "a/disk:2", 2), 0);
	assert_int_equal(thresholds_add(r->thresholds, "await", "a/disk:3", 3), 0);
	assert_int_equal(thresholds_add(r->thresholds, "cwnd", "*", 1.4), 0);
	assert_int_equal(thresholds_finish(r->thresholds), 0);
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
}

static void test_text(void **state)
{
	struct train_print_options opt = {.file = "t.thr"};
	_cleanup_free_ char *text = NULL;
	struct train_asymmetry a;
	struct train_result r;
	struct printed p;

	(void)state;
	result_make(&r, &a);
	assert_int_equal(train_print_text(printed_begin(&p), &r, &opt), 0);
	text = printed_end(&p);
	has(text,
		"metric  thresholds  smallest  median  largest\n"
		"await            3         2       3     8.40\n"
		"cwnd             1      1.40    1.40     1.40\n");
	has(text, "warning: lasting asymmetry: one component was out of step");
	has(text,
		"await of a/disk:1 (group disk): median 40 ms, its peers' 10 ms; anomalous in "
		"75% of its windows\n    it     @@@@");
	has(text, "@ 0 .. 40 ms\n    peers  ----");
	has(text, "-\n           2023-11-14T22:13:20Z .. 2023-11-14T22:14:20Z\n");
	has(text, "\nwarning: it is short\n");
	has(text, "4 thresholds from 2 runs (1h00m, 50 windows), method cdf, are in t.thr\n");
	thresholds_free(r.thresholds);
}

static void test_json(void **state)
{
	struct train_print_options opt = {.file = "t.thr"};
	_cleanup_free_ char *text = NULL;
	struct train_asymmetry a;
	struct train_result r;
	json_auto_t *root = NULL;
	struct printed p;
	double median, peers;
	const char *warning;

	(void)state;
	result_make(&r, &a);
	assert_int_equal(train_print_json(printed_begin(&p), &r, &opt), 0);
	text = printed_end(&p);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_unpack(root, "{s:[{s:F},{}],s:[{s:F}],s:[s]}", "metrics", "median",
				 &median, "asymmetries", "peers", &peers, "warnings", &warning),
		0);
	assert_true(median == 3 && peers == 10);
	assert_string_equal(warning, "it is short");
	thresholds_free(r.thresholds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text), cmocka_unit_test(test_json)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
