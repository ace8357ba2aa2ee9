#include "collect/keep.h"
#include "spool_util.h"
#include <fcntl.h>

static bool file_exists(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void make_file(const char *dir, const char *name, size_t bytes)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < bytes; i++)
		fputc('x', f);
	fclose(f);
}

static void test_day_start(void **state)
{
	(void)state;
	assert_int_equal(keep_day_start(at("2011-05-09T00:00:05Z")), at("2011-05-09T00:00:05Z"));
	assert_int_equal(keep_day_start(at("2011-05-09T23:59:59Z")), at("2011-05-09T00:00:05Z"));
	assert_int_equal(keep_day_start(at("2011-05-10T00:00:00Z")), at("2011-05-09T00:00:05Z"));
	assert_int_equal(
		keep_day_start(at("2011-05-10T00:00:04.999999Z")), at("2011-05-09T00:00:05Z"));
	assert_int_equal(keep_day_start(at("2011-05-10T00:00:05Z")), at("2011-05-10T00:00:05Z"));
	assert_int_equal(keep_day_start(at("1969-12-31T12:00:00Z")), at("1969-12-31T00:00:05Z"));
}

static void test_names(void **state)
{
	static const char *const foreign[] = {"oss1-20110509T000005Z.lpa.tmp",
		"oss1-20110509T000005Z.lpa2", "oss1-20110509T000005Z.csv", "oss1-20110509.lpa",
		"oss1-20110599T000005Z.lpa", "oss1-2011-05-09T00:00Z.lpa",
		"oss10-notatimestamp.lpa", "oss12-20110509T000005Z.lpa", "oss1.lpa",
		"xoss1-20110509T000005Z.lpa", "oss1-1304899205.1234.lpa",
		"oss1-2-20110509T000005Z.lpa"};
	struct place *p = *state;
	struct keep_list l;
	struct lp_err err = {0};
	char path[256];

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		make_file(p->dir, foreign[i], 1);
	make_file(p->dir, "oss1-20110510T000005Z.lpa", 20);
	make_file(p->dir, "oss1-20110509T000005Z.lpa", 10);
	assert_int_equal(keep_list_load(p->dir, "oss1", &l, &err), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.bytes, 30);
	snprintf(path, sizeof(path), "%s/oss1-20110509T000005Z.lpa", p->dir);
	assert_string_equal(l.files[0].path, path);
	assert_int_equal(l.files[0].start_us, at("2011-05-09T00:00:05Z"));
	assert_int_equal(l.files[1].bytes, 20);
	keep_list_release(&l);
	assert_int_equal(l.n, 0);
}

static void test_no_directory(void **state)
{
	struct place *p = *state;
	struct keep_list l;
	struct lp_err err = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/nowhere", p->dir);
	assert_int_equal(keep_list_load(path, "h", &l, &err), 0);
	assert_int_equal(l.n, 0);
	make_file(p->dir, "file", 1);
	snprintf(path, sizeof(path), "%s/file", p->dir);
	assert_int_equal(keep_list_load(path, "h", &l, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "/file"));
}

static void make_week(const char *dir)
{
	char name[64];

	for (int day = 1; day <= 7; day++) {
		snprintf(name, sizeof(name), "h-2024030%dT000005Z.lpa", day);
		make_file(dir, name, 100);
	}
	make_file(dir, "other-20000101T000005Z.lpa", 100);
	make_file(dir, "h-notes.txt", 100);
}

/* An archive with samples at these times. */
static void make_archive(const char *dir, const char *name, const char *first, const char *last)
{
	struct lp_archive_meta meta = {.observer = "h", .interval_us = US_PER_SEC};
	struct lp_catalogue *c = fake_catalogue();
	struct lp_batch *batch = lp_batch_new(2);
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	fake_sample(batch, at(first));
	fake_sample(batch, at(last));
	if (lp_archive_create(path, &meta, &w, &err) < 0 ||
		lp_archive_write(w, c, batch, LP_ARCHIVE_LOOSE, &err) < 0 ||
		lp_archive_close(w, &err) < 0)
		fail_msg("%s", err.text);
	lp_batch_free(batch);
	lp_catalogue_free(c);
}

