#include "temp_dir.h"

#include "runtime/spans_file.h"
#include "trace/stack/layer.h"
#include "trace/stack/spans_reading.h"
#include <errno.h>

#define OFFSET_NS INT64_C(1000000000000)

/* A file as a program would write it. */
struct written {
	char path[TEMP_PATH_MAX];
	int fd;
};

static struct spans_header header_of(uint32_t pid, uint32_t n_chunks)
{
	return (struct spans_header){.magic = SPANS_MAGIC,
		.version = SPANS_VERSION,
		.pid = pid,
		.rank = -1,
		.n_chunks = n_chunks,
		.called = 1u << SPANS_POSIX,
		.ended = 1,
		.program = "test"};
}

static struct written file_make(const char *name, const struct spans_header *h)
{
	struct written w;

	snprintf(w.path, sizeof(w.path), "%s/%s", temp_dir_path, name);
	w.fd = open(w.path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(w.fd >= 0);
	assert_int_equal(pwrite(w.fd, h, sizeof(*h), 0), sizeof(*h));
	return w;
}

static void chunk_put(const struct written *w, uint32_t chunk, uint32_t tid, uint32_t n)
{
	struct spans_chunk c = {.tid = tid, .n = n};

	assert_int_equal(
		pwrite(w->fd, &c, sizeof(c), SPANS_HEADER + (off_t)chunk * SPANS_CHUNK), sizeof(c));
}

static void record_put(const struct written *w, uint32_t chunk, uint32_t at, const void *record)
{
	off_t offset = SPANS_HEADER + (off_t)chunk * SPANS_CHUNK + (off_t)(1 + at) * SPANS_RECORD;

	assert_int_equal(pwrite(w->fd, record, SPANS_RECORD, offset), SPANS_RECORD);
}

static struct spans_record a_write(uint64_t id, int64_t start_ns)
{
	return (struct spans_record){.state = SPANS_DONE,
		.layer = SPANS_POSIX,
		.op = SPAN_WRITE,
		.id = id,
		.start = start_ns,
		.end = start_ns < INT64_MAX - 10 ? start_ns + 10 : INT64_MAX,
		.device = 7,
		.inode = 9,
		.offset = 100,
		.size = 50,
		.result = 40,
		.function = "pwrite"};
}

/* What was read. */
struct taken {
	struct span spans[2000];
	char functions[2000][SPANS_FUNCTION + 1], objects[2000][200];
	size_t n;
};

static struct taken taken;

static int take(void *ctx, const struct span *s)
{
	struct taken *t = ctx;

	assert_true(t->n < 2000);
	assert_true(s->end_ns >= s->start_ns);
	t->spans[t->n] = *s;
	snprintf(t->functions[t->n], sizeof(t->functions[0]), "%s", s->function);
	snprintf(t->objects[t->n], sizeof(t->objects[0]), "%s", s->object);
	t->n++;
	return 0;
}

static struct spans_reading *begin(void)
{
	struct spans_reading *r;
	struct lp_err err = {0};

