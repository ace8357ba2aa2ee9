#include <limpet/metric.h>

#include "unit.h"
#include <math.h>
#include <string.h>

static void test_every_row_is_complete(void **state)
{
	static const char *const resources[] = {"storage", "network", "host"};
	size_t n = 0;

	(void)state;
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++, n++) {
		bool known = false;

		assert_true((*m)->name && (*m)->name[0]);
		assert_true((*m)->unit && (*m)->unit[0]);
		assert_true((*m)->help && (*m)->help[0]);
		assert_true((*m)->kind && (*m)->kind[0]);
		assert_non_null((*m)->eval);
		assert_non_null((*m)->inputs[0]);
		assert_null((*m)->inputs[LP_METRIC_INPUTS_MAX]);
		/* Names are words of CSV, of globs and of lists with commas. */
		assert_null(strpbrk((*m)->name, ", \t\"/:"));
		for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
			known |= !strcmp(resources[i], (*m)->resource);
		assert_true(known);
	}
	assert_true(n > 40);
}

static void test_names_are_unique_in_a_kind(void **state)
{
	(void)state;
	for (const struct lp_metric *const *a = lp_metric_all(); *a; a++) {
		assert_ptr_equal(lp_metric_find((*a)->kind, (*a)->name), *a);
		for (const struct lp_metric *const *b = a + 1; *b; b++)
			assert_false(
				!strcmp((*a)->kind, (*b)->kind) && !strcmp((*a)->name, (*b)->name));
	}
	assert_null(lp_metric_find("disk", "cwnd"));
	assert_null(lp_metric_find("nosuch", "await"));
	assert_null(lp_metric_find("disk", ""));
}

/* The metrics of the thesis' Table 3.1 and those that the design adds. */
static void test_promised_metrics_are_there(void **state)
{
	static const char *const promised[][2] = {{"disk", "tps"}, {"disk", "rd_sec"},
		{"disk", "wr_sec"}, {"disk", "avgrq-sz"}, {"disk", "avgqu-sz"}, {"disk", "await"},
		{"disk", "svctm"}, {"disk", "%util"}, {"disk", "r_await"}, {"disk", "w_await"},
		{"net", "rxpck"}, {"net", "txpck"}, {"net", "rxbyt"}, {"net", "txbyt"},
		{"tcp", "cwnd"}};

	(void)state;
	for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		assert_non_null(lp_metric_find(promised[i][0], promised[i][1]));
}

/* Nothing done in a second: rates and waits are 0, never a division by zero. */
static void test_idle_is_zero(void **state)
{
	double in[LP_METRIC_INPUTS_MAX] = {0};

	(void)state;
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		double value = (*m)->eval(in, 1);

		bool mean = (*m)->inputs[1] &&
			(!strcmp((*m)->kind, "tcp") || (*m)->role == LP_ROLE_SERVICE ||
				!strcmp((*m)->kind, "call") || !strcmp((*m)->kind, "layer"));

		if (mean)
			assert_true(isnan(value)); /* over no connections, no calls */
		else
			assert_true(value == 0);
	}
}

struct growth_case {
	int64_t before, now;
	unsigned bits;
	bool known;
	int64_t growth;
};

static void test_counter_growth(void **state)
{
	static const struct growth_case cases[] = {
		{0, 0, 64, true, 0},
		{5, 12, 64, true, 7},
		{12, 5, 64, false, 0}, /* reset */
		{12, 5, 32, false, 0}, /* a small fall of 32 bits is a reset too */
		{4294967295, 0, 32, true, 1},
		{4294967195, 199, 32, true, 300},
		{4294967295, 0, 64, false, 0},
		{INT64_C(1) << 31, 0, 32, false, 0}, /* fell by half, not by more */
		{(INT64_C(1) << 31) + 1, 0, 32, true, (INT64_C(1) << 31) - 1},
		{LP_MISSING, 7, 64, false, 0},
		{7, LP_MISSING, 64, false, 0},
		{LP_MISSING, LP_MISSING, 32, false, 0},
		{0, INT64_MAX, 64, true, INT64_MAX},
		{-1, INT64_MAX, 64, false, 0}, /* would overflow */
		{INT64_MAX, INT64_MIN + 1, 64, false, 0},
		{INT64_MAX, INT64_MIN + 1, 32, false, 0},
		{INT64_MAX, 0, 32, false, 0}, /* no 32-bit counter ever was there */
		{-5, 3, 64, true, 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct growth_case *c = &cases[i];
		int64_t growth = -77;

		assert_int_equal(lp_counter_growth(c->before, c->now, c->bits, &growth), c->known);
		assert_int_equal(growth, c->known ? c->growth : -77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_complete),
		cmocka_unit_test(test_names_are_unique_in_a_kind),
		cmocka_unit_test(test_promised_metrics_are_there),
		cmocka_unit_test(test_idle_is_zero),
		cmocka_unit_test(test_counter_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