static struct keep_result expire_at(
	struct place *p, const char *now, const char *current, int64_t age_us, uint64_t bytes)
{
	struct keep_limits limits = {.now_us = at(now), .age_us = age_us, .bytes = bytes};
	struct keep_result result = {0};
	struct lp_err err = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, current);
	if (keep_expire(p->dir, "h", path, &limits, &result, &err) < 0)
		fail_msg("%s", err.text);
	return result;
}

static uint64_t expire(struct place *p, const char *current, int64_t age_us, uint64_t bytes)
{
	return expire_at(p, "2024-03-07T12:00:00Z", current, age_us, bytes).bytes;
}

static void test_expire_age(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	assert_int_equal(expire(p, "h-20240307T000005Z.lpa", 0, 0), 600);
	make_archive(
		p->dir, "h-20240306T000005Z.lpa", "2024-03-06T00:00:05Z", "2024-03-06T23:59:59Z");
	/* A file is as old as its last sample, which is before the next file's first: the one of
	 * the 4th ended on the 5th at 00:00:05 and is younger than three days. */
	expire(p, "h-20240307T000005Z.lpa", 3 * US_PER_DAY, 0);
	assert_files(p->dir,
		"h-20240304T000005Z.lpa h-20240305T000005Z.lpa h-20240306T000005Z.lpa "
		"h-20240307T000005Z.lpa h-notes.txt other-20000101T000005Z.lpa");
}

static void test_expire_bytes(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	assert_int_equal(expire(p, "h-20240307T000005Z.lpa", 0, 700), 600);
	assert_int_equal(expire(p, "h-20240307T000005Z.lpa", 0, 350), 200);
	assert_files(p->dir,
		"h-20240305T000005Z.lpa h-20240306T000005Z.lpa h-20240307T000005Z.lpa "
		"h-notes.txt other-20000101T000005Z.lpa");
	/* The current file stays, however large, also where it is not the newest. */
	assert_int_equal(expire(p, "h-20240305T000005Z.lpa", US_PER_SEC, 1), 0);
	assert_files(p->dir, "h-20240305T000005Z.lpa h-notes.txt other-20000101T000005Z.lpa");
}

#define WEEK                                                                                       \
	"h-20240301T000005Z.lpa h-20240302T000005Z.lpa h-20240303T000005Z.lpa "                    \
	"h-20240304T000005Z.lpa h-20240305T000005Z.lpa h-20240306T000005Z.lpa "                    \
	"h-20240307T000005Z.lpa "
#define OTHERS "h-notes.txt other-20000101T000005Z.lpa"

/* Five seconds of the year 2038, by which six of seven files are too old, and whatever else is
 * short of a day. */
static void test_leap(void **state)
{
	struct place *p = *state;
	struct keep_result result;

	make_week(p->dir);
	make_archive(
		p->dir, "h-20240306T000005Z.lpa", "2024-03-06T00:00:05Z", "2024-03-06T23:59:59Z");
	make_archive(
		p->dir, "h-20380119T031400Z.lpa", "2038-01-19T03:14:00Z", "2038-01-19T03:14:05Z");
	result = expire_at(p, "2038-01-19T03:14:05Z", "h-20380119T031400Z.lpa", 30 * US_PER_DAY, 0);
	assert_int_equal(result.n_waiting, 6);
	assert_true(result.bytes > 600);
	assert_files(p->dir, WEEK "h-20380119T031400Z.lpa " OTHERS);
	/* It held for 23 hours. */
	make_archive(
		p->dir, "h-20380119T031400Z.lpa", "2038-01-19T03:14:00Z", "2038-01-20T00:00:04Z");
	result = expire_at(p, "2038-01-20T02:14:00Z", "h-20380120T000005Z.lpa", 30 * US_PER_DAY, 0);
	assert_int_equal(result.n_waiting, 6);
	/* Back again: nothing is old. */
	result = expire_at(p, "2024-03-07T12:00:00Z", "h-20240307T000005Z.lpa", 30 * US_PER_DAY, 0);
	assert_int_equal(result.n_waiting, 0);
	assert_files(p->dir, WEEK "h-20380119T031400Z.lpa " OTHERS);
}