	taken.n = 0;
	assert_int_equal(spans_reading_new(temp_dir_path, OFFSET_NS, take, &taken, &r, &err), 0);
	return r;
}

static void look(struct spans_reading *r, bool at_end)
{
	struct lp_err err = {0};

	if (spans_reading_look(r, at_end, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_one_span(void **state)
{
	struct spans_header h = header_of(123, 1);
	struct written w = file_make("spans.123.1", &h);
	struct spans_record record = a_write(5, 1000);
	struct spans_name name = {
		.state = SPANS_NAME, .len = 6, .device = 7, .inode = 9, .text = "/a/b.c"};
	struct spans_reading *r = begin();
	const struct spans_totals *t = spans_reading_totals(r);

	(void)state;
	chunk_put(&w, 0, 124, 2);
	record_put(&w, 0, 0, &record);
	record_put(&w, 0, 1, &name); /* behind its use */
	look(r, false);
	assert_int_equal(taken.n, 0); /* the chunk is not full, there may be more */
	look(r, true);
	assert_int_equal(taken.n, 1);
	assert_int_equal(taken.spans[0].id, 5);
	assert_int_equal(taken.spans[0].start_ns, OFFSET_NS + 1000);
	assert_int_equal(taken.spans[0].end_ns, OFFSET_NS + 1010);
	assert_int_equal(taken.spans[0].pid, 123);
	assert_int_equal(taken.spans[0].tid, 124);
	assert_int_equal(taken.spans[0].key, 9);
	assert_int_equal(taken.spans[0].result, 40);
	assert_string_equal(taken.functions[0], "pwrite");
	assert_string_equal(taken.objects[0], "/a/b.c");
	assert_int_equal(t->processes, 1);
	assert_int_equal(t->spans, 1);
	assert_int_equal(t->killed, 0);
	assert_int_equal(t->called, 1u << layer_find("posix"));
	assert_int_equal(access(w.path, F_OK), -1); /* what was read is removed */
	spans_reading_free(r);
	close(w.fd);
}

/* Full chunks are taken while the program runs, once, and their memory is freed if enough chunks
 * are on offer. */
static void test_full_chunk(void **state)
{
	struct spans_header h = header_of((uint32_t)getpid(), 2);
	struct written w;
	struct spans_reading *r = begin();
	struct stat before, after;

	(void)state;
	memset(h.reusable, 0xff, sizeof(h.reusable));
	w = file_make("spans.1.1", &h);
	for (uint32_t c = 0; c < 2; c++) {
		chunk_put(&w, c, 1, SPANS_IN_CHUNK + c);
		for (uint32_t i = 0; i < SPANS_IN_CHUNK; i++) {
			struct spans_record record = a_write(c * 1000 + i + 1, i);

			if (c == 1 && i == 3)
				record.state = SPANS_BEGUN;
			record_put(&w, c, i, &record);
		}
	}
	assert_int_equal(fstat(w.fd, &before), 0);
	look(r, false);
	assert_int_equal(taken.n, SPANS_IN_CHUNK);
	assert_int_equal(fstat(w.fd, &after), 0);
	assert_true(after.st_blocks < before.st_blocks);
	look(r, false);
	assert_int_equal(taken.n, SPANS_IN_CHUNK);
	look(r, true); /* the one that never ends is there, too */
	assert_int_equal(taken.n, 2 * SPANS_IN_CHUNK);
	assert_int_equal(spans_reading_totals(r)->open, 1);
	assert_int_equal(taken.spans[SPANS_IN_CHUNK + 3].flags, SPAN_OPEN_END);
	spans_reading_free(r);
	close(w.fd);
}

static void test_long_name(void **state)
{
	struct spans_header h = header_of(1, 1);
	struct written w = file_make("spans.1.2", &h);
	struct spans_record record = a_write(1, 1);
	struct spans_name name = {.state = SPANS_NAME, .len = 150, .device = 7, .inode = 9};
	char more[SPANS_RECORD] = {SPANS_MORE};
	struct spans_reading *r = begin();

	(void)state;
	memset(name.text, 'a', sizeof(name.text));
	memset(more + 8, 'b', sizeof(more) - 8);
	chunk_put(&w, 0, 1, 3);
	record_put(&w, 0, 0, &name);
	record_put(&w, 0, 1, more);
	record_put(&w, 0, 2, &record);
	look(r, true);
	assert_int_equal(taken.n, 1);
	assert_int_equal(strlen(taken.objects[0]), 150);
	assert_int_equal(strspn(taken.objects[0], "a"), SPANS_TEXT);
	assert_int_equal(strspn(taken.objects[0] + SPANS_TEXT, "b"), 150 - SPANS_TEXT);
	spans_reading_free(r);
	close(w.fd);
}

static void slot_put(const struct written *w, unsigned slot, uint32_t value)
{
	off_t at = (off_t)(offsetof(struct spans_header, reusable) + slot * sizeof(value));

	assert_int_equal(pwrite(w->fd, &value, sizeof(value), at), sizeof(value));
}

static uint32_t slot_get(const struct written *w, unsigned slot)
{
	off_t at = (off_t)(offsetof(struct spans_header, reusable) + slot * sizeof(uint32_t));
	uint32_t value;

	assert_int_equal(pread(w->fd, &value, sizeof(value), at), sizeof(value));
	return value;
}

/* A chunk full of calls, with ids from `id` on. */
static void chunk_fill(const struct written *w, uint32_t chunk, uint64_t id)
{
	chunk_put(w, chunk, 9, SPANS_IN_CHUNK);
	for (uint32_t i = 0; i < SPANS_IN_CHUNK; i++) {
		struct spans_record record = a_write(id + i, 1000 + i);

		record_put(w, chunk, i, &record);
	}
}

/* A chunk that was read is offered to the program, and read again after the program took it. */
static void test_reuse(void **state)
{
	struct spans_header h = header_of(5, 2);
	struct written w = file_make("spans.5.1", &h);
	struct spans_reading *r = begin();

	(void)state;
	chunk_fill(&w, 0, 1);
	chunk_put(&w, 1, 9, 0); /* another thread's */
	look(r, false);
	assert_int_equal(taken.n, SPANS_IN_CHUNK);
	assert_int_equal(slot_get(&w, 0), 1);
	assert_int_equal(slot_get(&w, 1), 0);
	look(r, false); /* it is on offer: not read again */
	slot_put(&w, 0, SPANS_EMPTYING);
	look(r, false);
	assert_int_equal(taken.n, SPANS_IN_CHUNK);
	chunk_fill(&w, 0, 10000);
	slot_put(&w, 0, 0);
	look(r, false);
	assert_int_equal(taken.n, 2 * SPANS_IN_CHUNK);
	assert_int_equal(taken.spans[SPANS_IN_CHUNK].id, 10000);
	assert_int_equal(slot_get(&w, 0), 1);
	look(r, true); /* at the end, too, what is on offer was read already */
	assert_int_equal(taken.n, 2 * SPANS_IN_CHUNK);
	assert_int_equal(spans_reading_totals(r)->damaged, 0);
	spans_reading_free(r);
	close(w.fd);
}

/* Times that are readings of the processor's counter need two looks. */
static void test_ticks(void **state)
{
	struct spans_header h = header_of(6, 1);
	struct spans_record record = a_write(1, 0);
	struct written w;
	struct spans_reading *r = begin();

	(void)state;
	h.ticks = 1;
	w = file_make("spans.6.1", &h);
	record.start = INT64_MIN;
	record.end = INT64_MAX;
	chunk_put(&w, 0, 9, 1);
	record_put(&w, 0, 0, &record);
	usleep(20000);
	look(r, true);
	assert_int_equal(taken.n, 1);
	assert_true(
		taken.spans[0].start_ns >= 0 && taken.spans[0].end_ns >= taken.spans[0].start_ns);
	spans_reading_free(r);
	close(w.fd);
}

/* A program that was killed, and one that became another one. */
static void test_killed(void **state)
{
	struct spans_header h = header_of(77, 0), next = header_of(78, 0);
	struct spans_reading *r = begin();

	(void)state;
	h.ended = next.ended = 0;
	close(file_make("spans.77.1", &h).fd);
	close(file_make("spans.78.1", &next).fd);
	next.start_ns = 5;
	next.ended = 1;
	close(file_make("spans.78.2", &next).fd);
	look(r, true);
	assert_int_equal(spans_reading_totals(r)->processes, 3);
	assert_int_equal(spans_reading_totals(r)->killed, 1);
	spans_reading_free(r);
}

/* What makes no sense is counted and does no harm. */
static void test_hostile(void **state)
{
	struct spans_header h = header_of(1, UINT32_MAX), other = {.magic = 1};
	struct written w;
	struct spans_record record = a_write(1, INT64_MAX);
	struct spans_name name = {.state = SPANS_NAME, .len = UINT32_MAX};
	struct spans_reading *r = begin();
	char path[TEMP_PATH_MAX];

	(void)state;
	h.n_chunks = 3;
	h.lost = 4;
	w = file_make("spans.1.3", &h);
	chunk_put(&w, 0, 1, UINT32_MAX);
	record.end = INT64_MIN;
	record_put(&w, 0, 0, &record);
	record.layer = 200;
	record_put(&w, 0, 1, &record);
	record_put(&w, 0, 2, &name);
	name.len = SPANS_NAME_MAX; /* longer than what is left of the chunk */
	record_put(&w, 0, SPANS_IN_CHUNK - 1, &name);
	close(file_make("spans.2.1", &other).fd);
	snprintf(path, sizeof(path), "%s/spans.3.1", temp_dir_path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	look(r, true);
	assert_int_equal(taken.n, 1);
	assert_int_equal(spans_reading_totals(r)->lost, 4);
	assert_true(spans_reading_totals(r)->damaged >= 4);
	spans_reading_free(r);
	close(w.fd);
	unlink(path);
}

/* Asynchronous calls, of which the second was not tried. */
static void test_later(void **state)
{
	struct spans_header h = header_of(123, 1);
	struct written w = file_make("spans.later.1", &h);
	struct spans_record record = a_write(5, 1000);
	struct spans_reading *r = begin();

	(void)state;
	chunk_put(&w, 0, 124, 3);
	record.flags = SPAN_LATER;
	memset(record.short_function, 'f', sizeof(record.short_function));
	record.requested = 1004;
	record_put(&w, 0, 0, &record);
	record.state = SPANS_MORE;
	record_put(&w, 0, 1, &record);
	record.state = SPANS_BEGUN; /* it was being requested when the process ended */
	record.requested = 0;
	record_put(&w, 0, 2, &record);
	look(r, true);
	assert_int_equal(taken.n, 2);
	assert_int_equal(taken.spans[0].flags, SPAN_LATER);
	assert_int_equal(taken.spans[0].unique, 4);
	assert_int_equal(strlen(taken.functions[0]), sizeof(record.short_function));
	assert_int_equal(taken.spans[1].flags, SPAN_LATER | SPAN_OPEN_END);
	assert_int_equal(taken.spans[1].unique, 0);
	assert_int_equal(spans_reading_totals(r)->damaged, 0);
	close(w.fd);
	spans_reading_free(r);
}

/* A process that may not have a file leaves it empty; another name of a file elsewhere is not read.
 */
static void test_refused(void **state)
{
	struct spans_header h = header_of(123, 1);
	struct written linked = file_make("elsewhere", &h), empty = file_make("spans.empty.1", &h);
	char path[TEMP_PATH_MAX + 8];
	struct spans_reading *r;
	struct stat st;

	(void)state;
	assert_int_equal(ftruncate(empty.fd, 0), 0);
	snprintf(path, sizeof(path), "%s/spans.link.1", temp_dir_path);
	assert_int_equal(link(linked.path, path), 0);
	r = begin();
	look(r, true);
	assert_int_equal(taken.n, 0);
	assert_int_equal(spans_reading_totals(r)->refused, 1);
	assert_int_equal(spans_reading_totals(r)->damaged, 1);
	assert_int_equal(spans_reading_totals(r)->processes, 0);
	assert_int_equal(fstat(linked.fd, &st), 0);
	assert_int_equal(st.st_size, sizeof(h));
	close(linked.fd);
	close(empty.fd);
	unlink(path);
	unlink(linked.path);
	spans_reading_free(r);
}

static void test_no_directory(void **state)
{
	struct spans_reading *r;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(spans_reading_new("/nowhere/at/all", 0, take, &taken, &r, &err), 0);
	assert_int_equal(spans_reading_look(r, true, &err), -ENOENT);
	spans_reading_free(r);
	spans_reading_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_span),
		cmocka_unit_test(test_full_chunk),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
