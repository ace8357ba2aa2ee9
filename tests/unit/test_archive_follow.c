/* A file that grows is delivered as it grows: every sample once, each as it was written. */
#include "archive_util.h"

#include "archive/follow.h"
#include "archive/frames.h"

DEFINE_CLEANUP(struct follow *, follow_close);

#define SAMPLES 90

/* Everything there is now. Returns how many samples came. */
static uint32_t take(struct follow *f, const struct truth *t, enum truth_mode mode, uint8_t *seen)
{
	struct follow_item item;
	struct lp_err err = {0};
	uint32_t n = 0;
	int r;

	while ((r = follow_next(f, INT64_MAX, &item, &err)) > 0) {
		if (item.what != FOLLOW_BATCH)
			continue;
		truth_check_batch(t, item.source->catalogue, item.batch, mode, seen);
		n += item.batch->n_samples - item.batch->carry;
	}
	if (r < 0)
		fail_msg("%s", err.text);
	return n;
}

static void expect_all_once(const uint8_t *seen, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++)
		assert_int_equal(seen[s], 1);
}

static struct follow *follow_new(const char *path, const struct follow_options *o, int64_t after)
{
	struct follow *f = NULL;
	struct lp_err err = {0};

	if (follow_open(path, o, after, &f, &err) < 0)
		fail_msg("%s", err.text);
	return f;
}

/* A copy that grows by any number of bytes, as rsync or a slow disk would have it. */
static void grow(const char *from, const char *to, const struct truth *t, uint64_t seed)
{
	const struct follow_options o = {0};
	_cleanup_(follow_closep) struct follow *f = NULL;
	_cleanup_free_ char *bytes = NULL;
	_cleanup_close_ int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint8_t seen[SAMPLES] = {0};
	struct lp_err err = {0};
	size_t size, at = 0;

	assert_int_equal(file_slurp(from, 1 << 24, &bytes, &size, &err), 0);
	f = follow_new(to, &o, INT64_MIN);
	while (at < size) {
		size_t n = 1 + random_next(&seed) % (random_chance(&seed, 3) ? 2000 : 60);

		n = at + n > size ? size - at : n;
		assert_int_equal(write(fd, bytes + at, n), n);
		at += n;
		take(f, t, TRUTH_EXACT, seen);
	}
	expect_all_once(seen, SAMPLES);
	assert_int_equal(follow_n_damaged(f), 0);
}

static void test_grows_by_bytes(void **state)
{
	_cleanup_(truth_freep) struct truth *t =
		truth_new(7, SAMPLES, TRUTH_MISSING | TRUTH_HOTPLUG | TRUTH_EXTREME, 3);

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		truth_write_file(t, test_path("w"), form & 1 ? 40 : 7, form & 1, form & 2);
		for (uint64_t seed = 1; seed < 4; seed++)
			grow(test_path("w"), test_path("g"), t, seed * 31 + form);
	}
}

/* The writer closes, goes on, is killed in a frame, goes on: nothing is lost or comes twice. */
static void test_writer_comes_and_goes(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, SAMPLES, TRUTH_MISSING, 4);
	_cleanup_(follow_closep) struct follow *f = NULL;
	const struct follow_options o = {0};
	struct lp_archive_writer *w;
	uint8_t seen[SAMPLES] = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_create(test_path("c"), &truth_meta, &w, &err), 0);
	f = follow_new(test_path("c"), &o, INT64_MIN);
	for (uint32_t s = 0; s < SAMPLES; s += 10) {
		truth_write(t, w, s, s + 5, 5, LP_ARCHIVE_LOOSE);
		assert_int_equal(take(f, t, TRUTH_INTACT, seen), 5);
		if (s % 20) {
			assert_int_equal(lp_archive_close(w, &err), 0);
			assert_int_equal(take(f, t, TRUTH_INTACT, seen), 0);
			assert_true(follow_closed(f));
		} else {
			struct stat st;

			lp_archive_abandon(w);
			/* A part of a frame that will never be finished. */
			assert_int_equal(stat(test_path("c"), &st), 0);
			assert_int_equal(truncate(test_path("c"), st.st_size + 30), 0);
			assert_int_equal(take(f, t, TRUTH_INTACT, seen), 0);
		}
		assert_int_equal(lp_archive_append(test_path("c"), &w, &err), 0);
		truth_write(t, w, s + 5, s + 10, 5, LP_ARCHIVE_LOOSE);
		assert_int_equal(take(f, t, TRUTH_INTACT, seen), 5);
		assert_false(follow_closed(f));
	}
	lp_archive_abandon(w);
	expect_all_once(seen, SAMPLES);
}

/* A sealed file replaces the other one: reading continues after the delivered samples, even in the
 * middle of a dense frame. */