/* A machine with an empty battery begins in 2038 at every start, for some seconds. */
static void test_leaps(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	make_archive(
		p->dir, "h-20380119T031400Z.lpa", "2038-01-19T03:14:00Z", "2038-01-19T03:14:05Z");
	make_archive(
		p->dir, "h-20380121T031400Z.lpa", "2038-01-21T03:14:00Z", "2038-01-21T03:15:05Z");
	assert_int_equal(expire_at(p, "2038-01-23T03:14:05Z", "", 30 * US_PER_DAY, 0).n_waiting, 6);
	assert_files(p->dir, WEEK "h-20380119T031400Z.lpa h-20380121T031400Z.lpa " OTHERS);
}

/* A recorder was off for years: after a day of recording, old files are deleted. */
static void test_leap_holds(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	make_archive(
		p->dir, "h-20380119T031400Z.lpa", "2038-01-19T03:14:00Z", "2038-01-20T00:00:04Z");
	make_archive(
		p->dir, "h-20380120T000005Z.lpa", "2038-01-20T00:00:05Z", "2038-01-21T00:00:04Z");
	assert_int_equal(expire_at(p, "2038-01-21T00:00:05Z", "", 30 * US_PER_DAY, 0).n_waiting, 0);
	/* The last one before the gap ended when the next one began, for all one knows. */
	assert_files(p->dir,
		"h-20240307T000005Z.lpa h-20380119T031400Z.lpa h-20380120T000005Z.lpa " OTHERS);
}

