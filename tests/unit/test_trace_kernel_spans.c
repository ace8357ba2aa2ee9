#include "unit.h"

#include "trace/bpf/stack.h"
#include "trace/stack/kernel_spans.h"
#include "trace/stack/layer.h"
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define OFFSET INT64_C(1000000)

/* The spans that came out, with copies of their texts. */
static struct {
	struct span span;
	char layer[16], function[32], object[64];
} got[16];
static size_t n_got, n_asked;

static int take(void *ctx, const struct span *s)
{
	(void)ctx;
	assert_true(n_got < 16);
	got[n_got].span = *s;
	snprintf(got[n_got].layer, sizeof(got[0].layer), "%s", s->layer);
	snprintf(got[n_got].function, sizeof(got[0].function), "%s", s->function);
	snprintf(got[n_got].object, sizeof(got[0].object), "%s", s->object);
	n_got++;
	return 0;
}

static void ask(void *ctx, int32_t pid, int32_t fd, uint64_t inode, struct kernel_file *ret)
{
	(void)ctx;
	assert_int_equal(pid, 10);
	assert_int_equal(fd, 3);
	assert_int_equal(inode, 5);
	snprintf(ret->path, sizeof(ret->path), "/brick/x");
	ret->key = 77;
	n_asked++;
}

static void name_disk(void *ctx, uint64_t device, char *ret, size_t size)
{
	(void)ctx;
	snprintf(ret, size, "%u:%u", major(device), minor(device));
}

static struct kernel_spans_config config = {.layers = LAYERS_IN_KERNEL,
	.wall_offset_ns = OFFSET,
	.span = take,
	.file = ask,
	.disk = name_disk};

static struct kernel_spans *begin(void)
{
	struct kernel_spans *k = kernel_spans_new(&config);

	n_got = n_asked = 0;
	assert_non_null(k);
	return k;
}

static void test_fuse_and_disk(void **state)
{
	struct kernel_spans *k = begin();
	struct stack_event e = {.what = STACK_EVENT_FUSE,
		.op = 16,
		.pid = 10,
		.tid = 11,
		.asker = 12,
		.start_ns = 100,
		.end_ns = 200,
		.device = 0x37,
		.key = 9,
		.unique = 4,
		.offset = 4096,
		.size = 512,
		.result = 512};

	(void)state;
	assert_int_equal(kernel_spans_take(k, &e, sizeof(e)), 0);
	e.what = STACK_EVENT_BIO;
	e.flags = STACK_EVENT_WRITES | STACK_EVENT_MAPPED;
	e.device = 8u << 20 | 17;
	e.inode = 5;
	assert_int_equal(kernel_spans_take_open(k, &e, sizeof(e), 900), 0);
	assert_int_equal(n_got, 2);
	assert_string_equal(got[0].layer, "fuse");
	assert_string_equal(got[0].function, "WRITE");
	assert_int_equal(got[0].span.op, SPAN_WRITE);
	assert_int_equal(got[0].span.start_ns, OFFSET + 100);
	assert_int_equal(got[0].span.asker, 12);
	assert_string_equal(got[1].object, "8:17");
	assert_int_equal(got[1].span.device, makedev(8, 17));
	assert_int_equal(got[1].span.flags, SPAN_MAPPED | SPAN_OPEN_END);
	assert_int_equal(got[1].span.end_ns, OFFSET + 900);
	assert_int_not_equal(got[0].span.id, got[1].span.id);
	assert_int_equal(kernel_spans_totals(k)->open, 1);
	kernel_spans_free(k);
}

/* A file is asked for once where the answer is whole; a name that is a gfid says the key. */
static void test_calls(void **state)
{
	struct kernel_spans *k = begin();
	struct stack_file_call c = {.event = {.what = STACK_EVENT_CALL,
					    .op = SYS_pwrite64,
					    .flags = STACK_EVENT_WRITES,
					    .pid = 10,
					    .unique = 3,
					    .inode = 5,
					    .result = 10},
		.name = "00000000-0000-0000-0000-00000000000f"};

	(void)state;
	assert_int_equal(kernel_spans_take(k, &c, sizeof(c)), 0);
	assert_int_equal(kernel_spans_take(k, &c, sizeof(c)), 0);
	c.event.op = SYS_fsync;
	c.event.flags = 0;
	assert_int_equal(kernel_spans_take(k, &c, sizeof(c)), 0);
	assert_int_equal(n_asked, 1);
	assert_string_equal(got[0].function, "pwrite64");
	assert_string_equal(got[0].object, "/brick/x");
	assert_int_equal(got[0].span.key, 15);
	assert_int_equal(got[0].span.op, SPAN_WRITE);
	assert_int_equal(got[2].span.op, SPAN_SYNC);
	kernel_spans_free(k);
}