static void test_sealed(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, SAMPLES, TRUTH_HOTPLUG, 5);
	const struct follow_options o = {0};

	(void)state;
	for (uint32_t before = 0; before <= SAMPLES; before += 15) {
		_cleanup_(follow_closep) struct follow *f = NULL;
		struct lp_archive_writer *w;
		uint8_t seen[SAMPLES] = {0};
		struct lp_err err = {0};

		unlink(test_path("s"));
		assert_int_equal(lp_archive_create(test_path("s"), &truth_meta, &w, &err), 0);
		f = follow_new(test_path("s"), &o, INT64_MIN);
		truth_write(t, w, 0, before, 5, LP_ARCHIVE_LOOSE);
		take(f, t, TRUTH_EXACT, seen);
		truth_write(t, w, before, SAMPLES, 5, LP_ARCHIVE_LOOSE);
		assert_int_equal(lp_archive_close(w, &err), 0);
		assert_int_equal(lp_archive_seal(test_path("s"), NULL, &err), 0);
		if (before) {
			int64_t after = follow_delivered_us(f);

			follow_close(f);
			f = follow_new(test_path("s"), &o, after);
		} else {
			take(f, t, TRUTH_EXACT, seen);
		}
		take(f, t, TRUTH_EXACT, seen);
		expect_all_once(seen, SAMPLES);
	}
}

/* Damage in the middle is skipped and reported; what follows is delivered. */
static void test_damage(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, SAMPLES, 0, 6);
	_cleanup_(follow_closep) struct follow *f = NULL;
	struct lp_warn warn = {0};
	const struct follow_options o = {.warn = &warn};
	_cleanup_close_ int fd = -1;
	uint8_t seen[SAMPLES] = {0};
	struct stat st;

	(void)state;
	truth_write_file(t, test_path("d"), 10, LP_ARCHIVE_LOOSE, true);
	fd = open(test_path("d"), O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "damaged", 7, st.st_size / 3), 7);
	f = follow_new(test_path("d"), &o, INT64_MIN);
	assert_in_range(take(f, t, TRUTH_INTACT, seen), SAMPLES - 20, SAMPLES - 1);
	assert_int_equal(follow_n_damaged(f), 1);
	assert_int_equal(warn.count, 1);
}

/* From a time on, and up to a time. */
static void test_times(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, SAMPLES, 0, 7);
	_cleanup_(follow_closep) struct follow *f = NULL;
	const struct follow_options o = {.from_us = TRUTH_START + 34 * INT64_C(1000000)};
	struct follow_item item;
	struct lp_err err = {0};
	uint32_t n = 0;

	(void)state;
	truth_write_file(t, test_path("t"), 10, LP_ARCHIVE_LOOSE, false);
	f = follow_new(test_path("t"), &o, INT64_MIN);
	while (follow_next(f, TRUTH_START + 55 * INT64_C(1000000), &item, &err) > 0) {
		assert_in_range(item.batch->wall_us[1], TRUTH_START + 30 * INT64_C(1000000),
			TRUTH_START + 50 * INT64_C(1000000));
		n += item.batch->n_samples - item.batch->carry;
	}
	assert_int_equal(n, 30);
	assert_int_equal(follow_held_us(f), TRUTH_START + 60 * INT64_C(1000000));
	while (follow_next(f, INT64_MAX, &item, &err) > 0)
		n += item.batch->n_samples - item.batch->carry;
	assert_int_equal(n, 60);
	assert_int_equal(follow_held_us(f), INT64_MAX);
	assert_string_equal(follow_meta(f, "site"), "lab");
	assert_int_equal(follow_interval_us(f), 1000000);
	assert_string_equal(item.observer, "host");
}

#define AT(seconds) (TRUTH_START + (seconds)*INT64_C(1000000))

static void log_write(struct lp_archive_writer *w, const char *name, int from_s, int to_s)
{
	static const struct lp_log_field field = {"start", "ns since 1970", LP_LOG_INT};
	const int64_t ns = AT(from_s) * 1000, *const ints[] = {&ns};
	const struct lp_log_text *const texts[] = {NULL};
	const struct lp_log log = {.name = name,
		.fields = &field,
		.n_fields = 1,
		.first_us = AT(from_s),
		.last_us = AT(to_s),
		.n_records = 1,
		.ints = ints,
		.texts = texts};
	struct lp_err err = {0};

	assert_int_equal(lp_archive_write_log(w, &log, &err), 0);
}

/* A sealed file has one log after the other, behind all samples: none comes later than the samples
 * of its time. */
