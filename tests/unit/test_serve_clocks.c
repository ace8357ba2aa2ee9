#include "serve/clocks.h"
#include "unit.h"

#include "base/time.h"
#include "engine_rig.h"

#define SECOND INT64_C(1000000)

static int64_t right_time(struct clocks *c, const char *observer, int64_t wall_s, int64_t mono_s)
{
	int64_t wall = wall_s * SECOND, mono = mono_s * SECOND, walls[1];
	struct lp_batch b = {.n_samples = 1, .wall_us = &wall, .mono_us = &mono, .carry = true};

	assert_true(clocks_track(c, observer, &b, walls) >= 0);
	return walls[0] / SECOND;
}

static void test_ahead(void **state)
{
	struct clocks c = {0};

	(void)state;
	assert_int_equal(right_time(&c, "a", 1000, 0), 1000);
	assert_int_equal(clocks_ahead_us(&c, "a"), 0);
	assert_int_equal(clocks_ahead_us(&c, "b"), 0);
	assert_int_equal(clocks_adjust(&c, "a", 150 * SECOND, true), 1);
	assert_int_equal(right_time(&c, "a", 1001, 1), 851);
	assert_int_equal(clocks_ahead_us(&c, "a"), 150 * SECOND);
	assert_int_equal(clocks_most_ahead_us(&c), 150 * SECOND);
	/* The clock is set right: there is nothing to correct. */
	assert_int_equal(right_time(&c, "a", 852, 2), 852);
	assert_int_equal(clocks_ahead_us(&c, "a"), 0);
	clocks_release(&c);
}

static void test_trust(void **state)
{
	struct clocks c = {0};

	(void)state;
	assert_int_equal(right_time(&c, "a", 1000, 0), 1000);
	assert_int_equal(right_time(&c, "a", 1601, 1), 1001);
	assert_int_equal(clocks_ahead_us(&c, "a"), 600 * SECOND);
	clocks_trust(&c, "a");
	assert_int_equal(clocks_ahead_us(&c, "a"), 0);
	assert_int_equal(right_time(&c, "a", 1602, 2), 1602);
	/* What was before is as it was, for who reads again. */
	assert_int_equal(right_time(&c, "a", 1000, 0), 1000);
	clocks_release(&c);
}

/* A clock that is wrong in another way each time is not followed for ever. */
static void test_too_often(void **state)
{
	struct clocks c = {0};
	unsigned n = 0;

	(void)state;
	while (n < 100 && clocks_adjust(&c, "a", 60 * SECOND, true) == 1)
		n++;
	assert_in_range(n, 2, 50);
	assert_int_equal(clocks_ahead_us(&c, "a"), n * 60 * SECOND);
	clocks_release(&c);
}

/* Parts of a batch: the first time, and how many rows each has. */
struct parts {
	int64_t first_us[4];
	unsigned n_rows[4], n;
};

static int part_note(void *ctx, const struct lp_batch *b)
{
	struct parts *p = ctx;
	const struct lp_batch_kind *k = &b->kinds[0];

	assert_in_range(p->n, 0, 3);
	p->first_us[p->n] = b->wall_us[0];
	for (uint32_t i = 0; i < k->n_components; i++)
		p->n_rows[p->n] += k->state[(size_t)i * b->cap_samples] == LP_PRESENT;
	p->n++;
	return 0;
}

static void test_split(void **state)
{
	static const char *const names[] = {"a", "b", "c", "b"};
	const struct lp_column column = {"await", "ms", LP_REAL, 0};
	const struct lp_schema schema = {"disk", &column, 1};
	struct lp_source source = {.catalogue = lp_catalogue_new()};
	struct lp_batch *b = lp_batch_new(4);
	struct lp_batch_kind *k;
	struct clocks c = {0};
	struct parts p = {0};
	uint32_t number, id, row;

	(void)state;
	assert_int_equal(lp_catalogue_add_schema(source.catalogue, &schema, &number, NULL), 0);
	assert_int_equal(lp_batch_kind_get(b, number, 1, NULL, &k), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(lp_catalogue_add_component(source.catalogue, number, names[i],
					 i == 3 ? "sdb" : "sda", "", &id, NULL),
			0);
		assert_int_equal(lp_batch_add_component(b, k, id, &row), 0);
	}
	for (int s = 0; s < 3; s++)
		assert_int_equal(lp_batch_add_sample(b, (1000 + s) * SECOND, 0), 0);
	k = &b->kinds[0];
	for (unsigned i = 0; i < 4; i++)
		k->state[i * b->cap_samples] = LP_PRESENT;

	assert_int_equal(clocks_split(&c, &source, b, part_note, &p), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.n_rows[0], 4);
	p = (struct parts){0};
	assert_int_equal(clocks_adjust(&c, "b", 150 * SECOND, true), 1);
	assert_int_equal(clocks_adjust(&c, "elsewhere", 20 * SECOND, true), 1);
	assert_int_equal(clocks_split(&c, &source, b, part_note, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.n_rows[0], 2);
	assert_int_equal(p.first_us[0], 850 * SECOND);
	assert_int_equal(p.n_rows[1], 2);
	assert_int_equal(p.first_us[1], 1000 * SECOND);
	clocks_release(&c);
	lp_batch_free(b);
	lp_catalogue_free(source.catalogue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_too_often),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
