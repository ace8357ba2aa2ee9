#include "archive_util.h"

#include "archive/span_log.h"
#include "archive/trace_log.h"

#define T0_NS INT64_C(1304899205000000000)

DEFINE_CLEANUP(struct trace_log *, trace_log_free);

static char long_text[SPAN_TEXT_MAX + 100];

static const struct span spans[] = {
	{.id = 1, .layer = "", .function = "", .object = ""},
	{.id = UINT64_MAX,
		.parent = UINT64_C(1) << 63,
		.start_ns = T0_NS,
		.end_ns = T0_NS + 1500,
		.pid = INT32_MAX,
		.tid = 7,
		.rank = 3,
		.op = SPAN_WRITE,
		.flags = SPAN_COLLECTIVE | SPAN_BUFFERED,
		.device = UINT64_MAX - 1,
		.inode = 42,
		.key = UINT64_C(0xfedcba9876543210),
		.offset = INT64_MAX,
		.size = 65536,
		.result = -28,
		.unique = 99,
		.connection = UINT64_MAX,
		.position = UINT32_MAX,
		.length = 131072,
		.asker = 4711,
		.layer = "mpi-io",
		.function = "MPI_File_write_at_all",
		.object = "/mnt/checkpoint.0001"},
	{.id = 2,
		.start_ns = T0_NS,
		.end_ns = T0_NS,
		.rank = SPAN_NO_RANK,
		.offset = SPAN_NO_OFFSET,
		.op = SPAN_MARK,
		.layer = "posix",
		.function = "region",
		.object = long_text},
};

static void check_text(const char *want, const char *got)
{
	assert_int_equal(strlen(got), strnlen(want, SPAN_TEXT_MAX));
	assert_memory_equal(got, want, strlen(got));
}

static int expect_span(void *ctx, uint64_t record, const struct span *s)
{
	uint64_t *n = ctx;
	const struct span *want = &spans[*n % 3];

	assert_int_equal(record, *n);
	check_text(want->layer, s->layer);
	check_text(want->function, s->function);
	check_text(want->object, s->object);
	assert_int_equal(s->id, want->id);
	assert_int_equal(s->parent, want->parent);
	assert_int_equal(s->start_ns, want->start_ns);
	assert_int_equal(s->end_ns, want->end_ns);
	assert_int_equal(s->pid, want->pid);
	assert_int_equal(s->tid, want->tid);
	assert_int_equal(s->rank, want->rank);
	assert_int_equal(s->op, want->op);
	assert_int_equal(s->flags, want->flags);
	assert_int_equal(s->device, want->device);
	assert_int_equal(s->inode, want->inode);
	assert_int_equal(s->key, want->key);
	assert_int_equal(s->offset, want->offset);
	assert_int_equal(s->size, want->size);
	assert_int_equal(s->result, want->result);
	assert_int_equal(s->unique, want->unique);
	assert_int_equal(s->connection, want->connection);
	assert_int_equal(s->position, want->position);
	assert_int_equal(s->length, want->length);
	assert_int_equal(s->asker, want->asker);
	++*n;
	return 0;
}

static int unexpected_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	(void)ctx;
	(void)record;
	(void)e;
	fail_msg("a span was read as a system call");
	return 0;
}

static void write_times(const char *path, unsigned times)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(path);
	assert_int_equal(lp_archive_create(path, &truth_meta, &w, &err), 0);
	for (unsigned i = 0; i < times; i++) {
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(trace_log_add_span(l, &spans[k]), 0);
	}
	assert_int_equal(trace_log_records(l), 3 * times);
	assert_true(trace_log_waiting(l) > 0);
	assert_int_equal(trace_log_write(l, w, &err), 0);
	assert_int_equal(trace_log_records(l), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
}

static uint64_t read_all(const char *path)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	uint64_t n = 0;
	struct trace_log_reader to = {.event = unexpected_event, .span = expect_span, .ctx = &n};
	struct lp_err err = {0};

	if (lp_archive_open(path, NULL, NULL, &s, &err) < 0 || trace_log_read(s, &to, &err) < 0)
		fail_msg("%s", err.text);
	return n;
}

static void test_round_trip(void **state)
{
	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	write_times(test_path("spans"), 1);
	assert_int_equal(read_all(test_path("spans")), 3);
}

/* More than fits into one frame. */
static void test_many_frames(void **state)
{
	(void)state;
	write_times(test_path("spans"), 8192);
	assert_int_equal(read_all(test_path("spans")), 3 * 8192);
}

static int keep_span(void *ctx, uint64_t record, const struct span *s)
{
	struct span *kept = ctx;

	(void)record;
	*kept = *s;
	kept->layer = kept->function = kept->object = "";
	return 0;
}

/* A foreign log: few fields, and values that make no sense. */
static void test_nonsense(void **state)
{
	static const struct lp_log_field few[] = {{"start", "ns since 1970", LP_LOG_INT},
		{"duration", "ns", LP_LOG_INT}, {"operation", "", LP_LOG_INT},
		{"offset", "bytes", LP_LOG_INT}, {"size", "bytes", LP_LOG_INT}};
	const int64_t start[] = {INT64_MIN}, duration[] = {-1}, op[] = {1 << 20}, size[] = {-5};
	const int64_t *const ints[] = {start, duration, op, size, size};
	const struct lp_log log = {.name = "spans",
		.fields = few,
		.n_fields = 5,
		.n_records = 1,
		.ints = ints,
		.texts = (const struct lp_log_text *const[]){NULL, NULL, NULL, NULL, NULL}};
	struct span kept;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(span_log_take(&log, keep_span, &kept, &err), 0);
	assert_int_equal(kept.start_ns, 0);
	assert_int_equal(kept.end_ns, 0);
	assert_int_equal(kept.op, SPAN_OTHER);
	assert_int_equal(kept.offset, SPAN_NO_OFFSET);
	assert_int_equal(kept.size, 0);
}

static void test_wrong_type(void **state)
{
	static const struct lp_log_field wrong[] = {{"layer", "", LP_LOG_INT}};
	const int64_t zero[] = {0};
	const int64_t *const ints[] = {zero};
	const struct lp_log log = {.name = "spans",
		.fields = wrong,
		.n_fields = 1,
		.n_records = 1,
		.ints = ints,
		.texts = (const struct lp_log_text *const[]){NULL}};
	struct span kept;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(span_log_take(&log, keep_span, &kept, &err), -EBADMSG);
	assert_string_equal(
		err.text, "the log spans has a field layer that is a number, not a text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_many_frames),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_wrong_type),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