/* Let a file have been changed last at that time. */
static void set_written(const char *dir, const char *name, const char *time)
{
	struct timespec times[2] = {{.tv_sec = at(time) / US_PER_SEC}};
	char path[256];

	times[1] = times[0];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A machine begins in 1970 and then gets the time: its earlier recording is not 50 years old, and
 * is kept as long as others. */
static void test_behind(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	make_archive(
		p->dir, "h-20240306T000005Z.lpa", "2024-03-06T00:00:05Z", "2024-03-06T23:59:59Z");
	make_file(p->dir, "h-19700101T000005Z.lpa", 100);
	make_file(p->dir, "h-19700102T000005Z.lpa", 100);
	set_written(p->dir, "h-19700101T000005Z.lpa", "1970-01-01T00:10:00Z");
	set_written(p->dir, "h-19700102T000005Z.lpa", "2024-03-05T10:00:00Z");
	expire(p, "h-20240307T000005Z.lpa", 3 * US_PER_DAY, 0);
	assert_files(p->dir,
		"h-19700102T000005Z.lpa h-20240304T000005Z.lpa h-20240305T000005Z.lpa "
		"h-20240306T000005Z.lpa h-20240307T000005Z.lpa " OTHERS);
	assert_int_equal(expire_at(p, "2024-03-08T09:59:59Z", "", 3 * US_PER_DAY, 0).n_waiting, 0);
	assert_true(file_exists(p->dir, "h-19700102T000005Z.lpa"));
	expire_at(p, "2024-03-08T10:00:01Z", "", 3 * US_PER_DAY, 0);
	assert_false(file_exists(p->dir, "h-19700102T000005Z.lpa"));
}

/* Ten minutes a day are a witness after some days; and an hour is where no more is kept. */
static void test_short_recordings(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	make_archive(
		p->dir, "h-20240305T000005Z.lpa", "2024-03-05T12:00:00Z", "2024-03-05T12:10:00Z");
	make_archive(
		p->dir, "h-20240306T000005Z.lpa", "2024-03-06T12:00:00Z", "2024-03-06T12:10:00Z");
	assert_int_equal(expire_at(p, "2024-03-07T12:00:00Z", "", 3 * US_PER_DAY, 0).n_waiting, 3);
	make_archive(
		p->dir, "h-20240307T000005Z.lpa", "2024-03-07T11:00:00Z", "2024-03-07T11:11:00Z");
	assert_int_equal(expire_at(p, "2024-03-07T12:00:00Z", "", 3 * US_PER_DAY, 0).n_waiting, 0);
	make_archive(
		p->dir, "h-20380119T031400Z.lpa", "2038-01-19T03:14:00Z", "2038-01-19T03:24:00Z");
	assert_int_equal(
		expire_at(p, "2038-01-19T03:24:00Z", "", 600 * US_PER_SEC, 0).n_waiting, 0);
	assert_files(p->dir, "h-20240307T000005Z.lpa h-20380119T031400Z.lpa " OTHERS);
}

/* A user who may write into the directory cannot choose which files are removed. */
static void test_links(void **state)
{
	struct place *p = *state;
	char link_path[256], target[256];

	make_file(p->dir, "target", 1000);
	snprintf(target, sizeof(target), "%s/target", p->dir);
	snprintf(link_path, sizeof(link_path), "%s/h-20240301T000005Z.lpa", p->dir);
	assert_int_equal(symlink(target, link_path), 0);
	make_file(p->dir, "h-20240302T000005Z.lpa", 100);
	assert_true(expire(p, "h-20240302T000005Z.lpa", 0, 500) < 500); /* it counts for itself */
	assert_files(p->dir, "h-20240301T000005Z.lpa h-20240302T000005Z.lpa target");
	expire(p, "h-20240302T000005Z.lpa", 0, 1);
	assert_files(p->dir, "h-20240302T000005Z.lpa target");
}

static void test_expire_undeletable(void **state)
{
	struct place *p = *state;
	struct keep_limits limits = {
		.now_us = at("2024-03-07T12:00:00Z"), .age_us = 2 * US_PER_DAY};
	struct keep_result result = {0};
	struct lp_err err = {0};
	char path[256];

	make_week(p->dir);
	make_archive(
		p->dir, "h-20240306T000005Z.lpa", "2024-03-06T00:00:05Z", "2024-03-06T23:59:59Z");
	snprintf(path, sizeof(path), "%s/h-20240228T000005Z.lpa", p->dir);
	assert_int_equal(mkdir(path, 0755), 0); /* unlink() will not */
	assert_true(keep_expire(p->dir, "h", "", &limits, &result, &err) < 0);
	assert_non_null(strstr(err.text, "h-20240228T000005Z.lpa"));
	assert_files(p->dir,
		"h-20240228T000005Z.lpa h-20240305T000005Z.lpa h-20240306T000005Z.lpa "
		"h-20240307T000005Z.lpa h-notes.txt other-20000101T000005Z.lpa");
}

static void test_leftovers(void **state)
{
	struct place *p = *state;
	struct lp_err err = {0};

	make_file(p->dir, "h-20240301T000005Z.lpa", 1);
	make_file(p->dir, "h-20240301T000005Z.lpa.tmp", 1);
	make_file(p->dir, "h-20240302T000005Z.lpa.tmp", 1);
	make_file(p->dir, "i-20240302T000005Z.lpa.tmp", 1);
	make_file(p->dir, "h.tmp", 1);
	assert_int_equal(keep_remove_leftovers(p->dir, "h", &err), 0);
	assert_files(p->dir, "h-20240301T000005Z.lpa h.tmp i-20240302T000005Z.lpa.tmp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_day_start),
		place_test(test_names),
		place_test(test_no_directory),
		place_test(test_expire_age),
		place_test(test_expire_bytes),
		place_test(test_behind),
		place_test(test_leap),
		place_test(test_leaps),
		place_test(test_leap_holds),
		place_test(test_short_recordings),
		place_test(test_links),
		place_test(test_expire_undeletable),
		place_test(test_leftovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
