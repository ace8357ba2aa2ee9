#include "collect/spool_file.h"
#include "spool_util.h"

#define NOON "2024-03-01T12:00:00Z"

/* A file of a recorder, and the data to write. */
struct bench {
	struct spool_config config;
	struct spool_file file;
	struct lp_catalogue *catalogue;
	struct lp_batch *batch;
};

static void bench_make(struct bench *b, struct place *p)
{
	*b = (struct bench){.config = {.dir = p->dir,
				    .name = "h",
				    .observer = "h",
				    .interval_us = US_PER_SEC,
				    .warn = &p->warn},
		.catalogue = fake_catalogue(),
		.batch = lp_batch_new(100)};
	b->file.config = &b->config;
}

static void bench_release(struct bench *b)
{
	spool_file_release(&b->file);
	lp_catalogue_free(b->catalogue);
	lp_batch_free(b->batch);
}

/* Write `n` samples from `time` on, one a second. */
static int write_from(struct bench *b, const char *time, unsigned n, bool new_file)
{
	struct lp_err err = {0};
	int r;

	lp_batch_clear(b->batch);
	for (unsigned i = 0; i < n; i++)
		fake_sample(b->batch, at(time) + i * US_PER_SEC);
	r = spool_file_ready(&b->file, b->batch->wall_us[b->batch->carry ? 1 : 0], new_file, &err);
	return r < 0 ? r : spool_file_write(&b->file, b->catalogue, b->batch, &err);
}

/* Write as a recorder that is killed afterwards. */
static void write_killed(struct place *p, const char *time, unsigned n)
{
	struct bench b;

	bench_make(&b, p);
	spool_file_tidy(&b.file);
	assert_int_equal(write_from(&b, time, n, false), 0);
	bench_release(&b);
}

static void assert_samples(const char *dir, const char *file, uint32_t n, bool sealed)
{
	static struct samples s;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	samples_read(path, &s);
	assert_int_equal(s.n, n);
	assert_int_equal(is_sealed(path), sealed);
}

static void test_resume_same_day(void **state)
{
	struct place *p = *state;
	static struct samples s;

	write_killed(p, NOON, 5);
	write_killed(p, "2024-03-01T12:00:10Z", 3);
	write_killed(p, "2024-03-02T00:00:04Z", 1); /* still the same day of recording */
	assert_files(p->dir, "h-20240301T120000Z.lpa");
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 9, false);
	samples_read(p->dir, &s);
	assert_int_equal(s.wall_us[4], at("2024-03-01T12:00:04Z"));
	assert_int_equal(s.wall_us[5], at("2024-03-01T12:00:10Z"));
	assert_int_equal(p->heard.n, 0);
}

static void test_resume_next_day(void **state)
{
	struct place *p = *state;

	write_killed(p, NOON, 5);
	write_killed(p, "2024-03-02T00:00:05Z", 3);
	assert_files(p->dir, "h-20240301T120000Z.lpa h-20240302T000005Z.lpa");
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 5, true);
	assert_samples(p->dir, "h-20240302T000005Z.lpa", 3, false);
}

/* A clock that was set back between two recordings: the old file is from the future. */
static void test_resume_future(void **state)
{
	struct place *p = *state;

	write_killed(p, "2024-03-01T18:00:00Z", 5);
	write_killed(p, NOON, 3);
	assert_files(p->dir, "h-20240301T120000Z.lpa h-20240301T180000Z.lpa");
	assert_samples(p->dir, "h-20240301T180000Z.lpa", 5, true);
}

static void test_resume_other_settings(void **state)
{
	struct place *p = *state;
	struct bench b;

	write_killed(p, NOON, 5);
	bench_make(&b, p);
	b.config.interval_us = 2 * US_PER_SEC;
	assert_int_equal(write_from(&b, "2024-03-01T12:01:00Z", 1, false), 0);
	bench_release(&b);
	assert_files(p->dir, "h-20240301T120000Z.lpa h-20240301T120100Z.lpa");
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 5, true);
	bench_make(&b, p);
	b.config.interval_us = 2 * US_PER_SEC;
	b.config.observer = "elsewhere";
	assert_int_equal(write_from(&b, "2024-03-01T12:02:00Z", 1, false), 0);
	bench_release(&b);
	assert_samples(p->dir, "h-20240301T120100Z.lpa", 1, true);
	assert_samples(p->dir, "h-20240301T120200Z.lpa", 1, false);
}

/* A recorder that was stopped and started again goes on, too: one file a day. */
static void test_resume_after_stop(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p);
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	spool_file_finish(&b.file);
	bench_release(&b);
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 5, true);
	write_killed(p, "2024-03-01T12:01:00Z", 5);
	assert_files(p->dir, "h-20240301T120000Z.lpa");
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 10, false);
}

