#include "unit.h"

#include "model/span.h"
#include "trace/stack/rpc_message.h"
#include <string.h>

/* A message as it goes over the network, put together word by word. */
static uint8_t bytes[512];
static size_t n;

static void word(uint32_t w)
{
	bytes[n++] = (uint8_t)(w >> 24);
	bytes[n++] = (uint8_t)(w >> 16);
	bytes[n++] = (uint8_t)(w >> 8);
	bytes[n++] = (uint8_t)w;
}

/* The head of a call of GlusterFS, with credentials of a thread. */
static void call(uint32_t procedure, uint32_t thread)
{
	n = 0;
	word(0x1234);
	word(0);
	word(2);
	word(1298437);
	word(400);
	word(procedure);
	word(390040);
	word(13); /* and three bytes that fill it up */
	word(thread);
	word(0);
	word(0);
	word(0);
	word(0);
	word(0);
	for (uint8_t i = 0; i < 16; i++)
		bytes[n++] = i;
}

static void test_write(void **state)
{
	struct rpc_message m;

	(void)state;
	call(13, 4711);
	word(0);
	word(9);
	word(1);
	word(0x1000);
	word(131072);
	assert_true(rpc_message_parse(bytes, n, &m));
	assert_true(m.is_call);
	assert_int_equal(m.xid, 0x1234);
	assert_string_equal(m.name, "WRITE");
	assert_int_equal(m.op, SPAN_WRITE);
	assert_int_equal(m.asker, 4711);
	assert_int_equal(m.key, UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(m.offset, (INT64_C(1) << 32) + 0x1000);
	assert_int_equal(m.size, 131072);
	/* Cut anywhere it says less, and nothing wrong. */
	for (size_t cut = 0; cut < n; cut++) {
		bool good = rpc_message_parse(bytes, cut, &m);

		assert_int_equal(good, cut >= 24);
		if (good)
			assert_int_equal(m.offset, -1);
	}
}

static void test_others(void **state)
{
	struct rpc_message m;

	(void)state;
	call(16, 1);
	assert_true(rpc_message_parse(bytes, n, &m));
	assert_string_equal(m.name, "FSYNC");
	assert_int_equal(m.key, UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(m.offset, -1);
	call(27, 1);
	assert_true(rpc_message_parse(bytes, n, &m));
	assert_string_equal(m.name, "LOOKUP");
	assert_int_equal(m.key, 0);
	call(9999, 1);
	assert_true(rpc_message_parse(bytes, n, &m));
	assert_string_equal(m.name, "");
	bytes[7] = 2; /* neither call nor reply */
	assert_false(rpc_message_parse(bytes, n, &m));
}

static void test_reply(void **state)
{
	struct rpc_message m;

	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		n = 0;
		word(77);
		word(1);
		word(0);
		word(0);
		word(0);
		word(0);
		word(failed ? UINT32_MAX : 4096);
		word(failed ? 28 : 0);
		assert_true(rpc_message_parse(bytes, n, &m));
		assert_false(m.is_call);
		assert_int_equal(m.xid, 77);
		assert_int_equal(m.result, failed ? -28 : 4096);
	}
}

static void test_gfid(void **state)
{
	const uint8_t gfid[16] = {[8] = 0x80, [15] = 1};

	(void)state;
	assert_int_equal(rpc_gfid_key(gfid), UINT64_C(0x8000000000000001));
	assert_int_equal(rpc_gfid_text_key("00000000-0000-0000-8000-000000000001"),
		UINT64_C(0x8000000000000001));
	assert_int_equal(rpc_gfid_text_key("00000000-0000-0000-8000-00000000000"), 0);
	assert_int_equal(rpc_gfid_text_key("00000000-0000-0000-8000-00000000000g"), 0);
	assert_int_equal(rpc_gfid_text_key("00000000-0000-0000-80000-0000000000a"), 0);
	assert_int_equal(rpc_gfid_text_key(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_reply),
		cmocka_unit_test(test_gfid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
