#include "detect_rig.h"

#include "detect/steady.h"

#define SLOTS 600

/* Member 1 is 1.5 times as slow in all samples; member 2 four times in every third one. */
static void rig_make(struct rig *r)
{
	static const struct detect_options by_itself = {0};
	double *await;

	rig_init(r, 8, SLOTS);
	await = rig_add_noise(r, "await", "ms", 20, 0.2);
	rig_scale(r, await, 1, 0, 1.5);
	for (uint32_t s = 0; s < SLOTS; s += 3)
		await[2 * SLOTS + s] *= 4;
	for (uint32_t s = 0; s < SLOTS; s += 10)
		await[1 * SLOTS + s] = NAN;
	rig_run(r, &by_itself);
	assert_true(r->verdict->n_series > 0);
}

static enum steadiness look(struct steady *s, uint32_t member, enum lp_mark direction, uint32_t end,
	struct steady_count *count)
{
	enum steadiness is = STEADY_UNKNOWN;

	assert_int_equal(steady_look(s, member, direction, end, count, &is), 0);
	return is;
}

static void test_steady(void **state)
{
	struct rig r;
	struct steady s;

	(void)state;
	rig_make(&r);
	{
		struct comparison c = {.v = r.verdict, .series = &r.verdict->series[0]};
		struct steady_count slow = {0}, noisy = {0}, sound = {0}, low = {0};

		steady_init(&s, &c);
		assert_int_equal(look(&s, 1, LP_MARK_ABOVE, SLOTS, &slow), STEADY);
		assert_int_equal(look(&s, 2, LP_MARK_ABOVE, SLOTS, &noisy), STEADY_NOT);
		assert_int_equal(look(&s, 3, LP_MARK_ABOVE, SLOTS, &sound), STEADY_NOT);
		assert_int_equal(look(&s, 1, LP_MARK_BELOW, SLOTS, &low), STEADY_NOT);
		/* A gap proves nothing; a healthy member is beyond the middle in half of its
		 * samples. */
		assert_int_equal(slow.n, SLOTS - SLOTS / 10);
		assert_int_equal(noisy.n, SLOTS);
		assert_true(sound.n_beyond > SLOTS / 4 && sound.n_beyond < SLOTS * 3 / 4);
		steady_release(&s);
	}
	rig_release(&r);
}

/* Examining it in steps gives the same result as at once, and slots after the end of the data do
 * not count. */
static void test_steps(void **state)
{
	struct rig r;
	struct steady s;

	(void)state;
	rig_make(&r);
	{
		struct comparison c = {.v = r.verdict, .series = &r.verdict->series[0]};
		struct steady_count at_once = {0}, steps = {0};

		steady_init(&s, &c);
		look(&s, 2, LP_MARK_ABOVE, SLOTS, &at_once);
		for (uint32_t end = 7; end < SLOTS + 50; end += 7)
			look(&s, 2, LP_MARK_ABOVE, end, &steps);
		assert_int_equal(steps.n, at_once.n);
		assert_int_equal(steps.n_beyond, at_once.n_beyond);
		assert_int_equal(steps.end, SLOTS);
		steady_release(&s);
	}
	rig_release(&r);
}

/* If samples are not compared, or there are none. */
static void test_unknown(void **state)
{
	struct rig r;
	struct steady s;

	(void)state;
	rig_make(&r);
	{
		struct comparison c = {.v = r.verdict, .series = &r.verdict->series[0]};
		struct steady_count none = {0};

		steady_init(&s, &c);
		assert_int_equal(look(&s, 1, LP_MARK_ABSENT, SLOTS, &none), STEADY_UNKNOWN);
		assert_int_equal(look(&s, 1, LP_MARK_ABOVE, 0, &none), STEADY_UNKNOWN);
		c.timeseries = true;
		assert_int_equal(look(&s, 1, LP_MARK_ABOVE, SLOTS, &none), STEADY_UNKNOWN);
		assert_int_equal(none.n, 0);
		steady_release(&s);
	}
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
