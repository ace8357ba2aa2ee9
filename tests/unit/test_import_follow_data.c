/* A directory whose files come, grow, are sealed, renamed and removed: every sample once. */
#include "archive_util.h"

#include "base/time.h"
#include "import/follow_data.h"

DEFINE_CLEANUP(struct follow_data *, follow_data_close);
DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

#define SAMPLES 60
#define SECOND INT64_C(1000000)

static const struct follow_options plain = {0};

static struct follow_data *follow_new(const char *dir, const struct follow_options *o)
{
	struct follow_data *d = NULL;
	struct lp_err err = {0};

	assert_int_equal(follow_data_open(dir, o, &d, &err), 0);
	return d;
}

/* Everything there is now, up to a time. Returns how many samples came. */
static uint32_t take(struct follow_data *d, int64_t until_us, const struct truth *t, uint8_t *seen)
{
	struct follow_item item;
	struct lp_err err = {0};
	uint32_t n = 0;
	int r;

	follow_data_look(d);
	while ((r = follow_data_next(d, until_us, &item, &err)) > 0) {
		assert_int_equal(item.what, FOLLOW_BATCH);
		truth_check_batch(t, item.source->catalogue, item.batch, TRUTH_INTACT, seen);
		n += item.batch->n_samples - item.batch->carry;
	}
	if (r < 0)
		fail_msg("%s", err.text);
	return n;
}