static void put(uint8_t *p, size_t at, uint32_t w)
{
	for (int i = 0; i < 4; i++)
		p[4 * at + (size_t)i] = (uint8_t)(w >> (24 - 8 * i));
}

/* A message of one end: `asks` says whether that end opened the connection. */
static struct stack_message message(bool sent, bool asks, bool reply, uint32_t xid)
{
	struct stack_message m = {.event = {.what = STACK_EVENT_MESSAGE,
					  .flags = sent ? STACK_EVENT_SENT : 0,
					  .start_ns = 100,
					  .end_ns = 150},
		.family = 2,
		.local_port = asks ? 1000 : 24007,
		.remote_port = asks ? 24007 : 1000,
		.position = 42,
		.length = 100};

	m.local[3] = asks ? 1 : 2;
	m.remote[3] = asks ? 2 : 1;
	m.n_head = 24;
	put(m.head, 0, xid);
	put(m.head, 1, reply);
	put(m.head, 2, reply ? 0 : 2);
	put(m.head, 3, 1298437);
	put(m.head, 5, 13);
	return m;
}

/* Both ends of a connection give it the same number, and each its own span. */
static void test_messages(void **state)
{
	struct kernel_spans *k = begin();
	struct stack_message m = message(true, true, false, 7);

	(void)state;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	m = message(false, false, false, 7);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(n_got, 0);
	m = message(true, false, true, 7);
	m.event.start_ns = 300;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	m = message(false, true, true, 7);
	m.event.end_ns = 500;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(n_got, 2);
	assert_string_equal(got[0].layer, "server");
	assert_int_equal(got[0].span.start_ns, OFFSET + 150);
	assert_int_equal(got[0].span.end_ns, OFFSET + 300);
	assert_string_equal(got[1].layer, "network");
	assert_int_equal(got[1].span.start_ns, OFFSET + 100);
	assert_int_equal(got[1].span.end_ns, OFFSET + 500);
	assert_int_equal(got[0].span.connection, got[1].span.connection);
	assert_int_equal(got[0].span.position, 42);
	assert_string_equal(got[1].function, "WRITE");
	assert_string_equal(got[1].object, "0.0.0.2:51037"); /* 24007 in the network's order */
	/* An answer to nothing; a request without an answer. */
	m = message(false, true, true, 8);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_totals(k)->unanswered, 1);
	m = message(true, true, false, 9);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_end(k, 1000), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(got[2].span.flags, SPAN_OPEN_END);
	assert_int_equal(got[2].span.end_ns, OFFSET + 1000);
	kernel_spans_free(k);
}

/* The same server through a socket for IPv6. */
static void test_mapped(void **state)
{
	static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
	struct kernel_spans *k = begin();
	struct stack_message m = message(true, true, false, 7);

	(void)state;
	m.family = 10;
	memcpy(m.remote, mapped, sizeof(mapped));
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_end(k, 1000), 0);
	assert_int_equal(n_got, 1);
	assert_string_equal(got[0].object, "10.0.0.2:51037");
	kernel_spans_free(k);
}

static void put_le(uint8_t *p, size_t at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[at + i] = (uint8_t)(value >> (8 * i));
}

/* A message of OrangeFS: a small operation that is not about bytes, `mode` 2 asks for it. */
static struct stack_message bmi(bool sent, bool asks, uint32_t mode, uint64_t tag, uint32_t op)
{
	struct stack_message m = message(sent, asks, false, 0);

