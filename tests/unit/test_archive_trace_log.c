#include "archive_util.h"

#include "archive/trace_log.h"
#include "model/syscalls.h"
#include <signal.h>
#include <sys/resource.h>

#define T0_NS INT64_C(1304899205000000000)

DEFINE_CLEANUP(struct trace_log *, trace_log_free);

static struct lp_archive_writer *create(const char *path)
{
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(path);
	if (lp_archive_create(path, &truth_meta, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static void finish(struct lp_archive_writer *w)
{
	struct lp_err err = {0};

	if (lp_archive_close(w, &err) < 0)
		fail_msg("%s", err.text);
}

static void write_all(struct trace_log *l, struct lp_archive_writer *w)
{
	struct lp_err err = {0};

	if (trace_log_write(l, w, &err) < 0)
		fail_msg("%s", err.text);
}

/* What is expected back, and how far it has come. */
struct expected {
	const struct trace_event *events;
	const struct trace_descriptor *descriptors;
	uint64_t n_events, n_descriptors;
};

/* What becomes of a time that no clock shows. */
static int64_t limited(int64_t ns, int64_t max)
{
	return ns < 0 ? 0 : ns > max ? max : ns;
}

static void check_event(const struct trace_event *want, const struct trace_event *got)
{
	assert_int_equal(got->seq, want->seq);
	assert_int_equal(got->start_ns, limited(want->start_ns, TRACE_LOG_TIME_MAX));
	assert_int_equal(got->dur_ns, limited(want->dur_ns, TRACE_LOG_DURATION_MAX));
	assert_int_equal(got->pid, want->pid);
	assert_int_equal(got->tid, want->tid);
	assert_int_equal(got->nr, want->nr);
	assert_int_equal(got->what, want->what);
	assert_int_equal(got->flags, want->flags);
	assert_int_equal(got->file, want->file);
	assert_int_equal(got->ret, want->ret);
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		assert_int_equal(got->args[i], want->args[i]);
	assert_int_equal(got->text_len, want->text_len);
	if (want->text_len)
		assert_memory_equal(got->text, want->text, want->text_len);
}

static int expect_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct expected *x = ctx;

	assert_int_equal(record, x->n_events);
	check_event(&x->events[x->n_events++], e);
	return 0;
}

static int expect_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct expected *x = ctx;
	const struct trace_descriptor *want = &x->descriptors[x->n_descriptors];

	assert_int_equal(record, x->n_descriptors);
	assert_int_equal(d->seq, want->seq);
	assert_int_equal(d->time_ns, limited(want->time_ns, TRACE_LOG_TIME_MAX));
	assert_int_equal(d->pid, want->pid);
	assert_int_equal(d->fd, want->fd);
	assert_int_equal(d->from, want->from);
	assert_int_equal(d->change, want->change);
	assert_int_equal(d->file, want->file);
	assert_string_equal(d->name, want->name ? want->name : "");
	x->n_descriptors++;
	return 0;
}

static void read_expected(const char *path, struct expected *x)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct trace_log_reader to = {
		.event = expect_event, .descriptor = expect_descriptor, .ctx = x};
	struct lp_err err = {0};

	x->n_events = x->n_descriptors = 0;
	if (lp_archive_open(path, NULL, NULL, &s, &err) < 0 || trace_log_read(s, &to, &err) < 0)
		fail_msg("%s", err.text);
}

static const char every_byte[] = "/a\0b\xff\n\x80";