static struct lp_archive_writer *writer_new(const char *path)
{
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};

	if (lp_archive_create(path, &truth_meta, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static void test_life(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, SAMPLES, 0, 3);
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	const char *dir = test_path("life");
	struct lp_archive_writer *a, *b;
	uint8_t seen[SAMPLES] = {0};
	struct lp_err err = {0};

	(void)state;
	d = follow_new(dir, &plain);
	assert_int_equal(take(d, INT64_MAX, t, seen), 0); /* there is no directory */
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(take(d, INT64_MAX, t, seen), 0); /* it is empty */
	a = writer_new(test_path("life/host-1.lpa"));
	truth_write(t, a, 0, 10, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(take(d, INT64_MAX, t, seen), 10);
	/* The next file begins; the last of the one before is read first. */
	truth_write(t, a, 10, 20, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_close(a, &err), 0);
	b = writer_new(test_path("life/host-2.lpa"));
	truth_write(t, b, 20, 30, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(take(d, INT64_MAX, t, seen), 20);
	/* The first is sealed, the second renamed while it grows. */
	assert_int_equal(lp_archive_seal(test_path("life/host-1.lpa"), NULL, &err), 0);
	assert_int_equal(rename(test_path("life/host-2.lpa"), test_path("life/host-3.lpa")), 0);
	assert_int_equal(take(d, INT64_MAX, t, seen), 0);
	truth_write(t, b, 30, 40, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(take(d, INT64_MAX, t, seen), 10);
	/* Sealed while it is open, with samples that were not read yet. */
	truth_write(t, b, 40, 50, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_close(b, &err), 0);
	assert_int_equal(lp_archive_seal(test_path("life/host-3.lpa"), NULL, &err), 0);
	assert_int_equal(take(d, INT64_MAX, t, seen), 10);
	assert_int_equal(follow_data_n_files(d), 2);
	/* It goes on, and the first is removed. */
	assert_int_equal(lp_archive_append(test_path("life/host-3.lpa"), &b, &err), 0);
	truth_write(t, b, 50, 60, 5, LP_ARCHIVE_LOOSE);
	lp_archive_abandon(b);
	assert_int_equal(unlink(test_path("life/host-1.lpa")), 0);
	assert_int_equal(take(d, INT64_MAX, t, seen), 10);
	take(d, INT64_MAX, t, seen);
	assert_int_equal(follow_data_n_files(d), 1);
	for (uint32_t s = 0; s < SAMPLES; s++)
		assert_int_equal(seen[s], 1);
	assert_int_equal(follow_data_interval_us(d), SECOND);
}

/* With a limit, files that overlap in time advance together. */
static void test_together(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, SAMPLES, 0, 3);
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	uint8_t seen[SAMPLES] = {0};
	uint32_t n = 0;

	(void)state;
	assert_int_equal(mkdir(test_path("two"), 0755), 0);
	truth_write_file(t, test_path("two/a-1.lpa"), 5, LP_ARCHIVE_LOOSE, true);
	truth_write_file(t, test_path("two/b-1.lpa"), 5, LP_ARCHIVE_LOOSE, false);
	d = follow_new(test_path("two"), &plain);
	assert_int_equal(take(d, INT64_MIN, t, seen), 0);
	assert_int_equal(follow_data_held_us(d), TRUTH_START);
	assert_int_equal(follow_data_interval_us(d), SECOND);
	for (int64_t s = 0; s < SAMPLES; s += 5) {
		assert_int_equal(take(d, TRUTH_START + (s + 4) * SECOND, t, seen), 10);
		assert_int_equal(follow_data_held_us(d),
			s + 5 < SAMPLES ? TRUTH_START + (s + 5) * SECOND : INT64_MAX);
		n += 10;
	}
	assert_int_equal(n, 2 * SAMPLES);
}

/* A batch is delivered no further than to the limit. */
static void test_within_batch(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, SAMPLES, 0, 3);
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	uint8_t seen[SAMPLES] = {0};

	(void)state;
	assert_int_equal(mkdir(test_path("part"), 0755), 0);
	truth_write_file(t, test_path("part/a-1.lpa"), SAMPLES, LP_ARCHIVE_DENSE, true);
	d = follow_new(test_path("part"), &plain);
	for (int64_t s = 0; s < SAMPLES; s++) {
		assert_int_equal(take(d, TRUTH_START + s * SECOND, t, seen), 1);
		assert_int_equal(follow_data_held_us(d),
			s + 1 < SAMPLES ? TRUTH_START + (s + 1) * SECOND : INT64_MAX);
	}
	for (uint32_t s = 0; s < SAMPLES; s++)
		assert_int_equal(seen[s], 1);
}

/* A file that is not an archive is reported once, and the others continue. */
static void test_bad_file(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, SAMPLES, 0, 3);
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	struct lp_warn warn = {0};
	const struct follow_options o = {.warn = &warn};
	uint8_t seen[SAMPLES] = {0};

	(void)state;
	assert_int_equal(mkdir(test_path("bad"), 0755), 0);
	test_write_file(test_path("bad/a.lpa"), "this is no archive at all", 25);
	test_write_file(test_path("bad/.b.lpa"), "hidden", 6);
	test_write_file(test_path("bad/c.lpa.tmp"), "being sealed", 12);
	truth_write_file(t, test_path("bad/z.lpa"), 5, LP_ARCHIVE_LOOSE, false);
	d = follow_new(test_path("bad"), &o);
	assert_int_equal(take(d, INT64_MAX, t, seen), SAMPLES);
	assert_int_equal(take(d, INT64_MAX, t, seen), 0);
	assert_int_equal(warn.count, 1);
	assert_int_equal(follow_data_n_files(d), 2);
}

/* Foreign files take part in a replay. */
static void test_foreign(void **state)
{
	static const char csv[] = "time,component,metric,value\n"
				  "2011-05-09T00:00:05Z,h1/disk:sda,await,1\n"
				  "2011-05-09T00:00:06Z,h1/disk:sda,await,2\n"
				  "2011-05-09T00:00:07Z,h1/disk:sda,await,3\n";
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	const char *path = test_path("x.csv");
	struct follow_item item;
	struct lp_err err = {0};
	uint32_t n = 0;

	(void)state;
	test_write_file(path, csv, sizeof(csv) - 1);
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(follow_data_open_dataset(ds, &plain, &d, &err), 0);
	assert_int_equal(follow_data_next(d, TRUTH_START - 1, &item, &err), 0);
	assert_int_equal(follow_data_held_us(d), TRUTH_START);
	while (follow_data_next(d, INT64_MAX, &item, &err) > 0)
		n += item.batch->n_samples - item.batch->carry;
	assert_int_equal(n, 3);
	assert_int_equal(follow_data_held_us(d), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_life),
		cmocka_unit_test(test_together), cmocka_unit_test(test_within_batch),
		cmocka_unit_test(test_bad_file), cmocka_unit_test(test_foreign)};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
