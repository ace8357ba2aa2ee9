/* Tables that there is no room for, and abandoned ones. */
#include "unit.h"

#include "base/time.h"
#include "trace/calls/calls_watch.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER_NETWORK 123

struct place {
	char root[64], proc[80], tables[80];
};

static int place_open(void **state)
{
	static struct place place;

	snprintf(place.root, sizeof(place.root), "/tmp/limpet-watch-XXXXXX");
	assert_non_null(mkdtemp(place.root));
	snprintf(place.proc, sizeof(place.proc), "%s/proc", place.root);
	snprintf(place.tables, sizeof(place.tables), "%s/tables", place.root);
	assert_int_equal(mkdir(place.proc, 0700), 0);
	assert_int_equal(mkdir(place.tables, 0700), 0);
	*state = &place;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int place_close(void **state)
{
	const struct place *place = *state;

	return nftw(place->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void process_make(const struct place *place, int pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d", place->proc, pid);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A file that was changed so long ago. It is no table, but looks like one. */
static void table_make(const struct place *place, int pid, int64_t age_ns)
{
	int64_t at_ns = clock_ns(CLOCK_REALTIME) - age_ns;
	struct timespec at = {.tv_sec = at_ns / NS_PER_SEC, .tv_nsec = at_ns % NS_PER_SEC};
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s%d.7", place->tables, CALLS_PREFIX, pid);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, (struct timespec[]){at, at}), 0);
	close(fd);
}

static bool table_is_there(const struct place *place, int pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s%d.7", place->tables, CALLS_PREFIX, pid);
	return access(path, F_OK) == 0;
}

static int take(void *ctx, struct calls_program *p, struct lp_err *err)
{
	(void)ctx;
	(void)p;
	(void)err;
	return 0;
}

static struct calls_watch *watch_open(const struct place *place, uint64_t netns, bool passive)
{
	struct calls_watch_config config = {.directory = place->tables,
		.proc = place->proc,
		.netns = netns,
		.passive = passive};
	struct calls_watch *w = NULL;
	struct lp_err err = {0};

	assert_int_equal(calls_watch_open(&config, &w, &err), 0);
	return w;
}

/* Each program is left out once, however often one looks. */
static void test_left_out(void **state)
{
	const struct place *place = *state;
	struct rlimit limit;
	struct calls_watch *w;
	struct lp_err err = {0};

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < CALLS_PROGRAMS_MAX + 100)
		skip();
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int pid = 1; pid <= CALLS_PROGRAMS_MAX + 5; pid++) {
		process_make(place, pid);
		table_make(place, pid, 0);
	}
	w = watch_open(place, 0, false);
	for (int i = 0; i < 3; i++)
		assert_int_equal(calls_watch_read(w, take, NULL, NULL, &err), 0);
	assert_int_equal(calls_watch_left_out(w), 5);
	process_make(place, CALLS_PROGRAMS_MAX + 6);
	table_make(place, CALLS_PROGRAMS_MAX + 6, 0);
	assert_int_equal(calls_watch_read(w, take, NULL, NULL, &err), 0);
	assert_int_equal(calls_watch_left_out(w), 6);
	calls_watch_close(w);
}

/* A reader of one network removes abandoned tables, and nothing else. */
static void test_abandoned(void **state)
{
	const struct place *place = *state;
	struct calls_watch *w;
	struct lp_err err = {0};

	table_make(place, 10, 3600 * NS_PER_SEC);
	table_make(place, 11, 0); /* of a process that ended just now */
	table_make(place, 12, 3600 * NS_PER_SEC);
	process_make(place, 12); /* it is in another network */
	w = watch_open(place, OTHER_NETWORK, true);
	assert_int_equal(calls_watch_read(w, take, NULL, NULL, &err), 0);
	assert_true(table_is_there(place, 10)); /* who only looks takes nothing */
	calls_watch_close(w);
	w = watch_open(place, OTHER_NETWORK, false);
	assert_int_equal(calls_watch_read(w, take, NULL, NULL, &err), 0);
	assert_false(table_is_there(place, 10));
	assert_true(table_is_there(place, 11));
	assert_true(table_is_there(place, 12));
	assert_int_equal(calls_watch_left_out(w), 0);
	calls_watch_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left_out, place_open, place_close),
		cmocka_unit_test_setup_teardown(test_abandoned, place_open, place_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