/* Every member, with all the bits that it has. */
static const struct trace_event events[] = {
	{.what = TRACE_CALL},
	{.seq = 1,
		.start_ns = T0_NS,
		.dur_ns = 1234567,
		.pid = 812,
		.tid = 813,
		.nr = 3,
		.what = TRACE_CALL,
		.flags = TRACE_COARSE,
		.file = TRACE_FILE_STORAGE,
		.ret = -28,
		.args = {1, 2, 3, 4, 5, 6},
		.text = every_byte,
		.text_len = sizeof(every_byte)},
	{.seq = UINT64_MAX,
		.start_ns = INT64_MAX,
		.dur_ns = INT64_MAX,
		.pid = INT32_MAX,
		.tid = INT32_MIN,
		.nr = UINT16_MAX,
		.what = UINT8_MAX,
		.flags = UINT8_MAX,
		.file = UINT8_MAX,
		.ret = INT64_MIN,
		.args = {UINT64_MAX, 0, UINT64_C(1) << 63, 1, UINT64_MAX - 1, 7}},
	{.start_ns = INT64_MIN, .dur_ns = INT64_MIN, .what = TRACE_PENDING, .nr = 0},
	{.what = TRACE_SIGNAL, .nr = 25, .start_ns = T0_NS, .pid = 1},
	{.what = TRACE_SIGNAL, .nr = 9999},
	{.what = TRACE_EXIT, .nr = 6, .ret = 6},
	{.what = TRACE_EXIT},
	{.what = TRACE_CALL, .flags = TRACE_COMPAT, .nr = 5, .text = "x", .text_len = 1},
	{.what = TRACE_LOST, .ret = 1000000},
	{.what = TRACE_ASYNC, .nr = 1, .args = {5, 6, 7, 8}},
};

static const struct trace_descriptor descriptors[] = {
	{0},
	{.seq = 7,
		.time_ns = T0_NS,
		.pid = 812,
		.fd = 5,
		.from = 3,
		.change = TRACE_FD_DUP,
		.file = TRACE_FILE_TCP,
		.name = "tcp 10.0.0.1:24007 10.0.0.9:49151"},
	{.seq = UINT64_MAX,
		.time_ns = INT64_MIN,
		.pid = INT32_MIN,
		.fd = -1,
		.from = INT32_MAX,
		.change = UINT8_MAX,
		.file = UINT8_MAX,
		.name = ""},
	{.time_ns = INT64_MAX, .change = TRACE_FD_CLOSE, .name = "/data/\xff"},
};

static void add_all(struct trace_log *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(trace_log_add(l, &events[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(descriptors); i++)
		assert_int_equal(trace_log_add_descriptor(l, &descriptors[i]), 0);
}

static void test_every_member(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	struct lp_archive_writer *w = create(test_path("e"));
	struct expected x = {.events = events, .descriptors = descriptors};
	struct lp_err err = {0};

	(void)state;
	add_all(l);
	assert_int_equal(trace_log_records(l), ARRAY_SIZE(events) + ARRAY_SIZE(descriptors));
	trace_log_clear(l);
	assert_int_equal(trace_log_records(l), 0);
	assert_int_equal(trace_log_waiting(l), 0);
	add_all(l);
	assert_true(trace_log_waiting(l) > ARRAY_SIZE(events) * 100);
	write_all(l, w);
	assert_int_equal(trace_log_waiting(l), 0);
	assert_int_equal(trace_log_records(l), 0);
	finish(w);
	read_expected(test_path("e"), &x);
	assert_int_equal(x.n_events, ARRAY_SIZE(events));
	assert_int_equal(x.n_descriptors, ARRAY_SIZE(descriptors));
	assert_int_equal(lp_archive_seal(test_path("e"), NULL, &err), 0);
	read_expected(test_path("e"), &x);
	assert_int_equal(x.n_events, ARRAY_SIZE(events));
	assert_int_equal(x.n_descriptors, ARRAY_SIZE(descriptors));
}

static int is_named(void *ctx, const struct lp_log *log)
{
	static const char *const names[] = {
		"read", "close", "", NULL, "SIGXFSZ", "", "SIGABRT", "", "open", "", "write"};
	uint32_t f = 0;

	(void)ctx;
	while (strcmp(log->fields[f].name, "name"))
		f++;
	for (uint32_t i = 0; i < log->n_records; i++) {
		const char *name = names[i] ? names[i] : "read";

		assert_int_equal(log->texts[f][i].len, strlen(name));
		assert_memory_equal(log->texts[f][i].bytes, name, strlen(name));
	}
	return 0;
}

/* Readers of the log need no table: calls and signals have names in it. */
static void test_names(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("n"));
	struct lp_err err = {0};

	(void)state;
	if (syscall_number("read") != 0 || syscall_number("close") != 3)
		skip(); /* another machine, other numbers */
	add_all(l);
	write_all(l, w);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("n"), NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_archive_logs(s, "syscalls", is_named, NULL, &err), 0);
	assert_true(trace_log_present(s));
}