	m.protocol = STACK_BMI;
	memset(m.head, 0, sizeof(m.head));
	put_le(m.head, 0, 51903, 4);
	put_le(m.head, 4, mode, 4);
	put_le(m.head, 8, tag, 8);
	put_le(m.head, 16, 100, 8);
	put_le(m.head, 32, op, 4);
	m.n_head = 48;
	return m;
}

/* The tag joins what is asked, data that follows, and both answers, at both ends. */
static void test_orangefs(void **state)
{
	struct kernel_spans *k = begin();
	const struct {
		bool sent, asks;
		uint32_t mode, op;
	} messages[] = {{true, true, 2, 3}, {false, false, 2, 3}, {true, false, 4, 3},
		{false, true, 4, 3}, {true, true, 8, 0}, {false, false, 8, 0}};
	struct stack_message m;

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		m = bmi(messages[i].sent, messages[i].asks, messages[i].mode, 7, messages[i].op);
		if (messages[i].mode == 2) { /* behind a capability of zeros, and no hints */
			m.n_head = 160;
			put_le(m.head, 84, 0x2a, 8); /* the file */
			put_le(m.head, 100, 2, 4);   /* it is written */
		}
		assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	}
	assert_int_equal(n_got, 0);
	m = bmi(true, false, 4, 7, 14);
	put_le(m.head, 40, 4096, 8);
	m.event.start_ns = 300;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	m = bmi(false, true, 4, 7, 14);
	put_le(m.head, 40, 4096, 8);
	m.event.end_ns = 500;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(n_got, 2);
	assert_string_equal(got[0].layer, "server");
	assert_int_equal(got[0].span.end_ns, OFFSET + 300);
	assert_string_equal(got[1].layer, "network");
	assert_string_equal(got[1].function, "IO");
	assert_int_equal(got[1].span.op, SPAN_WRITE);
	assert_int_equal(got[1].span.end_ns, OFFSET + 500);
	assert_int_equal(got[1].span.result, 4096);
	assert_int_equal(got[1].span.key, 0x2a);
	assert_int_equal(got[1].span.flags, SPAN_STRIPED);
	assert_int_equal(got[0].span.connection, got[1].span.connection);
	assert_int_equal(got[0].span.unique, 7);
	/* What follows nothing, and an answer to another operation than the one asked for. */
	m = bmi(false, true, 4, 8, 14);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_totals(k)->unanswered, 1);
	m = bmi(true, true, 2, 9, 4);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	m = bmi(false, true, 4, 9, 5);
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_totals(k)->damaged, 1);
	assert_int_equal(kernel_spans_end(k, 1000), 0);
	assert_int_equal(n_got, 3);
	assert_true(got[2].span.flags & SPAN_OPEN_END);
	kernel_spans_free(k);
}

/* A file of a server of OrangeFS is known by its name. */
static void test_bstream(void **state)
{
	struct kernel_spans *k = begin();
	struct stack_file_call c = {.event = {.what = STACK_EVENT_CALL,
					    .op = SYS_pwrite64,
					    .flags = STACK_EVENT_WRITES,
					    .pid = 10,
					    .unique = 3,
					    .inode = 5,
					    .result = 10},
		.name = "0000002a.bstream"};

	(void)state;
	assert_int_equal(kernel_spans_take(k, &c, sizeof(c)), 0);
	assert_int_equal(got[0].span.key, 0x2a);
	assert_int_equal(got[0].span.flags, SPAN_STRIPED);
	kernel_spans_free(k);
}

static void test_nonsense(void **state)
{
	struct kernel_spans *k = begin();
	struct stack_message m = message(true, true, false, 7);

	(void)state;
	assert_int_equal(kernel_spans_take(k, &m, 10), 0);
	assert_int_equal(
		kernel_spans_take(k, &m, sizeof(m) - STACK_HEAD + STACK_HEAD_SHORT - 1), 0);
	m.n_head = STACK_HEAD + 1;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	m.event.what = 99;
	assert_int_equal(kernel_spans_take(k, &m, sizeof(m)), 0);
	assert_int_equal(kernel_spans_totals(k)->damaged, 4);
	assert_int_equal(n_got, 0);
	kernel_spans_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fuse_and_disk),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_orangefs),
		cmocka_unit_test(test_bstream),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
