#include "trace/profile/profile_processes.h"

#include "base/time.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A busy process is noted, and not again within an hour; idle ones, and the kernel, are not. */
static void test_notes(void **state)
{
	struct profile_processes *p = profile_processes_new("/proc");
	int64_t now = INT64_C(1700000000) * US_PER_SEC;

	(void)state;
	assert_non_null(p);
	profile_processes_count(p, "busy", getpid(), 900);
	profile_processes_count(p, "busy", getpid(), 100);
	profile_processes_count(p, "idle", getpid(), 2);
	profile_processes_count(p, "kernel", 0, 5000);
	assert_int_equal(profile_processes_note(p, now, NULL), 1);
	profile_processes_count(p, "busy", getpid(), 900);
	assert_int_equal(profile_processes_note(p, now + 10 * US_PER_SEC, NULL), 0);
	profile_processes_count(p, "busy", getpid(), 900);
	assert_int_equal(profile_processes_note(p, now + 3600 * US_PER_SEC, NULL), 1);
	/* The clock was set back. */
	profile_processes_count(p, "busy", getpid(), 900);
	assert_int_equal(profile_processes_note(p, now, NULL), 1);
	profile_processes_free(p);
	profile_processes_free(NULL);
}

/* A few in each interval, and in the end all of them; there is room for a storm of names. */
static void test_many(void **state)
{
	struct profile_processes *p = profile_processes_new("/nowhere");
	int64_t now = INT64_C(1700000000) * US_PER_SEC;
	unsigned noted = 0;
	char name[16];

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "p%u", i);
			profile_processes_count(p, name, (int)i + 1, 10);
		}
		noted += profile_processes_note(p, now + round * US_PER_SEC, NULL);
		assert_true(noted <= 4 * (round + 1));
	}
	assert_int_equal(noted, 10);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "storm%u", i);
		profile_processes_count(p, name, 1, 1);
	}
	assert_int_equal(profile_processes_note(p, now, NULL), 0);
	profile_processes_free(p);
}

/* A thread of the kernel has no command line: nobody started it. */
static void test_kernel_thread(void **state)
{
	struct profile_processes *p = profile_processes_new("/proc");
	int64_t now = INT64_C(1700000000) * US_PER_SEC;
	char line[256] = "";
	FILE *f = fopen("/proc/2/stat", "r");

	(void)state;
	if (f) {
		assert_non_null(fgets(line, sizeof(line), f));
		fclose(f);
	}
	if (!strstr(line, "(kthreadd)")) {
		profile_processes_free(p);
		skip();
	}
	profile_processes_count(p, "kthreadd", 2, 5000);
	profile_processes_count(p, "busy", getpid(), 900);
	assert_int_equal(profile_processes_note(p, now, NULL), 1);
	profile_processes_count(p, "kthreadd", 2, 5000);
	assert_int_equal(profile_processes_note(p, now, NULL), 0);
	profile_processes_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_notes),
		cmocka_unit_test(test_many), cmocka_unit_test(test_kernel_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
