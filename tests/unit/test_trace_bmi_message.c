#include "unit.h"

#include "model/span.h"
#include "trace/stack/bmi_message.h"
#include <errno.h>
#include <string.h>

#define EAGER 4
#define UNEXPECTED 2
#define STRIP 65536

/* A message as it goes over the network, put together number by number. */
static uint8_t bytes[4096];
static size_t n;

static void put(uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[n++] = i < sizeof(value) ? (uint8_t)(value >> (8 * i)) : 0;
}

static void text(const char *s)
{
	size_t begin = n, len = strlen(s);

	put(len, 4);
	memcpy(bytes + n, s, len + 1);
	n = begin + ((4 + len + 1 + 7) & ~(size_t)7);
}

static void header(uint32_t mode, uint64_t tag, uint64_t size)
{
	memset(bytes, 0, sizeof(bytes));
	n = 0;
	put(51903, 4);
	put(mode, 4);
	put(tag, 8);
	put(size, 8);
}

static void pad(void)
{
	n = (n + 7) & ~(size_t)7;
}

/* The head of a request of operation `number` with so many files in its capability. */
static void request(uint32_t number, size_t files, size_t hints)
{
	header(UNEXPECTED, 77, 300);
	put(0x7777, 4); /* version, encoding */
	put(2, 4);
	put(number, 4);
	put(0, 4);
	text("S:s1");
	put(353983656, 4);
	put(0, 4);
	put(3, 4); /* a signature */
	put(0x010203, 3);
	pad();
	put(1700000000, 8);
	put(7, 4);
	put(files, 4);
	for (size_t i = 0; i < files; i++)
		put(1000 + i, 8);
	pad();
	put(hints, 4);
	for (size_t i = 0; i < hints; i++) {
		put(i ? 3 : 1, 4); /* a handle, a number */
		put(9, i ? 8 : 4);
	}
}

static void datatype(uint64_t bytes_of_type, uint64_t extent)
{
	put(0, 8); /* none is nested */
	put(0, 8);
	put(1, 4);
	put(1, 4);
	put(1, 8);
	put(extent, 8);
	put(0, 8);
	put(bytes_of_type, 8);
	put(1, 4);
	put(0, 4 * 7);
}

/* Which server of how many, and the range of the client's file. */
static void range(
	const char *distribution, uint32_t server, uint32_t servers, uint64_t offset, uint64_t size)
{
	put(server, 4);
	put(servers, 4);
	text(distribution);
	put(STRIP, 8);
	pad();
	datatype(1, 1);
	put(offset, 8);
	put(size, 8);
}

static void io(uint32_t server, uint32_t servers, uint64_t offset, uint64_t size, bool writes)
{
	request(3, 4, 2);
	put(0xabcdef, 8);
	put(1, 8);
	put(writes ? 2 : 1, 4);
	put(1, 4);
	range("simple_stripe", server, servers, offset, size);
}

static void test_header(void **state)
{
	struct bmi_message m;

	(void)state;
	header(UNEXPECTED, UINT64_C(0x1122334455667788), 4096);
	assert_true(bmi_message_parse(bytes, n, &m));
	assert_true(m.is_request);
	assert_true(m.tag == UINT64_C(0x1122334455667788));
	assert_int_equal(m.size, 4096);
	assert_false(bmi_message_parse(bytes, n - 1, &m));
	header(EAGER, 1, UINT64_MAX);
	assert_false(bmi_message_parse(bytes, n, &m));
	header(3, 1, 1);
	assert_false(bmi_message_parse(bytes, n, &m));
	header(EAGER, 1, 1);
	assert_true(bmi_message_parse(bytes, n, &m));
	assert_false(m.is_request);
	bytes[0]++;
	assert_false(bmi_message_parse(bytes, n, &m));
}

static void test_io(void **state)
{
	struct bmi_request q;

	(void)state;
	/* From the middle of the first strip to the middle of the fourth, on three servers. */
	io(0, 3, 1000, 3 * STRIP, true);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_string_equal(q.name, "IO");
	assert_int_equal(q.op, SPAN_WRITE);
	assert_int_equal(q.key, 0xabcdef);
	assert_int_equal(q.offset, 1000);
	assert_int_equal(q.size, STRIP);
	assert_int_equal(q.file_offset, 1000);
	io(1, 3, 1000, 3 * STRIP, false);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_int_equal(q.op, SPAN_READ);
	assert_int_equal(q.offset, 0);
	assert_int_equal(q.size, STRIP);
	assert_int_equal(q.file_offset, STRIP);
	/* In the second round. */
	io(0, 3, 3 * STRIP + 10, 20, false);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_int_equal(q.offset, STRIP + 10);
	assert_int_equal(q.size, 20);
	io(0, 3, 2 * STRIP, 2 * STRIP, false);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_int_equal(q.offset, STRIP);
	assert_int_equal(q.file_offset, 3 * STRIP);
}

