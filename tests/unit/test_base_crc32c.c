#include "base/crc32c.h"

#include "base/array.h"
#include "unit.h"
#include <pthread.h>
#include <string.h>

/* The definition, one bit at a time. */
static uint32_t plain_crc32c(const uint8_t *p, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ UINT32_C(0x82f63b78) : crc >> 1;
	}
	return ~crc;
}

static void fill(uint8_t *p, size_t size)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < size; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
}

static void *first_use(void *arg)
{
	*(uint32_t *)arg = crc32c_plain(0, "123456789", 9);
	return NULL;
}

/* First in the list, so that these threads race for the first use in this process. */
static void test_first_use_by_many_threads(void **state)
{
	pthread_t threads[8];
	uint32_t got[ARRAY_SIZE(threads)] = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, first_use, &got[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(got[i], UINT32_C(0xe3069283));
	}
}

/* The vectors of RFC 3720, B.4. */
static void test_known_vectors(void **state)
{
	uint8_t buf[32];

	(void)state;
	memset(buf, 0, sizeof(buf));
	assert_int_equal(crc32c(0, buf, sizeof(buf)), UINT32_C(0x8a9136aa));
	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(crc32c(0, buf, sizeof(buf)), UINT32_C(0x62a8ab43));
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)i;
	assert_int_equal(crc32c(0, buf, sizeof(buf)), UINT32_C(0x46dd794e));
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(31 - i);
	assert_int_equal(crc32c(0, buf, sizeof(buf)), UINT32_C(0x113fdb5c));
	assert_int_equal(crc32c(0, NULL, 0), 0);
}

static void test_every_length_and_alignment(void **state)
{
	uint8_t buf[80];

	(void)state;
	fill(buf, sizeof(buf));
	for (size_t start = 0; start < 8; start++) {
		for (size_t size = 0; size + start <= sizeof(buf); size++) {
			uint32_t want = plain_crc32c(buf + start, size);

			assert_int_equal(crc32c(0, buf + start, size), want);
			assert_int_equal(crc32c_plain(0, buf + start, size), want);
		}
	}
}

static void test_continues(void **state)
{
	uint8_t buf[61];
	uint32_t whole;

	(void)state;
	fill(buf, sizeof(buf));
	whole = crc32c(0, buf, sizeof(buf));
	for (size_t cut = 0; cut <= sizeof(buf); cut++)
		assert_int_equal(crc32c(crc32c(0, buf, cut), buf + cut, sizeof(buf) - cut), whole);
}

static void test_every_bit_counts(void **state)
{
	uint8_t buf[100];
	uint32_t good;

	(void)state;
	fill(buf, sizeof(buf));
	good = crc32c(0, buf, sizeof(buf));
	for (size_t bit = 0; bit < 8 * sizeof(buf); bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(crc32c(0, buf, sizeof(buf)), good);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_use_by_many_threads),
		cmocka_unit_test(test_known_vectors),
		cmocka_unit_test(test_every_length_and_alignment),
		cmocka_unit_test(test_continues),
		cmocka_unit_test(test_every_bit_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
