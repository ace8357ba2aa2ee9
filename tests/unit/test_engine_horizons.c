#include "unit.h"

#include "engine/horizons.h"
#include <string.h>

#define SECOND INT64_C(1000000)

static const struct horizon *find(const char *name)
{
	const struct horizon *h = horizons;

	while (h->name && strcmp(h->name, name) != 0)
		h++;
	assert_non_null(h->name);
	return h;
}

/* Windows are half covered by the next, averages are a quarter of them, and no window is too small
 * to have a distribution. */
static void test_params(void **state)
{
	(void)state;
	for (const struct horizon *h = horizons; h->name; h++) {
		for (int64_t interval = SECOND / 10; interval < 4000 * SECOND; interval *= 3) {
			struct lp_params p = horizon_params(h, interval);

			assert_true(p.win_size >= HORIZON_SAMPLES_LEAST);
			assert_int_equal(p.win_shift, p.win_size / 2);
			assert_int_equal(p.smooth, p.win_size / 4);
			assert_true(p.step_us >= interval);
			assert_true(horizon_n_windows(h, &p) >= HORIZON_EPOCH);
		}
	}
	assert_int_equal(horizon_params(find("fast"), SECOND).win_size, 30);
	assert_int_equal(horizon_params(find("fast"), 5 * SECOND).win_size, 12);
	assert_int_equal(horizon_params(find("slow"), SECOND).win_size, 60);
	assert_int_equal(horizon_params(find("slow"), SECOND).step_us, 15 * SECOND);
	assert_int_equal(horizon_params(find("slow"), 60 * SECOND).step_us, 60 * SECOND);
}

/* The last always applies; a finer one where its steps are shorter. */
static void test_applies(void **state)
{
	(void)state;
	assert_true(horizon_applies(find("fast"), SECOND));
	assert_true(horizon_applies(find("fast"), 14 * SECOND));
	assert_false(horizon_applies(find("fast"), 15 * SECOND));
	assert_false(horizon_applies(find("fast"), 600 * SECOND));
	assert_true(horizon_applies(find("slow"), SECOND));
	assert_true(horizon_applies(find("slow"), 600 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_applies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