static void test_tidy(void **state)
{
	struct place *p = *state;
	struct bench b;
	char path[256];
	FILE *f;

	write_killed(p, "2024-02-27T12:00:00Z", 5);
	write_killed(p, "2024-02-28T12:00:00Z", 5);
	write_killed(p, "2024-02-29T12:00:00Z", 5);
	snprintf(path, sizeof(path), "%s/h-20240227T120000Z.lpa.tmp", p->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	bench_make(&b, p);
	spool_file_tidy(&b.file);
	bench_release(&b);
	assert_files(
		p->dir, "h-20240227T120000Z.lpa h-20240228T120000Z.lpa h-20240229T120000Z.lpa");
	assert_samples(p->dir, "h-20240227T120000Z.lpa", 5, true);
	assert_samples(p->dir, "h-20240228T120000Z.lpa", 5, true);
	assert_samples(p->dir, "h-20240229T120000Z.lpa", 5, false);
}

/* An unreadable file is not changed, and this is reported. */
static void test_foreign_contents(void **state)
{
	struct place *p = *state;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/h-20240301T110000Z.lpa", p->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("no archive at all", f);
	fclose(f);
	write_killed(p, NOON, 5);
	assert_files(p->dir, "h-20240301T110000Z.lpa h-20240301T120000Z.lpa");
	assert_samples(p->dir, "h-20240301T120000Z.lpa", 5, false);
	assert_int_equal(heard_count(&p->heard, "h-20240301T110000Z.lpa"), 1);
}

static void test_vanished_file(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p);
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	assert_int_equal(unlink(b.file.path), 0);
	assert_int_equal(write_from(&b, "2024-03-01T12:00:05Z", 5, false), 0);
	assert_files(p->dir, "h-20240301T120005Z.lpa");
	assert_samples(p->dir, "h-20240301T120005Z.lpa", 5, false);
	assert_int_equal(heard_count(&p->heard, "is gone"), 1);
	remove_tree(p->dir);
	assert_int_equal(write_from(&b, "2024-03-01T12:00:10Z", 5, false), 0);
	assert_samples(p->dir, "h-20240301T120010Z.lpa", 5, false);
	assert_int_equal(b.file.n_files, 3);
	bench_release(&b);
}

/* Another file at its place, as after a file system was unmounted and another one mounted. */
static void test_replaced_file(void **state)
{
	struct place *p = *state;
	struct bench b;
	char elsewhere[256];

	bench_make(&b, p);
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s/moved", p->dir);
	assert_int_equal(rename(b.file.path, elsewhere), 0);
	assert_int_equal(write_from(&b, "2024-03-01T12:00:05Z", 5, false), 0);
	assert_files(p->dir, "h-20240301T120005Z.lpa moved");
	bench_release(&b);
}

static void test_taken_name(void **state)
{
	struct place *p = *state;
	struct bench b;

	write_killed(p, NOON, 5);
	bench_make(&b, p);
	b.file.resumed = true;
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	assert_files(p->dir, "h-20240301T120000Z.lpa h-20240301T120001Z.lpa");
	bench_release(&b);
}

static void test_rotation_seals_and_expires(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p);
	b.config.keep_age_us = 2 * US_PER_DAY;
	assert_int_equal(write_from(&b, "2024-03-01T00:00:05Z", 5, false), 0);
	assert_int_equal(write_from(&b, "2024-03-02T00:00:05Z", 5, true), 0);
	assert_samples(p->dir, "h-20240301T000005Z.lpa", 5, true);
	assert_int_equal(write_from(&b, "2024-03-03T00:00:05Z", 5, true), 0);
	assert_int_equal(write_from(&b, "2024-03-03T12:00:00Z", 5, false), 0);
	assert_int_equal(write_from(&b, "2024-03-04T00:00:05Z", 5, true), 0);
	assert_int_equal(write_from(&b, "2024-03-05T00:00:05Z", 5, true), 0);
	assert_files(p->dir,
		"h-20240302T000005Z.lpa h-20240303T000005Z.lpa h-20240304T000005Z.lpa "
		"h-20240305T000005Z.lpa");
	bench_release(&b);
}

/* Five seconds of the year 2038 delete nothing, and are reported once. */
static void test_leap_expires_nothing(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p);
	b.config.keep_age_us = 30 * US_PER_DAY;
	for (int day = 1; day <= 5; day++) {
		char time[32];

		snprintf(time, sizeof(time), "2024-03-0%dT00:00:05Z", day);
		assert_int_equal(write_from(&b, time, 5, true), 0);
		snprintf(time, sizeof(time), "2024-03-0%dT23:00:00Z", day);
		assert_int_equal(write_from(&b, time, 5, false), 0);
	}
	assert_int_equal(p->heard.n, 0);
	assert_int_equal(write_from(&b, "2038-01-19T03:14:00Z", 5, true), 0);
	assert_int_equal(heard_count(&p->heard, "until the clock has been right"), 1);
	assert_int_equal(write_from(&b, "2024-03-05T23:00:05Z", 5, true), 0);
	assert_files(p->dir,
		"h-20240301T000005Z.lpa h-20240302T000005Z.lpa h-20240303T000005Z.lpa "
		"h-20240304T000005Z.lpa h-20240305T000005Z.lpa h-20240305T230005Z.lpa "
		"h-20380119T031400Z.lpa");
	bench_release(&b);
}

