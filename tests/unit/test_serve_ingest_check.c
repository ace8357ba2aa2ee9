#include "serve/ingest_check.h"

#include "archive/frames.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "spool_util.h"
#include "temp_dir.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdlib.h>
#include <string.h>

/* The frames of a small archive of observer "h", without the file header. */
static uint8_t *frames_make(size_t *ret_size)
{
	const struct lp_archive_meta meta = {.observer = "h", .interval_us = 1000000};
	struct lp_catalogue *c = fake_catalogue();
	struct lp_batch *b = lp_batch_new(4);
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	const char *path = temp_path("x.lpa");
	char *bytes;
	uint8_t *frames;
	size_t size;

	assert_int_equal(lp_archive_create(path, &meta, &w, &err), 0);
	fake_sample(b, 1000000);
	fake_sample(b, 2000000);
	assert_int_equal(lp_archive_write(w, c, b, LP_ARCHIVE_LOOSE, &err), 0);
	assert_int_equal(lp_archive_write_event(w, 2000000, "kind=test", &err), 0);
	lp_archive_abandon(w);
	assert_int_equal(file_slurp(path, 1 << 20, &bytes, &size, &err), 0);
	unlink(path);
	*ret_size = size - FILE_HEADER_SIZE;
	frames = malloc(*ret_size);
	memcpy(frames, bytes + FILE_HEADER_SIZE, *ret_size);
	free(bytes);
	lp_batch_free(b);
	lp_catalogue_free(c);
	return frames;
}

static enum ingest_refusal check(const uint8_t *p, size_t size, const char *who)
{
	struct ingest_summary s;
	struct lp_err err = {0};
	enum ingest_refusal no = ingest_check(p, size, who, 0, &s, &err);

	assert_int_equal(no == INGEST_FINE, err.code == 0);
	return no;
}

static void test_sound(void **state)
{
	size_t size;
	uint8_t *p = frames_make(&size);
	struct ingest_summary s = {0};

	(void)state;
	assert_int_equal(ingest_check(p, size, "h", 0, &s, NULL), INGEST_FINE);
	assert_int_equal(s.n_frames, 3);
	assert_int_equal(s.n_samples, 2);
	assert_int_equal(s.first_us, 1000000);
	assert_int_equal(s.last_us, 2000000);
	assert_int_not_equal(s.sum, 0);
	assert_int_equal(check(p, 0, "h"), INGEST_FINE);
	assert_int_equal(check(p, size, "other"), INGEST_WRONG_NAME);
	free(p);
}

/* Whatever byte is changed, and wherever it is cut, it is refused. */
static void test_damaged(void **state)
{
	size_t size, ends = 0;
	uint8_t *p = frames_make(&size);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		p[i] ^= 0x40;
		assert_int_not_equal(check(p, size, "h"), INGEST_FINE);
		p[i] ^= 0x40;
		ends += check(p, i, "h") == INGEST_FINE;
	}
	assert_int_equal(ends, 3); /* nothing, and behind the first two frames */
	free(p);
}

/* A frame whose header says something, with checksums that are right. */
static enum ingest_refusal check_made(uint8_t type, uint8_t flags, const void *payload, size_t size)
{
	struct frame f = {.type = type,
		.flags = flags,
		.payload_size = (uint32_t)size,
		.head_size = (uint32_t)size,
		.head_crc = crc32c(0, payload, size),
		.n_samples = 1};
	uint8_t *bytes = calloc(1, FRAME_HEADER_SIZE + size);
	enum ingest_refusal no;

	format_put_frame(bytes, &f);
	memcpy(bytes + FRAME_HEADER_SIZE, payload, size);
	no = check(bytes, FRAME_HEADER_SIZE + size, "h");
	free(bytes);
	return no;
}

static void test_made(void **state)
{
	/* One chunk of no bytes that claims to unfold to 2^28, and to 2^20. */
	static const uint8_t bomb[] = {1, 0, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0, 0, 0};
	static const uint8_t large[] = {1, 0, 0x80, 0x80, 0x40, 0, 0, 0, 0};
	uint8_t *text = calloc(1, EVENT_MAX + 1);

	(void)state;
	assert_int_equal(check_made(FRAME_INDEX, 0, "", 0), INGEST_BAD_FRAME);
	assert_int_equal(check_made(77, 0, "", 0), INGEST_BAD_FRAME);
	assert_int_equal(check_made(FRAME_EVENT, 0, text, EVENT_MAX), INGEST_FINE);
	assert_int_equal(check_made(FRAME_EVENT, 0, text, EVENT_MAX + 1), INGEST_BAD_FRAME);
	assert_int_equal(check_made(FRAME_CATALOGUE, 0, "\0\5abc", 5), INGEST_BAD_FRAME);
	assert_int_equal(check_made(FRAME_DATA, FRAME_PACKED, bomb, sizeof(bomb)), INGEST_BOMB);
	assert_int_equal(check_made(FRAME_DATA, 0, bomb, sizeof(bomb)), INGEST_BOMB);
	assert_int_equal(check_made(FRAME_DATA, FRAME_PACKED, large, sizeof(large)), INGEST_FINE);
	free(text);
}

static void test_names(void **state)
{
	static const char *const wrong[] = {"h.lpa", "h-20261117T065509Z", "h-20261117T065509Z.txt",
		"h-syscall-20261117T065509Z.lpa", "h--20261117T065509Z.lpa",
		"g-20261117T065509Z.lpa", "h-20269917T065509Z.lpa", "h-2026-11-17T065509.lpa", "",
		"h-x/20261117T065509Z.lpa", "h2-20261117T065509Z.lpa", "../h-20261117T065509Z.lpa"};
	size_t series;

	(void)state;
	assert_true(ingest_file_name("h-20261117T065509Z.lpa", "h", &series));
	assert_int_equal(series, 1);
	assert_true(ingest_file_name("h-syscalls-20261117T065509Z.lpa", "h", &series));
	assert_int_equal(series, strlen("h-syscalls"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(ingest_file_name(wrong[i], "h", &series));
	assert_true(ingest_observer_name("oss-3.site"));
	assert_false(ingest_observer_name("oss-calls"));
	assert_false(ingest_observer_name("a/b"));
	for (int kind = 0; kind < INGEST_KINDS; kind++)
		assert_non_null(ingest_refusal_name(kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sound, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test(test_made), cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
