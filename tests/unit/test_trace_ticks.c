#include "temp_dir.h"

#include "base/time.h"
#include "trace/stack/ticks.h"
#include <errno.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define MS INT64_C(1000000)

static void add(struct tick_clock *c, uint64_t ticks, int64_t ns)
{
	assert_int_equal(tick_clock_add(c, (struct tick_pair){ticks, ns}), 0);
}

/* Between two pairs the rate is theirs; outside, that of the nearest ones. */
static void test_rates(void **state)
{
	struct tick_clock c = {0};

	(void)state;
	assert_int_equal(tick_clock_ns(&c, 5), -1);
	add(&c, 1000, 100 * MS);
	assert_int_equal(tick_clock_ns(&c, 1000), -1);
	add(&c, 2000, 120 * MS); /* 20 us per tick */
	add(&c, 4000, 220 * MS); /* 50 us */
	assert_int_equal(tick_clock_ns(&c, 1000), 100 * MS);
	assert_int_equal(tick_clock_ns(&c, 1500), 110 * MS);
	assert_int_equal(tick_clock_ns(&c, 2000), 120 * MS);
	assert_int_equal(tick_clock_ns(&c, 3000), 170 * MS);
	assert_int_equal(tick_clock_ns(&c, 5000), 270 * MS);
	assert_int_equal(tick_clock_ns(&c, 500), 90 * MS);
	tick_clock_release(&c);
}

/* Pairs that say nothing are left out. */
static void test_left_out(void **state)
{
	struct tick_clock c = {0};

	(void)state;
	add(&c, 1000, 100 * MS);
	add(&c, 1001, 100 * MS + 1); /* soon, but two are needed */
	assert_int_equal(tick_clock_ns(&c, 1001), 100 * MS + 1);
	add(&c, 900, 200 * MS); /* the counter went back */
	assert_int_equal(c.n, 2);
	add(&c, 2000, 200 * MS); /* instead of the one that came too soon */
	assert_int_equal(c.n, 2);
	assert_int_equal(tick_clock_ns(&c, 1500), 150 * MS);
	add(&c, 2500, 205 * MS);
	assert_int_equal(c.n, 3);
	tick_clock_release(&c);
}

/* However long it runs, it keeps a bounded number of pairs, from all of its time. */
static void test_many(void **state)
{
	struct tick_clock c = {0};
	const uint64_t n = 5000;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		add(&c, i * 1000, (int64_t)i * 20 * MS);
	assert_true(c.n <= 1024 && c.n > 256);
	assert_int_equal(c.pairs[0].ticks, 0);
	for (uint64_t i = 0; i < n; i += 7)
		assert_int_equal(tick_clock_ns(&c, i * 1000), (int64_t)i * 20 * MS);
	tick_clock_release(&c);
}

/* A program may write any number. */
static void test_hostile(void **state)
{
	static const uint64_t any[] = {
		0, 1, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, UINT64_MAX / 3};
	struct tick_clock c = {0};

	(void)state;
	add(&c, 1000, 100 * MS);
	add(&c, 1001, 200 * MS); /* 100 ms per tick */
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		assert_true(tick_clock_ns(&c, any[i]) >= -1);
	assert_int_equal(tick_clock_ns(&c, UINT64_C(1) << 62), -1);
	tick_clock_release(&c);
}

/* A reading between two others of the real clock is between them, but for the error of reading. */
static void test_real(void **state)
{
#if defined(__x86_64__)
	const struct timespec pause = {.tv_nsec = 20 * MS};
	struct tick_clock c = {0};
	int64_t before, after, ns;
	uint64_t ticks;

	(void)state;
	if (!ticks_are_time("")) {
		print_message("the kernel keeps time by another clock\n");
		skip();
	}
	assert_int_equal(tick_clock_note(&c), 0);
	nanosleep(&pause, NULL);
	before = clock_ns(CLOCK_MONOTONIC);
	ticks = __rdtsc();
	after = clock_ns(CLOCK_MONOTONIC);
	nanosleep(&pause, NULL);
	assert_int_equal(tick_clock_note(&c), 0);
	ns = tick_clock_ns(&c, ticks);
	assert_true(ns > before - MS && ns < after + MS);
	tick_clock_release(&c);
#else
	(void)state;
	print_message("this processor's counter is not used\n");
	skip();
#endif
}

static void put_source(const char *name)
{
	char path[TEMP_PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/sys/devices/system/clocksource/clocksource0",
		temp_dir_path);
	assert_int_equal(system(path), 0); /* NOLINT(cert-env33-c): the test's own text */
	snprintf(path, sizeof(path),
		"%s/sys/devices/system/clocksource/clocksource0/current_clocksource",
		temp_dir_path);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", name);
	fclose(f);
}

static void test_source(void **state)
{
	(void)state;
	assert_false(ticks_are_time(temp_dir_path));
	put_source("kvm-clock");
	assert_false(ticks_are_time(temp_dir_path));
#if defined(__x86_64__)
	put_source("tsc");
	assert_true(ticks_are_time(temp_dir_path));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_real),
		cmocka_unit_test_setup_teardown(test_source, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