static void test_logs_by_time(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, SAMPLES, 0, 6);
	_cleanup_(follow_closep) struct follow *f = NULL;
	const struct follow_options o = {0};
	struct lp_archive_writer *w;
	struct follow_item item;
	struct lp_err err = {0};
	int begins[SAMPLES / 10 + 1] = {0}, n = 0;

	(void)state;
	assert_int_equal(lp_archive_create(test_path("l"), &truth_meta, &w, &err), 0);
	truth_write(t, w, 0, SAMPLES, 5, LP_ARCHIVE_LOOSE);
	log_write(w, "third", 60, 70);
	log_write(w, "first", 12, 80);
	log_write(w, "second", 41, 42);
	assert_int_equal(lp_archive_close(w, &err), 0);
	f = follow_new(test_path("l"), &o, INT64_MIN);
	for (int s = 0; s <= SAMPLES; s += 10) {
		while (follow_next(f, AT(s), &item, &err) > 0) {
			if (item.what != FOLLOW_LOG)
				continue;
			/* A frame of samples may begin before and end after this time. */
			assert_in_range(item.log->first_us, AT(s - 10) + 1, AT(s + 4));
			assert_string_equal(item.observer, "host");
			begins[s / 10]++;
			n++;
		}
		assert_true(follow_held_us(f) > AT(s));
		assert_int_equal(follow_closed(f), s >= SAMPLES);
	}
	assert_int_equal(n, 3);
	assert_true(begins[1] == 1 && begins[4] == 1 && begins[6] == 1);
}

/* The bytes of a file that its writer has in memory, because the disk is full. */
struct unwritten {
	const char *bytes;
	uint64_t from, to;
};

static size_t unwritten_peek(void *ctx, const char *path, uint64_t offset, void *buf, size_t size)
{
	const struct unwritten *u = ctx;
	uint64_t n = offset >= u->from && offset < u->to ? u->to - offset : 0;

	assert_string_equal(path, test_path("u"));
	n = n < size ? n : size;
	memcpy(buf, u->bytes + offset, n);
	return n;
}

/* Frames that could not be written are delivered from memory, and not once more from the file when
 * it has them; also if the memory is empty before that. */
static void test_unwritten(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, SAMPLES, TRUTH_MISSING, 8);
	_cleanup_free_ char *bytes = NULL;
	struct lp_err err = {0};
	size_t size;

	(void)state;
	truth_write_file(t, test_path("w"), 5, false, false);
	assert_int_equal(file_slurp(test_path("w"), 1 << 24, &bytes, &size, &err), 0);
	for (int forgets = 0; forgets < 2; forgets++) {
		struct unwritten u = {.bytes = bytes};
		const struct follow_options o = {.peek = unwritten_peek, .peek_ctx = &u};
		_cleanup_(follow_closep) struct follow *f = NULL;
		_cleanup_close_ int fd =
			open(test_path("u"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		uint8_t seen[SAMPLES] = {0};
		struct frame frame;
		uint32_t n = 0;

		f = follow_new(test_path("u"), &o, INT64_MIN);
		u.to = FILE_HEADER_SIZE;
		while (u.to + FRAME_HEADER_SIZE <= size &&
			format_get_frame((const uint8_t *)bytes + u.to, &frame)) {
			frame.offset = u.to;
			u.to = frame_end(&frame);
			/* The file gets what is there after every fourth frame. */
			if (n++ % 4 == 3) {
				assert_int_equal(
					pwrite(fd, bytes + u.from, u.to - u.from, (off_t)u.from),
					u.to - u.from);
				u.from = u.to;
			} else if (n == 1) {
				assert_int_equal(pwrite(fd, bytes, u.to, 0), u.to);
				u.from = u.to;
			}
			take(f, t, forgets ? TRUTH_INTACT : TRUTH_EXACT, seen);
			if (forgets && n % 4 == 2) {
				uint64_t to = u.to;

				u.to = u.from;
				take(f, t, forgets ? TRUTH_INTACT : TRUTH_EXACT, seen);
				u.to = to;
			}
		}
		assert_int_equal(pwrite(fd, bytes, size, 0), size);
		u.from = u.to;
		take(f, t, forgets ? TRUTH_INTACT : TRUTH_EXACT, seen);
		expect_all_once(seen, SAMPLES);
		assert_int_equal(follow_n_damaged(f), 0);
	}
}

static void test_no_archive(void **state)
{
	_cleanup_(follow_closep) struct follow *f = NULL;
	const struct follow_options o = {0};
	struct follow_item item;
	struct lp_err err = {0};
	_cleanup_close_ int fd = open(test_path("n"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)state;
	f = follow_new(test_path("n"), &o, INT64_MIN);
	assert_int_equal(follow_next(f, INT64_MAX, &item, &err), 0);
	assert_int_equal(write(fd, "this is no archive, sorry", 25), 25);
	assert_int_equal(follow_next(f, INT64_MAX, &item, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "not a limpet archive"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_grows_by_bytes),
		cmocka_unit_test(test_writer_comes_and_goes), cmocka_unit_test(test_sealed),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_times),
		cmocka_unit_test(test_logs_by_time), cmocka_unit_test(test_unwritten),
		cmocka_unit_test(test_no_archive)};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
