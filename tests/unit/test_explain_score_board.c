#include "base/cleanup.h"
#include "explain/score.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void near(double got, double want)
{
	assert_true(isnan(want) ? isnan(got) : fabs(got - want) < 1e-9);
}

static void test_figures(void **state)
{
	struct score_counts c = {.tp = 6, .fp = 2, .fn = 1, .tn = 3};
	struct score_counts none = {0}, all = {.tp = 3, .tn = 5}, silent = {.fn = 2, .tn = 5};
	struct score_counts huge = {.tp = UINT64_C(1) << 60, .tn = UINT64_C(1) << 60};

	(void)state;
	near(score_precision(&c), 0.75);
	near(score_recall(&c), 6.0 / 7);
	near(score_mcc(&c), (6 * 3 - 2 * 1) / sqrt(8.0 * 7 * 5 * 4)); /* 0.478091443733757 */
	near(score_mcc(&c), 0.478091443733757);
	near(score_precision(&none), NAN);
	near(score_recall(&none), NAN);
	near(score_mcc(&none), NAN);
	near(score_mcc(&all), 1);
	near(score_precision(&silent), NAN);
	near(score_recall(&silent), 0);
	near(score_mcc(&silent), NAN);
	near(score_mcc(&huge), 1);
}

static void add(struct score_board *b, const char *name, bool faulty, unsigned n, unsigned itp,
	unsigned ifp, unsigned dtp, unsigned dfp)
{
	char label[32];

	snprintf(label, sizeof(label), "%s", name);
	for (unsigned i = 0; i < n; i++) {
		struct score_case c = {.label = label,
			.faulty = faulty,
			.itp = i < itp,
			.ifp = i < ifp,
			.dtp = i < dtp,
			.dfp = i < dfp};

		assert_int_equal(score_board_add(b, &c), 0);
	}
}

/* FAST'10, Table 2: 50 experiments a row; its last line must come out. */
static void test_table_of_the_paper(void **state)
{
	_cleanup_(score_board_release) struct score_board b = {0};

	(void)state;
	add(&b, "disk-hog", true, 50, 50, 0, 50, 0);
	add(&b, "disk-busy", true, 50, 45, 1, 45, 1);
	add(&b, "write-network-hog", true, 50, 46, 0, 42, 4);
	add(&b, "read-network-hog", true, 50, 50, 0, 50, 0);
	add(&b, "none", false, 50, 0, 0, 0, 0);
	add(&b, "receive-pktloss", true, 50, 21, 0, 21, 0);
	add(&b, "send-pktloss", true, 50, 20, 0, 20, 0);
	score_board_finish(&b);
	assert_int_equal(b.n, 7);
	assert_string_equal(b.rows[0].label, "none");
	assert_string_equal(b.rows[1].label, "disk-hog");
	near(score_itp(&b.rows[0]), NAN);
	near(score_dtp(&b.rows[0]), NAN);
	near(score_ifp(&b.rows[0]), 0);
	near(score_itp(&b.rows[3]), 92);
	near(score_dtp(&b.rows[3]), 84);
	near(score_dfp(&b.rows[3]), 8);
	assert_int_equal((int)lround(10 * score_itp(&b.total)), 773);
	assert_int_equal((int)lround(10 * score_ifp(&b.total)), 3);
	assert_int_equal((int)lround(10 * score_dtp(&b.total)), 760);
	assert_int_equal((int)lround(10 * score_dfp(&b.total)), 14);
}

static void test_delays(void **state)
{
	_cleanup_(score_board_release) struct score_board b = {0};
	struct score_case c = {.label = "x", .faulty = true, .delays_s = {90, 30}, .n_delays = 2};
	struct score_case d = {
		.label = "y", .faulty = true, .delays_s = {-5, 60, 120}, .n_delays = 3};

	(void)state;
	near(score_delay(&b.total, 0.5), NAN);
	assert_int_equal(score_board_add(&b, &c), 0);
	assert_int_equal(score_board_add(&b, &d), 0);
	score_board_finish(&b);
	near(score_delay(&b.rows[0], 0), 30);
	near(score_delay(&b.rows[0], 0.5), 60);
	near(score_delay(&b.rows[0], 1), 90);
	near(score_delay(&b.total, 0), -5);
	near(score_delay(&b.total, 0.25), 30);
	near(score_delay(&b.total, 0.5), 60);
	near(score_delay(&b.total, 0.75), 90);
	near(score_delay(&b.total, 1), 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_table_of_the_paper),
		cmocka_unit_test(test_delays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
