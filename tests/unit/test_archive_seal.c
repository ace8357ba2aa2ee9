#include "archive_util.h"

#include "archive/frames.h"

static struct frame_list frames_of(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY);
	struct frame_list l = {0};
	struct lp_err err = {0};

	assert_int_equal(frame_list_load(fd, &l, &err), 0);
	return l;
}

/* Every sample stays, bit for bit; all data frames are dense ones. */
static void test_keeps_samples(void **state)
{
	static const unsigned features[] = {0, TRUTH_ALL, TRUTH_HOTPLUG, TRUTH_MISSING, TRUTH_IDLE};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(features) * 2; i++) {
		_cleanup_(truth_freep) struct truth *t = truth_new(i + 1, 1400, features[i / 2], i);
		_cleanup_(frame_list_release) struct frame_list l = {0};
		struct lp_err err = {0};

		truth_write_file(t, test_path("s"), 10 + i, LP_ARCHIVE_LOOSE, i & 1);
		assert_int_equal(lp_archive_seal(test_path("s"), NULL, &err), 0);
		truth_check_file(t, test_path("s"), 1400);
		l = frames_of(test_path("s"));
		assert_true(l.sealed);
		assert_true(l.n < 10);
		for (size_t k = 0; k < l.n; k++)
			assert_false(
				l.items[k].type == FRAME_DATA && l.items[k].flags & FRAME_PACKED);
	}
}

static int count_event(void *ctx, int64_t wall_us, const char *text)
{
	unsigned *n = ctx;
	char want[16];

	snprintf(want, sizeof(want), "n=%u", *n);
	assert_string_equal(text, want);
	assert_int_equal(wall_us, *n);
	++*n;
	return 0;
}

static void test_keeps_the_rest(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 30, 0, 1);
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	struct stat st;
	unsigned n = 0;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("r"), &truth_meta, &w, &err), 0);
	assert_int_equal(lp_archive_write_event(w, 0, "n=0", &err), 0);
	truth_write(t, w, 0, 15, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_write_event(w, 1, "n=1", &err), 0);
	lp_archive_abandon(w);
	chmod(test_path("r"), 0600);
	assert_int_equal(lp_archive_seal(test_path("r"), NULL, &err), 0);
	/* Go on, seal again, and once more. */
	assert_int_equal(lp_archive_append(test_path("r"), &w, &err), 0);
	truth_write(t, w, 15, 30, 5, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_write_event(w, 2, "n=2", &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
	assert_int_equal(lp_archive_seal(test_path("r"), NULL, &err), 0);
	assert_int_equal(lp_archive_seal(test_path("r"), NULL, &err), 0);
	truth_check_file(t, test_path("r"), 30);
	assert_int_equal(lp_archive_open(test_path("r"), NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_archive_events(s, count_event, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(lp_archive_meta_get(s, "site"), "lab");
	assert_string_equal(lp_archive_meta_get(s, "observer"), "host");
	assert_int_equal(stat(test_path("r"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(access(test_path("r.tmp"), F_OK), -1);
}

/* A catalogue without samples is worth keeping, too. */
static void test_no_samples(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 1, 0, 2);
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_batch nothing = {0};
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_create(test_path("n"), &truth_meta, &w, &err), 0);
	assert_int_equal(lp_archive_write(w, t->catalogue, &nothing, LP_ARCHIVE_LOOSE, &err), 0);
	lp_archive_abandon(w);
	assert_int_equal(lp_archive_seal(test_path("n"), NULL, &err), 0);
	assert_int_equal(lp_archive_open(test_path("n"), NULL, NULL, &s, &err), 0);
	assert_int_equal(s->catalogue->n_components, 3);
}

/* A damaged file is not sealed: it does not change, so that it can be repaired. */
static void test_damaged(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 30, 0, 3);
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_free_ uint8_t *before = NULL, *after = NULL;
	_cleanup_close_ int fd = -1;
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	size_t size, size_after;

	(void)state;
	truth_write_file(t, test_path("x"), 5, LP_ARCHIVE_LOOSE, false);
	l = frames_of(test_path("x"));
	fd = open(test_path("x"), O_RDWR);
	assert_int_equal(pwrite(fd, "damage", 6, (off_t)l.items[2].offset + 60), 6);
	before = test_read_file(test_path("x"), &size);
	assert_int_equal(lp_archive_seal(test_path("x"), &warn, &err), -EBADMSG);
	assert_true(warn.count > 0);
	after = test_read_file(test_path("x"), &size_after);
	assert_int_equal(size, size_after);
	assert_memory_equal(before, after, size);
	assert_int_equal(access(test_path("x.tmp"), F_OK), -1);
	assert_int_equal(lp_archive_seal(test_path("nowhere"), &warn, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_samples),
		cmocka_unit_test(test_keeps_the_rest),
		cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
