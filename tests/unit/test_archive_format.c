#include "archive_util.h"

#include "archive/frames.h"
#include "base/bytes.h"
#include "base/crc32c.h"

static const struct frame sample = {.offset = 1234,
	.type = FRAME_DATA,
	.flags = FRAME_KEY | FRAME_CARRY,
	.payload_size = 100,
	.head_size = 20,
	.head_crc = 0xdeadbeef,
	.n_samples = 10,
	.first_us = -5,
	.last_us = INT64_MAX};

static void expect_equal(const struct frame *a, const struct frame *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->payload_size, b->payload_size);
	assert_int_equal(a->head_size, b->head_size);
	assert_int_equal(a->head_crc, b->head_crc);
	assert_int_equal(a->n_samples, b->n_samples);
	assert_int_equal(a->first_us, b->first_us);
	assert_int_equal(a->last_us, b->last_us);
}

static void test_frame(void **state)
{
	uint8_t buf[FRAME_HEADER_SIZE];
	struct frame got;

	(void)state;
	format_put_frame(buf, &sample);
	assert_true(format_is_frame_magic(buf));
	assert_true(format_get_frame(buf, &got));
	expect_equal(&got, &sample);
	for (size_t bit = 0; bit < sizeof(buf) * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		assert_false(format_get_frame(buf, &got));
		buf[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	}
}

static void test_entry(void **state)
{
	uint8_t buf[INDEX_ENTRY_SIZE];
	struct frame got;

	(void)state;
	format_put_entry(buf, &sample);
	assert_true(format_get_entry(buf, &got));
	assert_int_equal(got.offset, 1234);
	expect_equal(&got, &sample);
	for (size_t i = 0; i + 4 <= sizeof(buf); i++)
		assert_false(format_is_frame_magic(buf + i));
}

static void test_impossible_sizes(void **state)
{
	uint8_t buf[FRAME_HEADER_SIZE];
	struct frame f = sample, got;

	(void)state;
	f.head_size = 101;
	format_put_frame(buf, &f);
	assert_false(format_get_frame(buf, &got));
	f.head_size = 20;
	f.payload_size = PAYLOAD_MAX + 1;
	format_put_frame(buf, &f);
	assert_false(format_get_frame(buf, &got));
}

static void test_file_header(void **state)
{
	uint8_t buf[FILE_HEADER_SIZE];
	struct lp_err err = {0};

	(void)state;
	format_put_file_header(buf);
	assert_int_equal(format_check_file_header(buf, sizeof(buf), &err), 0);
	put_u16(buf + 10, 99); /* a later minor version is read */
	put_u32(buf + 12, crc32c(0, buf, 12));
	assert_int_equal(format_check_file_header(buf, sizeof(buf), &err), 0);
	put_u16(buf + 8, 2);
	assert_int_equal(format_check_file_header(buf, sizeof(buf), &err), -EBADMSG);
	assert_non_null(strstr(err.text, "bytes 0-15"));
	put_u32(buf + 12, crc32c(0, buf, 12));
	assert_int_equal(format_check_file_header(buf, sizeof(buf), &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "2.99"));
	assert_int_equal(format_check_file_header(buf, 0, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "empty"));
	assert_int_equal(format_check_file_header(buf, 15, &err), -EBADMSG);
}

static void test_trailer(void **state)
{
	uint8_t buf[TRAILER_SIZE];
	uint64_t offset;

	(void)state;
	format_put_trailer(buf, UINT64_C(0x123456789a));
	assert_true(format_get_trailer(buf, &offset));
	assert_int_equal(offset, UINT64_C(0x123456789a));
	for (size_t bit = 0; bit < sizeof(buf) * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		assert_false(format_get_trailer(buf, &offset));
		buf[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_impossible_sizes),
		cmocka_unit_test(test_file_header),
		cmocka_unit_test(test_trailer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
