#include "unit.h"

#include "trace/calls/calls_clock.h"
#include "trace/calls/calls_reading.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A table in memory, as a program would make it. */
struct rig {
	int fd;
	struct calls_table *table;
};

static void rig_open(struct rig *rig)
{
	rig->fd = memfd_create("table", MFD_CLOEXEC);
	assert_true(rig->fd >= 0);
	assert_int_equal(ftruncate(rig->fd, sizeof(struct calls_table)), 0);
	rig->table = mmap(
		NULL, sizeof(struct calls_table), PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, 0);
	assert_true(rig->table != MAP_FAILED);
	rig->table->header = (struct calls_header){
		.magic = CALLS_MAGIC, .n_functions = 3, .n_threads = 2, .n_modules = 1};
	memset(rig->table->header.program, 'p', sizeof(rig->table->header.program));
	memset(rig->table->modules[0].path, '/', sizeof(rig->table->modules[0].path));
	rig->table->modules[0].build_id_size = 200;
	for (unsigned i = 0; i < 3; i++) {
		rig->table->functions[i] = (struct calls_function){.address = 100 + i, .module = i};
		rig->table->counters[0][i] = (struct calls_counter){.count = i, .ticks = 10 * i};
		rig->table->counters[1][i] = (struct calls_counter){.count = 5, .ticks = 7};
	}
}

static void rig_close(struct rig *rig)
{
	munmap(rig->table, sizeof(struct calls_table));
	close(rig->fd);
}

static void test_sums(void **state)
{
	struct calls_reading reading = {0};
	struct lp_err err = {0};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(calls_reading_fill(&reading, rig.fd, &err), 0);
	assert_int_equal(reading.header.n_functions, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(reading.totals[i].count, i + 5);
		assert_int_equal(reading.totals[i].ticks, 10 * i + 7);
	}
	/* What it claims is cut to what can be. */
	assert_int_equal(strlen(reading.header.program), sizeof(reading.header.program) - 1);
	assert_int_equal(strlen(reading.modules[0].path), sizeof(reading.modules[0].path) - 1);
	assert_int_equal(reading.modules[0].build_id_size, 0);
	assert_int_equal(reading.functions[0].module, 0);
	assert_int_equal(reading.functions[2].module, CALLS_NO_MODULE);

	rig.table->counters[0][1].count += 100;
	rig.table->header.n_functions = 2;
	assert_int_equal(calls_reading_fill(&reading, rig.fd, &err), 0);
	assert_int_equal(reading.totals[1].count, 106);
	calls_reading_release(&reading);
	rig_close(&rig);
}

static void refuse(struct rig *rig, int code, const char *words)
{
	struct calls_reading reading = {0};
	struct lp_err err = {0};

	assert_int_equal(calls_reading_fill(&reading, rig->fd, &err), code);
	assert_non_null(strstr(err.text, words));
	calls_reading_release(&reading);
}

static void test_hostile(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.table->header.magic = 0;
	refuse(&rig, -EAGAIN, "not complete yet");
	rig.table->header.magic = 1;
	refuse(&rig, -EBADMSG, "not a table of calls");
	rig.table->header.magic = CALLS_MAGIC;
	rig.table->header.n_functions = UINT32_MAX;
	refuse(&rig, -EBADMSG, "claims");
	rig.table->header.n_functions = CALLS_MAX_FUNCTIONS;
	rig.table->header.n_threads = CALLS_MAX_THREADS + 1;
	refuse(&rig, -EBADMSG, "claims");
	rig.table->header.n_threads = 1;
	rig.table->header.clock = 9;
	refuse(&rig, -EBADMSG, "claims");
	rig.table->header.clock = 0;
	assert_int_equal(ftruncate(rig.fd, offsetof(struct calls_table, counters) + 16), 0);
	refuse(&rig, -EBADMSG, "is cut off at byte");
	assert_int_equal(ftruncate(rig.fd, 8), 0);
	refuse(&rig, -EBADMSG, "is cut off at byte 8");
	rig_close(&rig);
}

static void test_clock(void **state)
{
	struct calls_header ticks = {.clock = CALLS_CLOCK_TSC}, ns = {.clock = CALLS_CLOCK_NS};
	struct calls_clock clock;

	(void)state;
	calls_clock_init(&clock);
	assert_true(clock.ns_per_tick > 0);
	assert_int_equal(calls_clock_ns(&clock, &ns, 1234), 1234);
	clock.ns_per_tick = 0.5;
	assert_int_equal(calls_clock_ns(&clock, &ticks, 1234), 617);
}

static void test_switch(void **state)
{
	struct calls_reading reading = {0};
	struct lp_err err = {0};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig.table->off[2] = 7;
	assert_int_equal(calls_reading_fill(&reading, rig.fd, &err), 0);
	assert_int_equal(reading.off[0], 0);
	assert_int_equal(reading.off[2], 7);
	assert_int_equal(calls_reading_switch(&reading, rig.fd, 0, true), 0);
	assert_int_equal(calls_reading_switch(&reading, rig.fd, 2, false), 0);
	assert_int_equal(rig.table->off[0], 1);
	assert_int_equal(rig.table->off[2], 0);
	assert_int_equal(reading.off[0], 1);
	assert_int_equal(calls_reading_switch(&reading, -1, 0, true), -EBADF);
	calls_reading_release(&reading);
	rig_close(&rig);
}

/* Counting costs two readings of a clock, and more. */
static void test_cost(void **state)
{
	struct calls_clock clock = {0};

	(void)state;
	calls_clock_init(&clock);
	assert_true(clock.call_ns[CALLS_CLOCK_NS] > 10 && clock.call_ns[CALLS_CLOCK_TSC] > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
