#include "archive_util.h"

#include "archive/frames.h"
#include "base/bytes.h"
#include "base/crc32c.h"

/* A small file in memory that is damaged in many ways. */
struct image {
	uint8_t *bytes;
	size_t size;
	int fd;
	char path[40];
};

static void image_release(struct image *im)
{
	free(im->bytes);
	close(im->fd);
}

static void image_put(const struct image *im, const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(im->fd, (off_t)size), 0);
	assert_int_equal(file_pwrite_full(im->fd, bytes, size, 0), 0);
}

enum form { FORM_LOOSE, FORM_CLOSED, FORM_SEALED };

static struct image image_make(const struct truth *t, enum form form, uint32_t step)
{
	struct image im = {.fd = memfd_create("image", MFD_CLOEXEC)};
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	snprintf(im.path, sizeof(im.path), "/proc/self/fd/%d", im.fd);
	unlink(test_path("image"));
	assert_int_equal(lp_archive_create(test_path("image"), &truth_meta, &w, &err), 0);
	truth_write(t, w, 0, t->n_samples, step, LP_ARCHIVE_LOOSE);
	assert_int_equal(lp_archive_write_event(w, TRUTH_START, "kind=test", &err), 0);
	if (form == FORM_LOOSE)
		lp_archive_abandon(w);
	else
		assert_int_equal(lp_archive_close(w, &err), 0);
	if (form == FORM_SEALED)
		assert_int_equal(lp_archive_seal(test_path("image"), NULL, &err), 0);
	im.bytes = test_read_file(test_path("image"), &im.size);
	image_put(&im, im.bytes, im.size);
	return im;
}

static int event_equal(void *ctx, int64_t wall_us, const char *text)
{
	assert_int_equal(wall_us, TRUTH_START);
	assert_string_equal(text, "kind=test");
	++*(unsigned *)ctx;
	return 0;
}

struct outcome {
	bool told;	    /* an error or a warning */
	uint32_t n_samples; /* that were read, and were right */
	unsigned n_events;
};

/* Read the rest of a file: all results must be right. */
static struct outcome image_read(const struct truth *t, const char *path, enum truth_mode mode)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	struct outcome out = {0};
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	int r = lp_archive_open(path, NULL, &warn, &source, &err);

	if (r == 0) {
		out.n_samples = truth_check_source(t, source, mode, &r);
		if (lp_archive_events(source, event_equal, &out.n_events, &err) < 0)
			out.told = true;
	}
	out.told |= r < 0 || warn.count;
	return out;
}

static int image_check(const char *path, unsigned long *ret_warnings)
{
	struct lp_archive_report report;
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	int r = lp_archive_check(path, NULL, &warn, &report, &err);

	*ret_warnings = warn.count;
	return r;
}

/* Flip every bit of every byte: it is reported, or everything is read as before; a check always
 * reports it.
 */
static void flip_all(const struct truth *t, enum form form)
{
	_cleanup_(image_release) struct image im = image_make(t, form, 4);
	unsigned long warnings;

	assert_int_equal(image_check(im.path, &warnings), 0);
	assert_int_equal(warnings, 0);
	for (size_t bit = 0; bit < im.size * 8; bit++) {
		uint8_t flipped = (uint8_t)(im.bytes[bit / 8] ^ (1u << (bit % 8)));
		struct outcome out;
		int r;

		assert_int_equal(pwrite(im.fd, &flipped, 1, (off_t)(bit / 8)), 1);
		out = image_read(t, im.path, TRUTH_INTACT);
		if (!out.told) {
			out = image_read(t, im.path, TRUTH_EXACT);
			if (out.n_samples != t->n_samples || out.n_events != 1)
				fail_msg("bit %zu of byte %zu flipped: not told", bit % 8, bit / 8);
		}
		r = image_check(im.path, &warnings);
		if (r == 0 && !warnings)
			fail_msg("bit %zu of byte %zu flipped: check is content", bit % 8, bit / 8);
		assert_int_equal(pwrite(im.fd, &im.bytes[bit / 8], 1, (off_t)(bit / 8)), 1);
	}
}

static void test_flip_loose(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 12, TRUTH_MISSING, 1);

	(void)state;
	flip_all(t, FORM_LOOSE);
}

static void test_flip_closed(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 8, TRUTH_HOTPLUG, 2);

	(void)state;
	flip_all(t, FORM_CLOSED);
}

static void test_flip_sealed(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 20, TRUTH_ALL & ~TRUTH_STEPPING, 3);

	(void)state;
	flip_all(t, FORM_SEALED);
}

/* Cut the file at every byte. */
static void test_truncation(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 24, TRUTH_MISSING, 4);

	(void)state;
	for (enum form form = FORM_LOOSE; form <= FORM_SEALED; form++) {
		_cleanup_(image_release) struct image im = image_make(t, form, 4);
		uint32_t most = 0;

		for (size_t size = 0; size < im.size; size++) {
			struct outcome out;
			unsigned long warnings;

			image_put(&im, im.bytes, size);
			out = image_read(t, im.path, TRUTH_EXACT);
			assert_true(out.n_samples >= most); /* nothing whole is lost */
			most = out.n_samples;
			if (size < FILE_HEADER_SIZE)
				assert_true(out.told);
			image_check(im.path, &warnings);
		}
		assert_int_equal(most, 24);
	}
}