/* Bytes are watched while a file grows, not only when one begins. */
static void test_bytes_while_writing(void **state)
{
	struct place *p = *state;
	struct bench b;

	write_killed(p, "2024-03-01T00:00:05Z", 90);
	write_killed(p, "2024-03-02T00:00:05Z", 90);
	bench_make(&b, p);
	b.config.keep_bytes = 4096;
	spool_file_tidy(&b.file);
	for (int i = 0; i < 60; i++) {
		char time[32];

		snprintf(time, sizeof(time), "2024-03-02T02:%02d:00Z", i);
		assert_int_equal(write_from(&b, time, 60, false), 0);
	}
	assert_files(p->dir, "h-20240302T000005Z.lpa");
	assert_true(b.file.bytes_written > 4096); /* the current one is never touched */
	bench_release(&b);
}

/* A single file that names too much goes on in another one; and is no worse for being removed. */
static void test_parts(void **state)
{
	struct place *p = *state;
	struct bench b;
	char path[256];

	snprintf(path, sizeof(path), "%s/own.lpa", p->dir);
	bench_make(&b, p);
	b.config.path = path;
	b.config.private = true;
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	assert_int_equal(write_from(&b, "2024-03-01T12:01:00Z", 5, true), 0);
	assert_int_equal(write_from(&b, "2024-03-01T12:02:00Z", 5, false), 0);
	assert_int_equal(write_from(&b, "2024-03-01T12:03:00Z", 5, true), 0);
	spool_file_finish(&b.file);
	bench_release(&b);
	assert_files(p->dir, "own-2.lpa own-3.lpa own.lpa");
	assert_samples(p->dir, "own.lpa", 5, true);
	assert_samples(p->dir, "own-2.lpa", 10, true);
	assert_samples(p->dir, "own-3.lpa", 5, true);
}

/* Names that came and went fill a file. */
static void test_crowded(void **state)
{
	struct place *p = *state;
	struct lp_catalogue *many = fake_catalogue();
	struct lp_err err = {0};
	struct bench b;
	char name[32];
	uint32_t id;

	bench_make(&b, p);
	assert_false(spool_file_crowded(&b.file, b.catalogue)); /* there is none */
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "dm-%u", i);
		assert_int_equal(lp_catalogue_add_component(many, 0, "h", name, "", &id, &err), 0);
	}
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	assert_false(spool_file_crowded(&b.file, b.catalogue));
	assert_int_equal(spool_file_write(&b.file, many, b.batch, &err), 0);
	assert_true(spool_file_crowded(&b.file, b.catalogue));
	assert_false(spool_file_crowded(&b.file, many));
	lp_catalogue_free(many);
	bench_release(&b);
}

/* What is made is the user's alone where that is wanted. */
static void test_private(void **state)
{
	struct place *p = *state;
	struct bench b;
	struct stat st;
	char dir[256];

	snprintf(dir, sizeof(dir), "%s/a/b", p->dir);
	bench_make(&b, p);
	b.config.dir = dir;
	b.config.private = true;
	assert_int_equal(write_from(&b, NOON, 5, false), 0);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(b.file.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	spool_file_finish(&b.file); /* sealed */
	assert_int_equal(stat(b.file.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	bench_release(&b);
}

/* A file with a second name, or that is a link, is not gone on with. */
static void test_resume_linked(void **state)
{
	struct place *p = *state;
	char path[256], other[300];

	write_killed(p, NOON, 5);
	snprintf(path, sizeof(path), "%s/h-20240301T120000Z.lpa", p->dir);
	snprintf(other, sizeof(other), "%s/other", p->dir);
	assert_int_equal(link(path, other), 0);
	write_killed(p, "2024-03-01T12:01:00Z", 5);
	assert_files(p->dir, "h-20240301T120000Z.lpa h-20240301T120100Z.lpa other");
	assert_samples(p->dir, "h-20240301T120100Z.lpa", 5, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_resume_same_day),
		place_test(test_resume_next_day),
		place_test(test_resume_future),
		place_test(test_resume_other_settings),
		place_test(test_resume_after_stop),
		place_test(test_tidy),
		place_test(test_foreign_contents),
		place_test(test_vanished_file),
		place_test(test_replaced_file),
		place_test(test_taken_name),
		place_test(test_rotation_seals_and_expires),
		place_test(test_leap_expires_nothing),
		place_test(test_bytes_while_writing),
		place_test(test_parts),
		place_test(test_crowded),
		place_test(test_private),
		place_test(test_resume_linked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