/* The parts of all servers are the whole range, whatever it is; the first bytes agree. */
static void test_parts(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 500; i++) {
		uint32_t servers = 1 + (uint32_t)(i % 7);
		uint64_t offset = i * 37003 % (20 * STRIP), size = 1 + i * 7919 % (5 * STRIP);
		int64_t sum = 0, first = INT64_MAX;
		struct bmi_request q;

		for (uint32_t s = 0; s < servers; s++) {
			io(s, servers, offset, size, true);
			assert_true(bmi_request_parse(bytes, n, &q));
			sum += q.size;
			if (q.size && q.file_offset < first)
				first = q.file_offset;
			if (q.size)
				assert_int_equal(q.file_offset / STRIP % servers, s);
			assert_int_equal(q.file_offset % STRIP, q.offset % STRIP);
		}
		assert_int_equal(sum, size);
		assert_int_equal(first, offset);
	}
}

static void test_small_io(void **state)
{
	struct bmi_request q;

	(void)state;
	request(33, 1, 0);
	put(0xab, 8);
	put(1, 4);
	put(2, 4);
	range("simple_stripe", 2, 3, 2 * STRIP + 5, 100);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_string_equal(q.name, "SMALL_IO");
	assert_int_equal(q.op, SPAN_WRITE);
	assert_int_equal(q.offset, 5);
	assert_int_equal(q.size, 100);
	assert_int_equal(q.file_offset, 2 * STRIP + 5);
}

/* What is not understood has no range. */
static void test_unknown(void **state)
{
	struct bmi_request q;

	(void)state;
	request(33, 1, 0);
	put(0xab, 8);
	put(1, 4);
	put(2, 4);
	range("twod_stripe", 0, 1, 0, 100);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_int_equal(q.op, SPAN_WRITE);
	assert_int_equal(q.offset, -1);
	assert_int_equal(q.file_offset, -1);
	/* A datatype with holes. */
	request(33, 1, 0);
	put(0xab, 8);
	put(1, 4);
	put(2, 4);
	put(0, 4);
	put(1, 4);
	text("simple_stripe");
	put(STRIP, 8);
	datatype(1, 2);
	put(0, 8);
	put(100, 8);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_int_equal(q.offset, -1);
	/* The head ends too early, wherever. */
	io(0, 3, 1000, 3 * STRIP, true);
	for (size_t i = 0; i < n; i++) {
		bool parsed = bmi_request_parse(bytes, i, &q);

		assert_int_equal(parsed, i >= BMI_HEADER + 16);
		if (parsed)
			assert_int_equal(q.offset, -1);
	}
	/* An operation of another version. */
	request(90, 1, 0);
	assert_true(bmi_request_parse(bytes, n, &q));
	assert_string_equal(q.name, "");
	/* More files than there is room for. */
	request(15, 400, 0);
	assert_true(bmi_request_parse(bytes, 512, &q));
	assert_string_equal(q.name, "FLUSH");
	assert_int_equal(q.key, 0);
}

static void answer(uint32_t number, int32_t status)
{
	header(EAGER, 77, 100);
	put(0, 8);
	put(number, 4);
	put((uint32_t)status, 4);
}

static void test_answers(void **state)
{
	struct bmi_request q = {.number = 15, .op = SPAN_SYNC, .offset = -1};

	(void)state;
	answer(14, 0);
	assert_int_equal(bmi_answer_take(&q, bytes, n), -EBADMSG);
	answer(15, -(1 << 30 | 18));
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, -ENOSPC);
	/* A small one has its bytes with it. */
	q = (struct bmi_request){.number = 33, .op = SPAN_READ, .offset = 0, .size = 50};
	answer(33, 0);
	put(1, 8);
	put(1000, 8);
	put(40, 8);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, 40);
}

static void test_large_write(void **state)
{
	struct bmi_request q = {.number = 3, .op = SPAN_WRITE, .offset = 0, .size = 5000};

	(void)state;
	answer(3, 0);
	put(0, 8);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 0);
	answer(3, 0);
	put(0, 8);
	assert_int_equal(bmi_answer_take(&q, bytes, n), -EBADMSG);
	answer(14, 0);
	put(5000, 8);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, 5000);
	/* It is refused at once. */
	q = (struct bmi_request){.number = 3, .op = SPAN_WRITE, .offset = 0, .size = 5000};
	answer(3, -(1 << 30 | 1 << 29 | 3));
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, -EIO);
}

static void test_large_read(void **state)
{
	struct bmi_request q = {.number = 3, .op = SPAN_READ, .offset = 100000, .size = 50000};

	(void)state;
	answer(3, 0);
	put(130000, 8); /* the file ends before the range does */
	assert_int_equal(bmi_answer_take(&q, bytes, n), 0);
	header(8, 77, 20000);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 0);
	header(EAGER, 77, 10000);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, 30000);
	/* There is nothing to read. */
	q = (struct bmi_request){.number = 3, .op = SPAN_READ, .offset = 100000, .size = 50000};
	answer(3, 0);
	put(100000, 8);
	assert_int_equal(bmi_answer_take(&q, bytes, n), 1);
	assert_int_equal(q.result, 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(bmi_file_key("3fffffffffffff07.bstream") == UINT64_C(0x3fffffffffffff07));
	assert_int_equal(bmi_file_key("0000002a.bstream"), 42);
	assert_int_equal(bmi_file_key("2a.bstream"), 0);
	assert_int_equal(bmi_file_key("3fffffffffffff07"), 0);
	assert_int_equal(bmi_file_key("3fffffffffffff070.bstream"), 0);
	assert_int_equal(bmi_file_key("keyval.db"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_small_io),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_large_write),
		cmocka_unit_test(test_large_read),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
