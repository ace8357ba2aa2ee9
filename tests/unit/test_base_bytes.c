#include "base/bytes.h"

#include "base/array.h"
#include "unit.h"
#include <string.h>

static const uint64_t edges[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_C(1) << 32,
	INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};

static void test_numbers_are_little_endian(void **state)
{
	static const uint8_t want[] = {
		0x02, 0x01, 0x06, 0x05, 0x04, 0x03, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08, 0x07};
	uint8_t buf[sizeof(want)];

	(void)state;
	put_u16(buf, 0x0102);
	put_u32(buf + 2, 0x03040506);
	put_u64(buf + 6, UINT64_C(0x0708090a0b0c0d0e));
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(get_u16(buf), 0x0102);
	assert_int_equal(get_u32(buf + 2), 0x03040506);
	assert_int_equal(get_u64(buf + 6), UINT64_C(0x0708090a0b0c0d0e));
}

static void test_zigzag(void **state)
{
	static const int64_t values[] = {0, -1, 1, -2, 2};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(zigzag(values[i]), i);
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		assert_int_equal(unzigzag(zigzag((int64_t)edges[i])), (int64_t)edges[i]);
		assert_int_equal(zigzag(unzigzag(edges[i])), edges[i]);
	}
	assert_int_equal(zigzag(INT64_MIN), UINT64_MAX);
}

static void test_varint_round_trip(void **state)
{
	static const size_t lengths[] = {1, 1, 1, 2, 2, 3, 5, 5, 9, 10, 10};
	uint8_t buf[10];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		uint8_t *end = write_varint(buf, edges[i]);
		struct cursor c = {.p = buf, .end = end};

		assert_int_equal(end - buf, lengths[i]);
		assert_int_equal(cursor_varint(&c), edges[i]);
		assert_false(c.bad);
		assert_ptr_equal(c.p, end);
	}
}

static void test_varint_cut_short(void **state)
{
	uint8_t buf[10];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		uint8_t *end = write_varint(buf, edges[i]);

		for (const uint8_t *cut = buf; cut < end; cut++) {
			struct cursor c = {.p = buf, .end = cut};

			assert_int_equal(cursor_varint(&c), 0);
			assert_true(c.bad);
		}
	}
}

static void test_varint_too_long(void **state)
{
	uint8_t eleven[11], wide[10];
	struct cursor c = {.p = eleven, .end = eleven + sizeof(eleven)};
	struct cursor d = {.p = wide, .end = wide + sizeof(wide)};

	(void)state;
	memset(eleven, 0x80, sizeof(eleven));
	eleven[10] = 0;
	assert_int_equal(cursor_varint(&c), 0);
	assert_true(c.bad);

	/* Ten bytes whose last holds more than the 64th bit. */
	memset(wide, 0xff, sizeof(wide));
	wide[9] = 2;
	assert_int_equal(cursor_varint(&d), 0);
	assert_true(d.bad);
}

static void test_cursor_reads_in_order(void **state)
{
	static const uint8_t buf[] = {7, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
	struct cursor c = {.p = buf, .end = buf + sizeof(buf)};

	(void)state;
	assert_int_equal(cursor_u8(&c), 7);
	assert_int_equal(cursor_u32(&c), 1);
	assert_int_equal(cursor_u64(&c), 2);
	assert_ptr_equal(cursor_bytes(&c, 3), buf + 13);
	assert_false(c.bad);
	assert_non_null(cursor_bytes(&c, 0));
	assert_false(c.bad);
	assert_null(cursor_bytes(&c, 1));
	assert_true(c.bad);
}

static void test_cursor_stays_bad(void **state)
{
	static const uint8_t buf[] = {1, 2, 3, 4, 5};
	struct cursor c = {.p = buf, .end = buf + sizeof(buf)};

	(void)state;
	assert_int_equal(cursor_u64(&c), 0);
	assert_true(c.bad);
	/* There would be room for these, but what follows a failed read means nothing. */
	assert_int_equal(cursor_u8(&c), 0);
	assert_int_equal(cursor_u32(&c), 0);
	assert_int_equal(cursor_varint(&c), 0);
	assert_null(cursor_bytes(&c, 1));
}

static void test_string(void **state)
{
	static const uint8_t buf[] = {3, 's', 'd', 'a', 0, 5, 'x'};
	struct cursor c = {.p = buf, .end = buf + sizeof(buf)};
	const char *text;

	(void)state;
	assert_int_equal(cursor_string(&c, &text), 3);
	assert_memory_equal(text, "sda", 3);
	assert_int_equal(cursor_string(&c, &text), 0);
	assert_non_null(text);
	assert_false(c.bad);
	/* Promises five bytes and has one. */
	assert_int_equal(cursor_string(&c, &text), 0);
	assert_null(text);
	assert_true(c.bad);
}

static void test_string_of_absurd_length(void **state)
{
	uint8_t buf[16] = {0};
	struct cursor c = {.p = buf, .end = buf + sizeof(buf)};
	const char *text;

	(void)state;
	write_varint(buf, UINT64_MAX);
	assert_int_equal(cursor_string(&c, &text), 0);
	assert_null(text);
	assert_true(c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_little_endian),
		cmocka_unit_test(test_zigzag),
		cmocka_unit_test(test_varint_round_trip),
		cmocka_unit_test(test_varint_cut_short),
		cmocka_unit_test(test_varint_too_long),
		cmocka_unit_test(test_cursor_reads_in_order),
		cmocka_unit_test(test_cursor_stays_bad),
		cmocka_unit_test(test_string),
		cmocka_unit_test(test_string_of_absurd_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
