#include "base/cleanup.h"
#include "lab/watch.h"
#include "unit.h"
#include <errno.h>

DEFINE_CLEANUP(struct watch *, watch_free);

/* A machine that wakes its sleepers as late as configured. */
struct machine {
	int64_t late_us;
	uint64_t used, all;
	int failure;
};

static int64_t machine_sleep(void *ctx, int64_t us)
{
	return us + ((struct machine *)ctx)->late_us;
}

static int machine_cpu(void *ctx, uint64_t *ret_used, uint64_t *ret_all)
{
	const struct machine *m = ctx;

	*ret_used = m->used;
	*ret_all = m->all;
	return m->failure;
}

static struct watch *watch_of(struct machine *m)
{
	const struct watch_io io = {.sleep = machine_sleep, .cpu = machine_cpu, .ctx = m};
	struct watch *w = NULL;

	assert_int_equal(watch_new(&io, &w, NULL), 0);
	return w;
}

static void steps(struct watch *w, struct machine *m, unsigned n, int64_t late_us)
{
	m->late_us = late_us;
	while (n--)
		watch_step(w);
}

static void an_idle_machine_is_good(void **state)
{
	struct machine m = {.used = 1000, .all = 10000};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 1000, 60);
	m.used += 500;
	m.all += 1000;
	watch_report(w, &r);
	assert_int_equal(r.wakes, 1000);
	assert_float_equal(r.late_share, 0, 1e-9);
	assert_float_equal(r.late_max_ms, 0.06, 1e-9);
	assert_float_equal(r.late_mean_ms, 0.06, 1e-9);
	assert_float_equal(r.cpu_share, 0.5, 1e-9);
	assert_false(r.saturated);
}

/* 10 of 1000 ms are slept in each step; a late one of 50 ms counts as so much time. */
static void late_time_counts(void **state)
{
	struct machine m = {0};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 950, 0);
	steps(w, &m, 9, 40000);
	watch_report(w, &r);
	assert_float_equal(r.late_share, 450.0 / 9950, 1e-9);
	assert_false(r.saturated);
	steps(w, &m, 950, 0);
	steps(w, &m, 11, 40000);
	watch_report(w, &r);
	assert_float_equal(r.late_share, 550.0 / 10050, 1e-9);
	assert_float_equal(r.late_max_ms, 40, 1e-9);
	assert_true(r.saturated);
}

static void twenty_milliseconds_are_no_matter(void **state)
{
	struct machine m = {0};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 100, WATCH_LATE_US);
	watch_report(w, &r);
	assert_false(r.saturated);
	steps(w, &m, 100, WATCH_LATE_US + 1);
	watch_report(w, &r);
	assert_true(r.saturated);
}

static void no_time_left_is_bad(void **state)
{
	struct machine m = {.used = 1000, .all = 10000};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 10, 0);
	m.used += 94;
	m.all += 100;
	watch_report(w, &r);
	assert_false(r.saturated);
	m.used += 96;
	m.all += 100;
	watch_report(w, &r);
	assert_true(r.saturated);
}

/* Each report begins anew. */
static void reports_forget(void **state)
{
	struct machine m = {0};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 100, 100000);
	watch_report(w, &r);
	assert_true(r.saturated);
	watch_report(w, &r);
	assert_int_equal(r.wakes, 0);
	assert_float_equal(r.late_share, 0, 0);
	assert_float_equal(r.cpu_share, 0, 0);
	assert_false(r.saturated);
}

static void no_cpu_times_are_no_matter(void **state)
{
	struct machine m = {.failure = -EIO};
	_cleanup_(watch_freep) struct watch *w = watch_of(&m);
	struct watch_report r;

	(void)state;
	steps(w, &m, 1, 0);
	watch_report(w, &r);
	assert_float_equal(r.cpu_share, 0, 0);
}

static void cpu_lines_are_read(void **state)
{
	uint64_t used, all;

	(void)state;
	assert_int_equal(watch_cpu_parse("cpu  1 2 3 40 50 6 7 8 9 10\n", &used, &all), 0);
	assert_int_equal(used, 1 + 3 + 6 + 7 + 8);
	assert_int_equal(all, used + 2 + 90);
	assert_int_equal(watch_cpu_parse("cpu 1 2 3 4", &used, &all), 0);
	assert_int_equal(watch_cpu_parse("cpu 1 2 3", &used, &all), -EINVAL);
	assert_int_equal(watch_cpu_parse("", &used, &all), -EINVAL);
}

static void a_thread_watches(void **state)
{
	struct watch *w = NULL;
	struct watch_report r = {0};

	(void)state;
	assert_int_equal(watch_start(&w, NULL), 0);
	for (unsigned i = 0; !r.wakes && i < 1000; i++) {
		usleep(10000);
		watch_report(w, &r);
	}
	assert_true(r.wakes > 0);
	watch_free(w);
	watch_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_machine_is_good),
		cmocka_unit_test(late_time_counts),
		cmocka_unit_test(twenty_milliseconds_are_no_matter),
		cmocka_unit_test(no_time_left_is_bad),
		cmocka_unit_test(reports_forget),
		cmocka_unit_test(no_cpu_times_are_no_matter),
		cmocka_unit_test(cpu_lines_are_read),
		cmocka_unit_test(a_thread_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