static void test_empty(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("m"));
	struct expected x = {0};
	struct lp_err err = {0};

	(void)state;
	write_all(l, w);
	finish(w);
	read_expected(test_path("m"), &x);
	assert_int_equal(lp_archive_open(test_path("m"), NULL, NULL, &s, &err), 0);
	assert_false(trace_log_present(s));
	trace_log_free(NULL);
}

static int count_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	uint64_t *n = ctx;

	assert_int_equal(record, *n);
	assert_int_equal(e->seq, *n);
	assert_int_equal(e->start_ns, T0_NS + (int64_t)*n * 1000);
	++*n;
	return 0;
}

static void add_some(struct trace_log *l, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		struct trace_event e = {.seq = i,
			.start_ns = T0_NS + (int64_t)i * 1000,
			.dur_ns = 500,
			.what = TRACE_CALL};

		assert_int_equal(trace_log_add(l, &e), 0);
	}
}

/* More than one frame, by several writes, by one that is larger than a frame, and by another writer
 * that continues the file. */
static void test_many(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	_cleanup_(trace_log_freep) struct trace_log *other = trace_log_new();
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("f"));
	uint64_t n = 0;
	struct trace_log_reader to = {.event = count_event, .descriptor = NULL, .ctx = &n};
	struct lp_err err = {0};

	(void)state;
	add_some(l, 0, 10);
	write_all(l, w);
	add_some(l, 10, 70000);
	write_all(l, w);
	lp_archive_abandon(w);
	assert_int_equal(lp_archive_append(test_path("f"), &w, &err), 0);
	add_some(other, 70010, 5);
	write_all(other, w);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("f"), NULL, NULL, &s, &err), 0);
	assert_int_equal(s->first_us, T0_NS / 1000);
	assert_int_equal(s->last_us, T0_NS / 1000 + 70014);
	assert_int_equal(trace_log_read(s, &to, &err), 0);
	assert_int_equal(n, 70015);
}

/* Texts that are longer than may be are cut, and say so. */
static int is_cut(void *ctx, uint64_t record, const struct trace_event *e)
{
	(void)ctx;
	(void)record;
	assert_int_equal(e->text_len, TRACE_TEXT_MAX);
	assert_int_equal(e->flags, TRACE_CUT);
	return 0;
}

static int is_cut_name(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	(void)ctx;
	(void)record;
	assert_int_equal(strlen(d->name), TRACE_TEXT_MAX);
	return 42;
}

static void test_long_texts(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("l"));
	struct trace_log_reader to = {.event = is_cut};
	char text[TRACE_TEXT_MAX + 10];
	struct trace_event e = {.what = TRACE_CALL, .text = text, .text_len = sizeof(text) - 1};
	struct trace_descriptor d = {.name = text};
	struct lp_err err = {0};

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(trace_log_add(l, &e), 0);
	assert_int_equal(trace_log_add_descriptor(l, &d), 0);
	write_all(l, w);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("l"), NULL, NULL, &s, &err), 0);
	assert_int_equal(trace_log_read(s, &to, &err), 0);
	to.descriptor = is_cut_name; /* and what a function returns comes back */
	assert_int_equal(trace_log_read(s, &to, &err), 42);
}

/* A foreign log: two records. */
static void write_foreign(const char *path, const char *name, const struct lp_log_field *fields,
	uint32_t n_fields, const char *text)
{
	static const int64_t numbers[] = {77, 78};
	const struct lp_log_text texts[] = {
		{text, (uint32_t)strlen(text)}, {text, (uint32_t)strlen(text)}};
	const int64_t *ints[8] = {0};
	const struct lp_log_text *columns[8] = {0};
	struct lp_log log = {.name = name,
		.fields = fields,
		.n_fields = n_fields,
		.n_records = 2,
		.ints = ints,
		.texts = columns};
	struct lp_archive_writer *w = create(path);
	struct lp_err err = {0};

	for (uint32_t i = 0; i < n_fields; i++) {
		if (fields[i].type == LP_LOG_INT)
			ints[i] = numbers;
		else
			columns[i] = texts;
	}
	assert_int_equal(lp_archive_write_log(w, &log, &err), 0);
	finish(w);
}

/* Unknown fields are ignored, missing ones are 0; and numbers of calls are those of this machine,
 * whatever machine wrote it. */