static struct frame_list image_frames(const struct image *im)
{
	struct frame_list frames = {0};
	struct lp_err err = {0};

	assert_int_equal(frame_list_load(im->fd, &frames, &err), 0);
	return frames;
}

static size_t nth_data_frame(const struct frame_list *l, unsigned n)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].type == FRAME_DATA && n-- == 0)
			return i;
	}
	fail_msg("too few frames");
	return 0;
}

/* All warnings of a check, one a line. */
static char warnings_text[8192];

static void keep_warning(void *ctx, const char *text)
{
	size_t len = strlen(warnings_text);

	(void)ctx;
	snprintf(warnings_text + len, sizeof(warnings_text) - len, "%s\n", text);
}

/* Damage `n` bytes at `offset`, check and repair; the repaired file must be clean and have
 * `n_samples` samples, all right. */
static void damage_and_repair(const struct truth *t, const struct image *im, uint64_t offset,
	size_t n, uint32_t n_samples, const char *message)
{
	const char *repaired = test_path("repaired");
	struct lp_warn warn = {.warn = keep_warning};
	struct lp_archive_report report;
	struct lp_err err = {0};
	struct outcome out;
	uint8_t zeroes[256] = {0};

	warnings_text[0] = '\0';
	image_put(im, im->bytes, im->size);
	assert_true(n <= sizeof(zeroes));
	assert_int_equal(pwrite(im->fd, zeroes, n, (off_t)offset), n);
	unlink(repaired);
	assert_int_equal(lp_archive_check(im->path, repaired, &warn, &report, &err), -EBADMSG);
	assert_true(report.n_damaged >= 1);
	assert_true(report.damaged_bytes >= n);
	assert_int_equal(report.size_bytes, im->size);
	assert_non_null(strstr(warnings_text, message));
	warn = (struct lp_warn){0};
	assert_int_equal(lp_archive_check(repaired, NULL, &warn, &report, &err), 0);
	assert_true(report.sealed);
	assert_int_equal(report.n_samples, n_samples);
	out = image_read(t, repaired, TRUTH_INTACT);
	assert_int_equal(out.n_samples, n_samples);
	assert_int_equal(out.n_events, 1);
}

static void test_repair(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 40, 0, 5);

	(void)state;
	for (enum form form = FORM_LOOSE; form <= FORM_SEALED; form++) {
		_cleanup_(image_release) struct image im =
			image_make(t, form, form == FORM_SEALED ? 40 : 4);
		_cleanup_(frame_list_release) struct frame_list l = image_frames(&im);
		size_t first = nth_data_frame(&l, 0);
		uint32_t lost = l.items[first].n_samples;
		char bytes[64];

		snprintf(bytes, sizeof(bytes), "bytes %zu-%zu", (size_t)l.items[first].offset,
			(size_t)frame_end(&l.items[first]) - 1);
		damage_and_repair(
			t, &im, l.items[first].offset + FRAME_HEADER_SIZE + 9, 8, 40 - lost, bytes);
		damage_and_repair(t, &im, 0, 16, 40, "bytes 0-15");
		if (form == FORM_LOOSE)
			continue;
		damage_and_repair(t, &im, l.items[first].offset, 44, 40, "damaged");
		damage_and_repair(t, &im, l.end + FRAME_HEADER_SIZE, 8, 40, "damaged");
		damage_and_repair(t, &im, im.size - TRAILER_SIZE, 16, 40, "damaged");
		damage_and_repair(t, &im, l.end, 44, 40, "damaged");
	}
}

/* The message about a lost frame names its seconds. */
static void test_messages(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 24, 0, 6);
	_cleanup_(image_release) struct image im = image_make(t, FORM_SEALED, 4);
	_cleanup_(frame_list_release) struct frame_list l = image_frames(&im);
	size_t frame = nth_data_frame(&l, 0);
	struct lp_warn warn = {.warn = keep_warning};
	struct lp_archive_report report;
	struct lp_err err = {0};
	uint8_t byte = (uint8_t)~im.bytes[frame_end(&l.items[frame]) - 1];

	(void)state;
	pwrite(im.fd, &byte, 1, (off_t)frame_end(&l.items[frame]) - 1);
	assert_int_equal(lp_archive_check(im.path, NULL, &warn, &report, &err), -EBADMSG);
	assert_non_null(strstr(warnings_text,
		"24 samples from 2011-05-09T00:00:05Z to 2011-05-09T00:00:28Z are lost"));
	assert_non_null(strstr(err.text, "is damaged ("));
}

