#include "serve/send_files.h"

#include "archive/frames.h"
#include "base/file.h"
#include "spool_util.h"
#include "temp_dir.h"
#include <errno.h>
#include <limpet/archive.h>

/* An archive of so many samples, one per frame; with `close` it has an index. */
static void archive_make(const char *path, unsigned n, bool close)
{
	const struct lp_archive_meta meta = {.observer = "h", .interval_us = 1000000};
	struct lp_catalogue *c = fake_catalogue();
	struct lp_batch *b = lp_batch_new(4);
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	assert_int_equal(lp_archive_create(path, &meta, &w, &err), 0);
	for (unsigned i = 0; i < n; i++) {
		lp_batch_clear(b);
		fake_sample(b, (i + 1) * INT64_C(1000000));
		assert_int_equal(lp_archive_write(w, c, b, LP_ARCHIVE_LOOSE, &err), 0);
	}
	if (close)
		assert_int_equal(lp_archive_close(w, &err), 0);
	else
		lp_archive_abandon(w);
	lp_batch_free(b);
	lp_catalogue_free(c);
}

static void test_scan(void **state)
{
	struct send_files l = {0};
	struct lp_err err = {0};

	(void)state;
	archive_make(temp_path("h-20261117T000005Z.lpa"), 1, true);
	archive_make(temp_path("h-20261118T000005Z.lpa"), 1, true);
	archive_make(temp_path("h2-20261118T000005Z.lpa"), 1, true);
	assert_int_equal(send_files_scan(&l, temp_dir_path, "h", INT64_MIN, &err), 0);
	assert_int_equal(l.n, 2);
	l.items[0].complete = true;
	l.items[1].n_frames = 7;
	archive_make(temp_path("h-20261119T000005Z.lpa"), 1, true);
	unlink(temp_path("h-20261117T000005Z.lpa"));
	assert_int_equal(send_files_scan(&l, temp_dir_path, "h", INT64_MIN, &err), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.items[0].n_frames, 7);
	assert_int_equal(l.items[1].n_frames, 0);
	assert_ptr_equal(send_files_find(&l, temp_path("h-20261119T000005Z.lpa")), &l.items[1]);
	assert_null(send_files_find(&l, "h"));
	/* None that is older. */
	assert_int_equal(send_files_scan(&l, temp_dir_path, "h", l.items[1].start_us, &err), 0);
	assert_int_equal(l.n, 1);
	send_files_release(&l);
}

static void test_gather(void **state)
{
	const char *path = temp_path("h-20261117T000005Z.lpa");
	struct send_file f = {.path = (char *)path};
	struct send_piece piece = {0};
	struct lp_err err = {0};
	uint32_t sum;
	char *bytes;
	size_t size;

	(void)state;
	archive_make(path, 5, true);
	assert_int_equal(file_slurp(path, 1 << 20, &bytes, &size, &err), 0);
	assert_int_equal(send_file_place(&f, 0, 0, &err), 0);
	assert_int_equal(f.offset, FILE_HEADER_SIZE);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 7); /* a catalogue before, and one behind the samples */
	assert_memory_equal(piece.bytes.text, bytes + FILE_HEADER_SIZE, piece.bytes.len);
	/* Only what is said to be there. */
	assert_int_equal(send_file_gather(&f, piece.end - 1, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 6);
	send_file_advance(&f, &piece);
	sum = f.sum;
	assert_int_equal(f.n_frames, 6);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 1);
	send_file_advance(&f, &piece);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 0);
	/* Going on where somebody is. */
	assert_int_equal(send_file_place(&f, 6, sum, &err), 0);
	assert_int_equal(f.n_frames, 6);
	assert_int_equal(send_file_place(&f, 6, sum + 1, &err), -EEXIST);
	assert_int_equal(send_file_place(&f, 60, sum, &err), -EEXIST); /* it is closed */
	free(bytes);
	strbuf_release(&piece.bytes);
}

static void test_damaged(void **state)
{
	const char *path = temp_path("h-20261117T000005Z.lpa");
	struct send_file f = {.path = (char *)path};
	struct send_piece piece = {0};
	struct lp_err err = {0};
	int fd;

	(void)state;
	archive_make(path, 3, false);
	assert_int_equal(send_file_place(&f, 0, 0, &err), 0);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 4);
	/* The collector has more: the machine lost power. */
	assert_int_equal(send_file_place(&f, 9, 77, &err), 0);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), 0);
	assert_int_equal(piece.n_frames, 0);
	assert_int_equal(f.n_frames, 9);
	assert_int_equal(send_file_place(&f, 0, 0, &err), 0);
	fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, "xx", 2, FILE_HEADER_SIZE), 2);
	close(fd);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "byte 16"));
	unlink(path);
	assert_int_equal(send_file_gather(&f, UINT64_MAX, &piece, &err), -ENOENT);
	strbuf_release(&piece.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scan, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_gather, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, temp_dir_setup, temp_dir_teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
