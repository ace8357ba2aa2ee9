#include "trace/profile/perf_records.h"

#include "unit.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* A record that is put together. */
struct record {
	unsigned char bytes[512];
	size_t size;
};

static struct record begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	struct record r = {.size = sizeof(h)};

	memcpy(r.bytes, &h, sizeof(h));
	return r;
}

static void put(struct record *r, uint64_t value, size_t size)
{
	memcpy(r->bytes + r->size, &value, size);
	r->size += size;
}

static void put_text(struct record *r, const char *text)
{
	size_t len = (strlen(text) + 8) / 8 * 8;

	memcpy(r->bytes + r->size, text, strlen(text));
	r->size += len;
}

static struct perf_record decode(const struct record *r, bool stacks)
{
	unsigned char *copy = malloc(r->size); /* so that sanitizers see where it ends */
	struct perf_record ret;

	memcpy(copy, r->bytes, r->size);
	perf_record_decode(copy, r->size, stacks, &ret);
	ret.path = ret.path[0] ? (const char *)r->bytes + ((const unsigned char *)ret.path - copy)
			       : "";
	free(copy);
	return ret;
}

static void test_sample(void **state)
{
	struct record r = begin(PERF_RECORD_SAMPLE, 0);
	struct perf_record got;

	(void)state;
	put(&r, 0x401000, 8);
	put(&r, 812, 4);
	put(&r, 813, 4);
	got = decode(&r, false);
	assert_int_equal(got.what, PERF_SAW_SAMPLE);
	assert_int_equal(got.sample.address, 0x401000);
	assert_int_equal(got.sample.pid, 812);
	assert_int_equal(got.sample.n_stack, 0);
	r.size -= 4;
	assert_int_equal(decode(&r, false).what, PERF_SAW_OTHER);
}

static void test_stack(void **state)
{
	struct record r = begin(PERF_RECORD_SAMPLE, 0);
	struct perf_record got;

	(void)state;
	put(&r, 0xffffffff81000000, 8);
	put(&r, 812, 4);
	put(&r, 813, 4);
	put(&r, 5, 8);
	put(&r, (uint64_t)PERF_CONTEXT_KERNEL, 8);
	put(&r, 0xffffffff81000000, 8);
	put(&r, (uint64_t)PERF_CONTEXT_USER, 8);
	put(&r, 0x401000, 8);
	put(&r, 0x402000, 8);
	got = decode(&r, true);
	assert_int_equal(got.sample.n_stack, 3);
	assert_int_equal(got.sample.n_kernel_stack, 1);
	assert_int_equal(got.sample.stack[2], 0x402000);
	r.size -= 8; /* it says more than it has */
	assert_int_equal(decode(&r, true).sample.n_stack, 2);
}

static void test_mapping(void **state)
{
	struct record r = begin(PERF_RECORD_MMAP2, 0);
	struct perf_record got;

	(void)state;
	put(&r, 812, 4);
	put(&r, 812, 4);
	put(&r, 0x10000, 8);
	put(&r, 0x2000, 8);
	put(&r, 0x3000, 8);
	put(&r, 0, 8);
	put(&r, 77, 8);
	put(&r, 0, 8);
	put(&r, 0, 8);
	put_text(&r, "/usr/lib/libx.so");
	got = decode(&r, false);
	assert_int_equal(got.what, PERF_SAW_MAPPING);
	assert_int_equal(got.start, 0x10000);
	assert_int_equal(got.end, 0x12000);
	assert_int_equal(got.offset, 0x3000);
	assert_int_equal(got.inode, 77);
	assert_string_equal(got.path, "/usr/lib/libx.so");
	r.size = 40;
	assert_int_equal(decode(&r, false).what, PERF_SAW_OTHER);
}

static void test_names(void **state)
{
	struct record r = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct perf_record got;

	(void)state;
	put(&r, 812, 4);
	put(&r, 812, 4);
	put_text(&r, "glusterfsd");
	got = decode(&r, false);
	assert_int_equal(got.what, PERF_SAW_COMM);
	assert_true(got.executed);
	assert_string_equal(got.path, "glusterfsd");
	r = begin(PERF_RECORD_FORK, 0);
	put(&r, 813, 4);
	put(&r, 812, 4);
	put(&r, 813, 4);
	put(&r, 812, 4);
	put(&r, 0, 8);
	got = decode(&r, false);
	assert_int_equal(got.what, PERF_SAW_FORK);
	assert_int_equal(got.pid, 813);
	assert_int_equal(got.parent, 812);
	r = begin(PERF_RECORD_LOST, 0);
	put(&r, 1, 8);
	put(&r, 42, 8);
	assert_int_equal(decode(&r, false).n, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
