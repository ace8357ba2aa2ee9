#include "collect/keep.h"
#include "collect_util.h"

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

static uint64_t expire(struct place *p, const char *current, int64_t age_us, uint64_t bytes)
{
	struct lp_err err = {0};
	uint64_t left = 0;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, current);
	if (keep_expire(p->dir, "h", path, at("2024-03-07T12:00:00Z"), age_us, bytes, &left, &err) <
		0)
		fail_msg("%s", err.text);
	return left;
}

static void test_expire_age(void **state)
{
	struct place *p = *state;

	make_week(p->dir);
	assert_int_equal(expire(p, "h-20240307T000005Z.lpa", 0, 0), 600);
	/* A file is as old as its last sample, which is before the next file's first: the one of
	 * the 4th ended on the 5th at 00:00:05 and is younger than three days. */
	assert_int_equal(expire(p, "h-20240307T000005Z.lpa", 3 * US_PER_DAY, 0), 300);
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

static void test_expire_undeletable(void **state)
{
	struct place *p = *state;
	struct lp_err err = {0};
	uint64_t left = 0;
	char path[256];

	make_week(p->dir);
	snprintf(path, sizeof(path), "%s/h-20240228T000005Z.lpa", p->dir);
	assert_int_equal(mkdir(path, 0755), 0); /* unlink() will not */
	assert_true(keep_expire(p->dir, "h", "", at("2024-03-07T12:00:00Z"), 2 * US_PER_DAY, 0,
			    &left, &err) < 0);
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
		place_test(test_expire_undeletable),
		place_test(test_leftovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
