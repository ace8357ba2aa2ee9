#include "detect/compare/kept_votes.h"

#include "model/identity.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

#define MEMBERS 3

static struct lp_identity *ids[MEMBERS + 1];

static int ids_make(void **state)
{
	static const char *const names[] = {"sda", "sdb", "sdc", "sdd"};

	(void)state;
	for (size_t i = 0; i <= MEMBERS; i++) {
		ids[i] = lp_identity_new("oss1", "disk", names[i], "");
		if (!ids[i])
			return -1;
	}
	return 0;
}

static int ids_free(void **state)
{
	(void)state;
	for (size_t i = 0; i <= MEMBERS; i++)
		lp_identity_unref(ids[i]);
	return 0;
}

static struct kept_votes_of windows(int64_t first, uint32_t n)
{
	return (struct kept_votes_of){.group = "disks",
		.metric = "await",
		.members = (const struct lp_identity *const *)ids,
		.n_members = MEMBERS,
		.first = first,
		.n_windows = n};
}

/* The vote of a member in a window of that number. */
static double vote(uint32_t member, int64_t window)
{
	return (double)(1000 * member) + (double)window;
}

static void keep(struct kept_votes *k, const struct kept_votes_of *of)
{
	double *votes = calloc((size_t)of->n_members * of->n_windows, sizeof(*votes));

	assert_non_null(votes);
	for (uint32_t m = 0; m < of->n_members; m++) {
		for (uint32_t w = 0; w < of->n_windows; w++)
			votes[m * of->n_windows + w] = vote(m, of->first + w);
	}
	assert_int_equal(kept_votes_put(k, of, votes), 0);
}

/* The windows 1 .. known - 1 have their votes, and with `head` window 0. */
static void expect(
	const struct kept_votes *k, const struct kept_votes_of *of, uint32_t known, bool head)
{
	double votes[MEMBERS * 16] = {0};
	bool got_head;

	assert_int_equal(kept_votes_get(k, of, votes, &got_head), known);
	assert_int_equal(got_head, head);
	for (uint32_t m = 0; m < of->n_members; m++) {
		for (uint32_t w = head ? 0 : 1; w < known; w++)
			assert_true(votes[m * of->n_windows + w] == vote(m, of->first + w));
	}
}

static void test_grows_and_moves(void **state)
{
	struct kept_votes k = {0};
	struct kept_votes_of of = windows(10, 5);

	(void)state;
	expect(&k, &of, 0, false);
	keep(&k, &of);
	of = windows(10, 8);
	expect(&k, &of, 5, true);
	of = windows(12, 8); /* 12, 13 and 14 are known, but 12 is the first now */
	expect(&k, &of, 3, false);
	of = windows(14, 8); /* only 14 is */
	expect(&k, &of, 0, false);
	of = windows(9, 8);
	expect(&k, &of, 0, false);
	of = windows(10, 3);
	expect(&k, &of, 3, true);
	kept_votes_release(&k);
}

static void test_other_members(void **state)
{
	struct kept_votes k = {0};
	struct kept_votes_of of = windows(10, 5), other = windows(10, 8);

	(void)state;
	keep(&k, &of);
	other.members = (const struct lp_identity *const *)ids + 1;
	expect(&k, &other, 0, false);
	other = windows(10, 8);
	other.n_members = 2;
	expect(&k, &other, 0, false);
	other = windows(10, 8);
	other.metric = "rd_sec";
	expect(&k, &other, 0, false);
	kept_votes_release(&k);
}

/* What an epoch did not use is gone after it. */
static void test_turn(void **state)
{
	struct kept_votes k = {0};
	struct kept_votes_of of = windows(10, 5), other = windows(10, 5);

	(void)state;
	other.group = "ssds";
	keep(&k, &of);
	keep(&k, &other);
	assert_int_equal(kept_votes_turn(&k), 0);
	expect(&k, &other, 5, true);
	keep(&k, &of);
	assert_int_equal(kept_votes_turn(&k), 0);
	expect(&k, &of, 5, true);
	expect(&k, &other, 0, false);
	assert_int_equal(k.n, 1);
	kept_votes_release(&k);
}

/* Beyond 64 MiB no more votes are kept, and the existing ones stay. */
static void test_bounded(void **state)
{
	struct kept_votes k = {0};
	struct kept_votes_of of = windows(0, 1 << 20), small = windows(0, 5), large;
	size_t bytes;

	(void)state;
	keep(&k, &small);
	large = of;
	large.group = "ssds";
	keep(&k, &large);
	bytes = k.bytes;
	large.group = "tapes";
	large.n_windows = 3 << 20;
	keep(&k, &large);
	assert_true(k.bytes == bytes);
	assert_true(bytes <= 64U << 20);
	expect(&k, &small, 5, true);
	kept_votes_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_moves),
		cmocka_unit_test(test_other_members),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, ids_make, ids_free);
}
