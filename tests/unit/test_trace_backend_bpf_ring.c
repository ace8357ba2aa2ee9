/* The reader of the ring, on memory laid out as the kernel does it: a page with the position of
 * the reader, one with that of the writer, then the data, twice in a row.
 */
#include "trace/backend_bpf.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (UINT64_C(1) << 20)
#define HEADER 8
#define ENOUGH 8192

/* A ring and its writer. */
struct rig {
	int fd;
	struct bpf_ring ring;
	unsigned char *pages; /* the writer's view of all of it */
	uint64_t page, end;   /* where it writes next */
	uint64_t got[ENOUGH]; /* seq of what was delivered */
	unsigned n_got;
	unsigned stop_at; /* deliver so many, then return `stop` */
	int stop;
	uint64_t said; /* the highest position of the reader that was seen during a drain */
};

static uint64_t consumed(const struct rig *g)
{
	uint64_t at;

	memcpy(&at, g->pages, sizeof(at));
	return at;
}

static void consumed_set(struct rig *g, uint64_t at)
{
	memcpy(g->pages, &at, sizeof(at));
	g->end = at;
	memcpy(g->pages + g->page, &at, sizeof(at));
}

static int setup(void **state)
{
	static struct rig rig;
	struct lp_err err = {0};

	rig = (struct rig){.stop_at = ENOUGH, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
	rig.fd = memfd_create("ring", MFD_CLOEXEC);
	if (rig.fd < 0 || ftruncate(rig.fd, (off_t)(2 * rig.page + 2 * SIZE)) < 0)
		return -1;
	rig.pages =
		mmap(NULL, 2 * rig.page + 2 * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd, 0);
	*state = &rig;
	return rig.pages == MAP_FAILED ? -1 : bpf_ring_map(&rig.ring, rig.fd, SIZE, &err);
}

static int teardown(void **state)
{
	struct rig *g = *state;

	bpf_ring_close(&g->ring);
	munmap(g->pages, 2 * g->page + 2 * SIZE);
	return close(g->fd);
}

/* A record at the writer's position, `len` bytes of it, and `bits` in its header. */
static void put(struct rig *g, const void *record, uint32_t len, uint32_t bits)
{
	unsigned char *p = g->pages + 2 * g->page + (g->end & (SIZE - 1));
	uint32_t head = len | bits;

	memset(p, 0, HEADER);
	memcpy(p, &head, sizeof(head));
	memcpy(p + HEADER, record, len);
	g->end += (len + HEADER + 7) & ~7u;
	memcpy(g->pages + g->page, &g->end, sizeof(g->end));
}

/* One with a number, as long as `text_len` makes it. */
static void put_call(struct rig *g, uint64_t seq, uint16_t text_len, uint32_t bits)
{
	static unsigned char bytes[sizeof(struct bpf_record) + TRACE_TEXT_MAX];
	struct bpf_record head = {.seq = seq, .what = TRACE_CALL, .text_len = text_len};

	memcpy(bytes, &head, sizeof(head));
	memset(bytes + sizeof(head), (int)('a' + seq % 26), text_len);
	put(g, bytes, (uint32_t)sizeof(head) + text_len, bits);
}

static int take(void *ctx, const struct trace_event *e)
{
	struct rig *g = ctx;

	for (uint32_t i = 0; i < e->text_len; i++)
		assert_int_equal(e->text[i], 'a' + e->seq % 26);
	if (consumed(g) > g->said)
		g->said = consumed(g);
	if (g->n_got == g->stop_at)
		return g->stop;
	assert_true(g->n_got < ENOUGH);
	g->got[g->n_got++] = e->seq;
	return 0;
}

/* Drain; how many records were passed. */
static uint64_t drain(struct rig *g, int expected)
{
	struct trace_sink sink = {.event = take, .ctx = g};
	uint64_t n = 12345;

	assert_int_equal(bpf_ring_drain(&g->ring, &sink, &n), expected);
	return n;
}

/* Since the last look these were delivered: first, first + 1, ... */
static void expect(struct rig *g, uint64_t first, unsigned n)
{
	assert_int_equal(g->n_got, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(g->got[i], first + i);
	g->n_got = 0;
}

static void test_drain(void **state)
{
	struct rig *g = *state;

	assert_int_equal(drain(g, 0), 0);
	for (unsigned i = 0; i < 100; i++)
		put_call(g, i, (uint16_t)(i * 7), 0);
	assert_int_equal(drain(g, 0), 100);
	expect(g, 0, 100);
	assert_int_equal(consumed(g), g->end);
	assert_int_equal(drain(g, 0), 0);
	expect(g, 0, 0);
}

/* A record that is still being written, and all behind it, waits. */
static void test_busy(void **state)
{
	struct rig *g = *state;
	uint64_t busy_at;
	uint32_t head;

	put_call(g, 1, 3, 0);
	busy_at = g->end;
	put_call(g, 2, 5, BPF_RINGBUF_BUSY_BIT);
	put_call(g, 3, 9, 0);
	assert_int_equal(drain(g, 0), 1);
	expect(g, 1, 1);
	assert_int_equal(consumed(g), busy_at);
	assert_int_equal(drain(g, 0), 0);
	assert_int_equal(consumed(g), busy_at);
	head = sizeof(struct bpf_record) + 5;
	memcpy(g->pages + 2 * g->page + busy_at, &head, sizeof(head));
	assert_int_equal(drain(g, 0), 2);
	expect(g, 2, 2);
	assert_int_equal(consumed(g), g->end);
}

/* What the kernel gave up, and what is no event, is passed and not delivered. */
static void test_discarded(void **state)
{
	struct rig *g = *state;

	put_call(g, 100, 3, BPF_RINGBUF_DISCARD_BIT);
	put_call(g, 1, 3, 0);
	put(g, "too short", 9, 0);
	put_call(g, 100, 3, BPF_RINGBUF_DISCARD_BIT);
	put_call(g, 2, 3, 0);
	put_call(g, 100, 0, BPF_RINGBUF_DISCARD_BIT);
	assert_int_equal(drain(g, 0), 6);
	expect(g, 1, 2);
	assert_int_equal(consumed(g), g->end);
}

/* A receiver that stops gets the same record first the next time. */
static void test_stop(void **state)
{
	struct rig *g = *state;
	uint64_t stop_at;

	put_call(g, 1, 0, 0);
	put_call(g, 2, 0, 0);
	stop_at = g->end;
	put_call(g, 3, 0, 0);
	put_call(g, 4, 0, 0);
	g->stop = -ENOMEM;
	g->stop_at = 2;
	assert_int_equal(drain(g, -ENOMEM), 2);
	assert_int_equal(consumed(g), stop_at);
	expect(g, 1, 2);
	g->stop_at = ENOUGH;
	assert_int_equal(drain(g, 0), 2);
	expect(g, 3, 2);
	assert_int_equal(consumed(g), g->end);
}

/* Positions only grow; the last record of a round lies across the edge, in one piece. */
static void test_round(void **state)
{
	struct rig *g = *state;

	consumed_set(g, 5 * SIZE - 200);
	put_call(g, 1, 50, 0);
	put_call(g, 2, 500, 0);
	assert_true(g->end > 5 * SIZE);
	put_call(g, 3, 1, 0);
	assert_int_equal(drain(g, 0), 3);
	expect(g, 1, 3);
	assert_int_equal(consumed(g), g->end);
}

/* During a long drain the writer gets room again before its end. */
static void test_says_so_meanwhile(void **state)
{
	struct rig *g = *state;
	unsigned n = 0;

	while (g->end < SIZE - 8192)
		put_call(g, n++, 4000, 0);
	assert_int_equal(drain(g, 0), n);
	expect(g, 0, n);
	assert_true(g->said > SIZE / 2);
	assert_true(g->said < g->end);
	assert_int_equal(consumed(g), g->end);
}

static void test_wait(void **state)
{
	struct rig *g = *state;
	struct epoll_event want = {.events = EPOLLIN};
	int fd = eventfd(0, EFD_CLOEXEC);

	g->ring.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(epoll_ctl(g->ring.epoll_fd, EPOLL_CTL_ADD, fd, &want), 0);
	assert_int_equal(bpf_ring_wait(&g->ring, 0), 0);
	assert_int_equal(bpf_ring_wait(&g->ring, 1), 0);
	assert_int_equal(eventfd_write(fd, 1), 0);
	assert_int_equal(bpf_ring_wait(&g->ring, 10000), 1);
	close(fd);
	close(g->ring.epoll_fd);
	assert_int_equal(bpf_ring_wait(&g->ring, 0), -EBADF);
	g->ring.epoll_fd = -1;
}

/* What is no ring of the kernel's is refused, and nothing stays behind. */
static void test_cannot_open(void **state)
{
	struct rig *g = *state;
	struct bpf_ring r = {0};
	struct lp_err err = {0};
	int first = dup(g->fd);

	close(first);
	/* A file can be mapped, but not waited for. */
	assert_int_equal(bpf_ring_open(&r, g->fd, SIZE, &err), -EPERM);
	assert_non_null(strstr(err.text, "cannot wait for events"));
	bpf_ring_close(&r);
	assert_null(r.consumer);
	assert_null(r.producer);
	r = (struct bpf_ring){0};
	assert_int_equal(bpf_ring_open(&r, -1, SIZE, &err), -EBADF);
	assert_non_null(strstr(err.text, "cannot map the ring"));
	bpf_ring_close(&r);
	bpf_ring_close(&r);
	assert_int_equal(dup(g->fd), first);
	close(first);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

/* A record with every field set, `n_args` arguments and a text; its length. */
static size_t record_make(unsigned char *ret, unsigned n_args, const char *text)
{
	struct bpf_record head = {.seq = UINT64_C(1) << 60,
		.start_ns = 1000000007,
		.dur_ns = 4711,
		.ret = -ENOENT,
		.pid = 812,
		.tid = 813,
		.nr = 257,
		.text_len = (uint16_t)strlen(text),
		.what = TRACE_ASYNC,
		.flags = TRACE_COMPAT | TRACE_CUT,
		.file = TRACE_FILE_TCP,
		.n_args = (uint8_t)n_args};
	size_t at = sizeof(head);

	memcpy(ret, &head, sizeof(head));
	for (uint64_t i = 0; i < n_args; i++, at += sizeof(i))
		memcpy(ret + at, &(uint64_t){~i}, sizeof(i));
	memcpy(ret + at, text, head.text_len);
	return at + head.text_len;
}

static void test_decode(void **state)
{
	unsigned char bytes[256];
	struct trace_event e;

	(void)state;
	for (unsigned n_args = 0; n_args <= TRACE_ARGS; n_args++) {
		size_t size = record_make(bytes, n_args, "/data/x");

		memset(&e, 0x55, sizeof(e));
		/* Records are padded: more than they say is no harm. */
		assert_true(bpf_record_decode(bytes, size + n_args % 2, &e));
		assert_int_equal(e.seq, UINT64_C(1) << 60);
		assert_int_equal(e.start_ns, 1000000007);
		assert_int_equal(e.dur_ns, 4711);
		assert_int_equal(e.ret, -ENOENT);
		assert_int_equal(e.pid, 812);
		assert_int_equal(e.tid, 813);
		assert_int_equal(e.nr, 257);
		assert_int_equal(e.what, TRACE_ASYNC);
		assert_int_equal(e.flags, TRACE_COMPAT | TRACE_CUT);
		assert_int_equal(e.file, TRACE_FILE_TCP);
		for (uint64_t i = 0; i < TRACE_ARGS; i++)
			assert_int_equal(e.args[i], i < n_args ? ~i : 0);
		assert_int_equal(e.text_len, 7);
		assert_memory_equal(e.text, "/data/x", 7);
	}
	assert_true(bpf_record_decode(bytes, record_make(bytes, 3, ""), &e));
	assert_int_equal(e.text_len, 0);
}

/* Any length but the whole is too short, wherever it ends; nothing is written then. */
static void test_decode_cut(void **state)
{
	unsigned char bytes[256];
	size_t size = record_make(bytes, 4, "/data/x");
	struct trace_event e, before;

	(void)state;
	memset(&e, 0x55, sizeof(e));
	before = e;
	for (size_t n = 0; n < size; n++) {
		unsigned char *exact = malloc(n + !n); /* so that sanitizers see the edge */

		memcpy(exact, bytes, n);
		assert_false(bpf_record_decode(exact, n, &e));
		free(exact);
	}
	assert_memory_equal(&e, &before, sizeof(e));
}

/* More arguments than there are, though the record is long enough for them. */
static void test_decode_args(void **state)
{
	static unsigned char bytes[sizeof(struct bpf_record) + 255 * 8 + 16];
	struct bpf_record head;
	struct trace_event e;

	(void)state;
	for (unsigned n = TRACE_ARGS + 1; n < 256; n++) {
		size_t size = record_make(bytes, n, "text");

		assert_false(bpf_record_decode(bytes, size, &e));
	}
	/* A text that is longer than the record. */
	memcpy(&head, bytes, sizeof(head));
	head.n_args = 0;
	head.text_len = UINT16_MAX;
	memcpy(bytes, &head, sizeof(head));
	assert_false(bpf_record_decode(bytes, sizeof(bytes), &e));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Parts of paths as the kernel gives them. */
static void test_paths(void **state)
{
	char path[32];

	(void)state;
	assert_int_equal(bpf_path_join("name\0lib\0var", 13, path, sizeof(path)), 13);
	assert_memory_equal(path, "/var/lib/name", 13);
	assert_int_equal(bpf_path_join("x", 2, path, sizeof(path)), 2);
	assert_memory_equal(path, "/x", 2);
	assert_int_equal(bpf_path_join("", 0, path, sizeof(path)), 0);
	assert_int_equal(bpf_path_join("", 1, path, sizeof(path)), 1);
	/* What is no such thing, or too long, is nothing. */
	assert_int_equal(bpf_path_join("xy", 2, path, sizeof(path)), 0);
	assert_int_equal(bpf_path_join("name\0lib\0var", 13, path, 12), 0);
	assert_int_equal(bpf_path_join("name\0lib\0var", 13, path, 13), 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_drain),
		TEST(test_busy),
		TEST(test_discarded),
		TEST(test_stop),
		TEST(test_round),
		TEST(test_says_so_meanwhile),
		TEST(test_wait),
		TEST(test_cannot_open),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_cut),
		cmocka_unit_test(test_decode_args),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
