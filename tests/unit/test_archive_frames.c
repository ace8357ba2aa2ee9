#include "archive_util.h"

#include "archive/frames.h"
#include "base/crc32c.h"

/* A file of `n` event frames with payloads of different lengths. */
static int file_make(unsigned n, struct frame_list *ret)
{
	int fd = memfd_create("frames", MFD_CLOEXEC);
	uint8_t header[FRAME_HEADER_SIZE], payload[300];

	format_put_file_header(header);
	assert_int_equal(file_pwrite_full(fd, header, FILE_HEADER_SIZE, 0), 0);
	ret->end = FILE_HEADER_SIZE;
	for (unsigned i = 0; i < n; i++) {
		struct frame f = {.type = FRAME_EVENT, .offset = ret->end, .first_us = i};

		memset(payload, (int)i, sizeof(payload));
		f.payload_size = f.head_size = i * 37 % 300;
		f.head_crc = crc32c(0, payload, f.head_size);
		format_put_frame(header, &f);
		assert_int_equal(file_pwrite_full(fd, header, sizeof(header), (off_t)f.offset), 0);
		assert_int_equal(
			file_pwrite_full(fd, payload, f.payload_size, (off_t)f.offset + 44), 0);
		assert_int_equal(frame_list_add(ret, &f), 0);
		ret->end = frame_end(&f);
	}
	return fd;
}

static void put_index(int fd, const struct frame_list *l)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	assert_int_equal(frame_list_encode(l, &bytes, &size), 0);
	assert_int_equal(file_pwrite_full(fd, bytes, size, (off_t)l->end), 0);
}

static void expect_list(int fd, const struct frame_list *want, bool sealed, size_t n_gaps)
{
	for (int walk = 0; walk < 2; walk++) {
		_cleanup_(frame_list_release) struct frame_list got = {0};
		struct lp_err err = {0};

		assert_int_equal(
			walk ? frame_list_walk(fd, &got, &err) : frame_list_load(fd, &got, &err),
			0);
		assert_int_equal(got.n, want->n);
		assert_int_equal(got.sealed, sealed);
		assert_int_equal(got.n_gaps, n_gaps);
		for (size_t i = 0; i < got.n; i++) {
			assert_int_equal(got.items[i].offset, want->items[i].offset);
			assert_int_equal(got.items[i].payload_size, want->items[i].payload_size);
			assert_int_equal(got.items[i].first_us, want->items[i].first_us);
		}
	}
}

static void test_walk_and_index(void **state)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_close_ int fd = file_make(50, &l);

	(void)state;
	expect_list(fd, &l, false, 0);
	put_index(fd, &l);
	expect_list(fd, &l, true, 0);
}

static void test_empty(void **state)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_close_ int fd = file_make(0, &l);

	(void)state;
	expect_list(fd, &l, false, 0);
	put_index(fd, &l);
	expect_list(fd, &l, true, 0);
}

/* Frames after a damaged stretch are found again, wherever it is. */
static void test_resynchronises(void **state)
{
	(void)state;
	for (size_t victim = 0; victim + 1 < 10; victim++) {
		_cleanup_(frame_list_release) struct frame_list l = {0};
		_cleanup_close_ int fd = file_make(10, &l);

		assert_int_equal(pwrite(fd, "\xf5LPF", 4, (off_t)l.items[victim].offset + 8), 4);
		memmove(l.items + victim, l.items + victim + 1,
			(l.n - victim - 1) * sizeof(*l.items));
		l.n--;
		expect_list(fd, &l, false, 1);
		/* An index written later knows of the gap as well. */
		put_index(fd, &l);
		expect_list(fd, &l, true, 1);
	}
}

static void test_unfinished(void **state)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_close_ int fd = file_make(4, &l);

	(void)state;
	for (uint64_t cut = l.items[3].offset + 1; cut < l.end; cut++) {
		_cleanup_(frame_list_release) struct frame_list got = {0};
		struct lp_err err = {0};

		assert_int_equal(ftruncate(fd, (off_t)cut), 0);
		/* What ftruncate() adds is zeroes, as after power loss. */
		assert_int_equal(ftruncate(fd, (off_t)(cut + cut % 3 * 50)), 0);
		assert_int_equal(frame_list_load(fd, &got, &err), 0);
		if (got.n == 3) {
			assert_int_equal(got.end, l.items[3].offset);
			assert_true(got.unfinished + got.n_gaps > 0);
		}
		ftruncate(fd, (off_t)l.items[3].offset);
		assert_int_equal(got.items[2].offset, l.items[2].offset);
	}
}

static void test_frame_read(void **state)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_close_ int fd = file_make(4, &l);
	_cleanup_free_ uint8_t *payload = NULL;
	struct lp_err err = {0};
	uint8_t *none = NULL;

	(void)state;
	assert_int_equal(frame_read(fd, &l.items[3], &payload, &err), 0);
	assert_int_equal(payload[0], 3);
	assert_int_equal(pwrite(fd, "x", 1, (off_t)l.items[3].offset + 50), 1);
	assert_int_equal(frame_read(fd, &l.items[3], &none, &err), -EBADMSG);
	assert_null(none);
	l.items[2].head_size -= 1;
	assert_int_equal(frame_read(fd, &l.items[2], &none, &err), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_and_index),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_resynchronises),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_frame_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