static void test_other_fields(void **state)
{
	static const struct lp_log_field fields[] = {{"colour", "", LP_LOG_TEXT},
		{"pid", "", LP_LOG_INT}, {"what", "", LP_LOG_INT}, {"weight", "g", LP_LOG_INT}};
	static const struct lp_log_field foreign[] = {
		{"nr", "", LP_LOG_INT}, {"name", "", LP_LOG_TEXT}};
	const struct trace_event want[] = {{.pid = 77, .what = 77}, {.pid = 78, .what = 78}};
	struct expected x = {.events = want};

	(void)state;
	write_foreign(test_path("o"), "syscalls", fields, 4, "red");
	read_expected(test_path("o"), &x);
	assert_int_equal(x.n_events, 2);
	write_foreign(test_path("o"), "descriptors", foreign, 2, "y");
	x.descriptors = (const struct trace_descriptor[]){{.name = "y"}, {.name = "y"}};
	read_expected(test_path("o"), &x);
	assert_int_equal(x.n_descriptors, 2);
	write_foreign(test_path("o"), "something", fields, 4, "red");
	read_expected(test_path("o"), &x);
	assert_int_equal(x.n_events + x.n_descriptors, 0);
}

static int is_close(void *ctx, uint64_t record, const struct trace_event *e)
{
	(void)ctx;
	(void)record;
	assert_int_equal(e->nr, syscall_number("close"));
	return 0;
}

static void test_other_machine(void **state)
{
	static const struct lp_log_field fields[] = {
		{"nr", "", LP_LOG_INT}, {"name", "", LP_LOG_TEXT}, {"what", "", LP_LOG_INT}};
	static const int64_t nr[] = {57, 57}, what[] = {TRACE_CALL, TRACE_ASYNC};
	static const struct lp_log_text names[] = {{"close", 5}, {"close", 5}};
	const int64_t *ints[] = {nr, NULL, what};
	const struct lp_log_text *texts[] = {NULL, names, NULL};
	struct lp_log log = {.name = "syscalls",
		.fields = fields,
		.n_fields = 3,
		.n_records = 2,
		.ints = ints,
		.texts = texts};
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct trace_log_reader to = {.event = is_close};
	struct lp_archive_writer *w = create(test_path("x"));
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_write_log(w, &log, &err), 0);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("x"), NULL, NULL, &s, &err), 0);
	assert_int_equal(trace_log_read(s, &to, &err), 0);
}

/* A number where a text should be, and the other way round. */
static void test_wrong_types(void **state)
{
	static const struct {
		struct lp_log_field field;
		const char *what;
	} cases[] = {
		{{"text", "", LP_LOG_INT}, "a field text that is a number, not a text"},
		{{"pid", "", LP_LOG_TEXT}, "a field pid that is a text, not a number"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(lp_source_closep) struct lp_source *s = NULL;
		struct trace_log_reader to = {.event = expect_event};
		struct lp_err err = {0};

		write_foreign(test_path("w"), "syscalls", &cases[i].field, 1, "red");
		assert_int_equal(lp_archive_open(test_path("w"), NULL, NULL, &s, &err), 0);
		assert_int_equal(trace_log_read(s, &to, &err), -EBADMSG);
		assert_non_null(strstr(err.text, cases[i].what));
	}
}

/* Files may not grow beyond `bytes` from now on. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What could not be written is written the next time, once. */
static void test_no_room(void **state)
{
	_cleanup_(trace_log_freep) struct trace_log *l = trace_log_new();
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w = create(test_path("u"));
	struct lp_err err = {0};
	uint64_t n = 0;
	struct trace_log_reader to = {.event = count_event, .descriptor = NULL, .ctx = &n};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	add_some(l, 0, 3);
	write_all(l, w);
	add_some(l, 3, 70000);
	limit_files(lp_archive_size(w) + 40);
	assert_int_equal(trace_log_write(l, w, &err), -EFBIG);
	assert_int_equal(trace_log_records(l), 70000);
	limit_files(RLIM_INFINITY);
	add_some(l, 70003, 3);
	write_all(l, w);
	finish(w);
	assert_int_equal(lp_archive_open(test_path("u"), NULL, NULL, &s, &err), 0);
	assert_int_equal(trace_log_read(s, &to, &err), 0);
	assert_int_equal(n, 70006);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_other_fields),
		cmocka_unit_test(test_other_machine),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