/* The only copy of the catalogue so far is lost, then a later one turns up. */
static void test_lost_catalogue(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 40, 0, 7);
	_cleanup_(image_release) struct image im = image_make(t, FORM_LOOSE, 4);
	_cleanup_(frame_list_release) struct frame_list l = image_frames(&im);
	uint8_t zeroes[100] = {0};
	struct outcome out;

	(void)state;
	assert_int_equal(l.items[0].type, FRAME_CATALOGUE);
	pwrite(im.fd, zeroes, 100, (off_t)l.items[0].offset);
	out = image_read(t, im.path, TRUTH_EXACT);
	assert_int_equal(out.n_samples, 40);
	assert_true(out.told);
	/* Without any copy there is nothing to read, and that is reported. */
	image_put(&im, im.bytes, frame_end(&l.items[nth_data_frame(&l, 2)]));
	pwrite(im.fd, zeroes, 100, (off_t)l.items[0].offset);
	out = image_read(t, im.path, TRUTH_EXACT);
	assert_int_equal(out.n_samples, 0);
	assert_true(out.told);
}

/* Nothing is lost with a catalogue of which there is another copy. The file is damaged all the
 * same, which is reported at its end. */
static void test_damaged_catalogue(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 40, 0, 7);
	_cleanup_(image_release) struct image im = image_make(t, FORM_LOOSE, 4);
	_cleanup_(frame_list_release) struct frame_list l = image_frames(&im);
	struct lp_warn warn = {.warn = keep_warning};
	struct lp_source *source;
	struct lp_batch *batch;
	struct lp_err err = {0};
	int r;

	(void)state;
	assert_int_equal(l.items[0].type, FRAME_CATALOGUE);
	im.bytes[l.items[0].offset + FRAME_HEADER_SIZE + 5] ^= 0x40;
	image_put(&im, im.bytes, im.size);
	warnings_text[0] = '\0';
	assert_int_equal(lp_archive_open(im.path, NULL, &warn, &source, &err), 0);
	assert_non_null(strstr(warnings_text, im.path));
	assert_non_null(strstr(warnings_text, "the catalogue at byte"));
	while ((r = lp_source_next(source, &batch, &err)) > 0)
		;
	assert_int_equal(r, -EBADMSG);
	assert_non_null(strstr(err.text, "is damaged; its intact part was read"));
	lp_source_close(source);
}

static void expect_refusal(const struct image *im, int code, const char *text)
{
	struct lp_source *source;
	struct lp_archive_report report;
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	assert_int_equal(lp_archive_open(im->path, NULL, NULL, &source, &err), code);
	assert_non_null(strstr(err.text, text));
	assert_int_equal(lp_archive_check(im->path, NULL, NULL, &report, &err), code);
	assert_non_null(strstr(err.text, text));
	assert_int_equal(lp_archive_append(im->path, &w, &err), code);
	assert_non_null(strstr(err.text, text));
}

static void test_not_ours(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(1, 4, 0, 8);
	_cleanup_(image_release) struct image im = image_make(t, FORM_LOOSE, 4);

	(void)state;
	put_u16(im.bytes + 8, 2);
	put_u16(im.bytes + 10, 0);
	put_u32(im.bytes + 12, crc32c(0, im.bytes, 12));
	image_put(&im, im.bytes, im.size);
	expect_refusal(&im, -EPROTONOSUPPORT, "2.0 is newer");
	image_put(&im, "", 0);
	expect_refusal(&im, -EBADMSG, "empty");
	image_put(&im, "time,component,metric,value\n", 28);
	expect_refusal(&im, -EBADMSG, "not a limpet archive");
}

/* Frames of types that do not exist yet are skipped. */
static void test_unknown_frames(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(3, 12, 0, 9);
	_cleanup_(image_release) struct image im = image_make(t, FORM_LOOSE, 4);
	_cleanup_(frame_list_release) struct frame_list l = image_frames(&im);
	size_t at = l.items[nth_data_frame(&l, 1)].offset;
	struct frame future = {.type = 77, .payload_size = 10, .head_size = 4};
	_cleanup_free_ uint8_t *bytes = calloc(1, im.size + 54);
	struct outcome out;
	unsigned long warnings;

	(void)state;
	memcpy(bytes, im.bytes, at);
	future.head_crc = crc32c(0, bytes + at + FRAME_HEADER_SIZE, 4);
	format_put_frame(bytes + at, &future);
	memcpy(bytes + at + 54, im.bytes + at, im.size - at);
	put_u16(bytes + 10, 3); /* minor version */
	put_u32(bytes + 12, crc32c(0, bytes, 12));
	image_put(&im, bytes, im.size + 54);
	out = image_read(t, im.path, TRUTH_EXACT);
	assert_false(out.told);
	assert_int_equal(out.n_samples, 12);
	assert_int_equal(image_check(im.path, &warnings), 0);
	assert_int_equal(warnings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flip_loose),
		cmocka_unit_test(test_flip_closed),
		cmocka_unit_test(test_flip_sealed),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_lost_catalogue),
		cmocka_unit_test(test_damaged_catalogue),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_unknown_frames),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
