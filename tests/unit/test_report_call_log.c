/* Logs as the recorder writes them, printed. */
#include "archive/trace_log.h"
#include "base/cleanup.h"
#include "model/syscalls.h"
#include "report/call_log.h"
#include "temp_dir.h"
#include <asm/unistd.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>

/* 2026-11-15T23:59:59Z: the second event is of another day. */
#define START INT64_C(1794787199)
#define NS INT64_C(1000000000)

static struct trace_event event(unsigned what, uint64_t seq, int64_t at_s)
{
	return (struct trace_event){.what = (uint8_t)what,
		.seq = seq,
		.start_ns = (START + at_s) * NS,
		.dur_ns = 2000,
		.pid = 812,
		.tid = 812};
}

static void add_call(struct trace_log *l, uint64_t seq, int64_t at_s, unsigned nr, int64_t ret,
	uint64_t fd, const char *path)
{
	struct trace_event e = event(TRACE_CALL, seq, at_s);

	e.nr = (uint16_t)nr;
	e.ret = ret;
	e.args[0] = fd;
	e.text = path;
	e.text_len = path ? (uint32_t)strlen(path) : 0;
	assert_int_equal(trace_log_add(l, &e), 0);
}

static void add_change(
	struct trace_log *l, uint64_t seq, int64_t at_s, unsigned change, const char *name)
{
	const struct trace_descriptor d = {.seq = seq,
		.time_ns = (START + at_s) * NS + 2000,
		.pid = 812,
		.fd = 3,
		.from = -1,
		.change = (uint8_t)change,
		.file = TRACE_FILE_STORAGE,
		.name = name};

	assert_int_equal(trace_log_add_descriptor(l, &d), 0);
}

static void fill(struct trace_log *l, int64_t later)
{
	struct trace_event e;

	add_change(l, 0, later - 1, TRACE_FD_BEFORE, "/old");
	add_call(l, 1, later, __NR_close, 0, 3, NULL);
	add_change(l, 1, later, TRACE_FD_CLOSE, "/old");
	add_call(l, 2, later + 1, __NR_openat, 3, (uint64_t)-100, "/new");
	add_change(l, 2, later + 1, TRACE_FD_OPEN, "/new");
	add_call(l, 3, later + 2, __NR_fsync, -EIO, 3, NULL);
	add_call(l, 4, later + 3, __NR_write, -EAGAIN, 3, NULL);
	e = event(TRACE_PENDING, 5, later + 4);
	e.nr = __NR_read;
	e.args[0] = 3;
	e.dur_ns = 31 * NS;
	e.tid = 815;
	assert_int_equal(trace_log_add(l, &e), 0);
	e = event(TRACE_LOST, 0, later + 5);
	e.ret = 17;
	e.pid = e.tid = 0;
	assert_int_equal(trace_log_add(l, &e), 0);
	e = event(TRACE_EXIT, 6, later + 6);
	e.ret = SIGABRT;
	assert_int_equal(trace_log_add(l, &e), 0);
}

static void make_archive(const char *name, const char *observer, int64_t later)
{
	const struct lp_archive_meta meta = {.observer = observer, .interval_us = 1000000};
	struct lp_archive_writer *w;
	struct trace_log *l = trace_log_new();

	assert_int_equal(lp_archive_create(temp_path(name), &meta, &w, NULL), 0);
	if (later >= 0) {
		fill(l, later);
		assert_int_equal(trace_log_write(l, w, NULL), 0);
	}
	trace_log_free(l);
	assert_int_equal(lp_archive_close(w, NULL), 0);
}

/* What is printed of the directory. */
static char *print(const struct call_log_filter *f, int expected)
{
	const char *path = temp_dir_path;
	struct lp_dataset *ds;
	struct lp_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(call_log_print(out, ds, f, NULL, &err), expected);
	assert_int_equal(err.text[0] != '\0', expected < 0);
	lp_dataset_close(ds);
	fclose(out);
	return text;
}

static void expect(const struct call_log_filter *f, const char *expected)
{
	_cleanup_free_ char *text = print(f, 0);

	assert_string_equal(text, expected);
}

static void test_text(void **state)
{
	(void)state;
	make_archive("a.lpa", "s3", 0);
	expect(&(struct call_log_filter){.calls = true},
		"# 2026-11-15 UTC\n"
		"23:59:59.000000 812/812 close(3</old>) = 0 <0.000002>\n"
		"# 2026-11-16 UTC\n"
		"00:00:00.000000 812/812 openat(AT_FDCWD, \"/new\", O_RDONLY) = 3</new> "
		"<0.000002>\n"
		"00:00:01.000000 812/812 fsync(3</new>) = -1 EIO (Input/output error) <0.000002>\n"
		"00:00:02.000000 812/812 write(3</new>, 0, 0) = -1 EAGAIN (Resource temporarily "
		"unavailable) <0.000002>\n"
		"00:00:03.000000 812/815 read(3</new>, 0, 0) <... 31.0 s, not returned>\n"
		"00:00:04.000000 *** 17 events lost here ***\n"
		"00:00:05.000000 812/812 +++ killed by SIGABRT +++\n");
	expect(&(struct call_log_filter){.descriptors = true},
		"# 2026-11-15 UTC\n"
		"23:59:58.000002 812 before 3 storage /old\n"
		"23:59:59.000002 812 close 3 storage /old\n"
		"# 2026-11-16 UTC\n"
		"00:00:00.000002 812 open 3 storage /new\n");
}

/* Names come from before the time that is asked for. */
static void test_time(void **state)
{
	(void)state;
	make_archive("a.lpa", "s3", 0);
	expect(&(struct call_log_filter){.calls = true,
		       .from_us = (START + 2) * 1000000,
		       .to_us = (START + 3) * 1000000},
		"# 2026-11-16 UTC\n"
		"00:00:01.000000 812/812 fsync(3</new>) = -1 EIO (Input/output error) "
		"<0.000002>\n");
}

static void test_several(void **state)
{
	(void)state;
	make_archive("a.lpa", "s3", 0);
	make_archive("b.lpa", "c1", 1);
	make_archive("c.lpa", "c2", -1); /* no log */
	expect(
		&(struct call_log_filter){
			.calls = true, .failed = true, .n_errnos = 1, .errnos = (const int[]){EIO}},
		"# 2026-11-16 UTC\n"
		"00:00:01.000000 s3 812/812 fsync(3</new>) = -1 EIO (Input/output error) "
		"<0.000002>\n"
		"00:00:02.000000 c1 812/812 fsync(3</new>) = -1 EIO (Input/output error) "
		"<0.000002>\n"
		"00:00:04.000000 s3 *** 17 events lost here ***\n"
		"00:00:05.000000 c1 *** 17 events lost here ***\n");
}

static void test_json(void **state)
{
	_cleanup_free_ char *text = NULL;
	json_t *object;

	(void)state;
	make_archive("a.lpa", "s3", 0);
	text = print(&(struct call_log_filter){.calls = true,
			     .json = true,
			     .names = (const char *const[]){"openat", "close"},
			     .n_names = 2},
		0);
	object = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(json_string_value(json_object_get(object, "call")), "close");
	assert_string_equal(json_string_value(json_object_get(object, "name")), "/old");
	json_decref(object);
	object = json_loads(strchr(text, '\n') + 1, JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(json_string_value(json_object_get(object, "call")), "openat");
	assert_string_equal(json_string_value(json_object_get(object, "name")), "/new");
	assert_int_equal(json_integer_value(json_object_get(object, "record")), 1);
	json_decref(object);
}

static void test_none(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	make_archive("c.lpa", "c2", -1);
	text = print(&(struct call_log_filter){.calls = true}, -ENOENT);
	assert_string_equal(text, "");
}

static void test_filter(void **state)
{
	struct trace_event e = event(TRACE_CALL, 1, 0), sig = event(TRACE_SIGNAL, 1, 0);
	struct trace_event lost = event(TRACE_LOST, 1, 0), end = event(TRACE_EXIT, 1, 0);
	struct call_log_filter f = {0};

	(void)state;
	e.nr = __NR_write;
	e.tid = 815;
	assert_true(call_log_wants(&f, &e) && call_log_wants(&f, &sig));
	f.pids = (const int32_t[]){815};
	f.n_pids = 1;
	assert_true(call_log_wants(&f, &e) && call_log_wants(&f, &lost));
	assert_false(call_log_wants(&f, &sig));
	f = (struct call_log_filter){.classes = 1u << TRACE_CALL_WRITE};
	assert_true(call_log_wants(&f, &e) && call_log_wants(&f, &lost));
	assert_false(call_log_wants(&f, &sig));
	f.classes = 1u << TRACE_CALL_READ;
	assert_false(call_log_wants(&f, &e));
	f = (struct call_log_filter){.slower_ns = 2000};
	assert_true(call_log_wants(&f, &e));
	f.slower_ns = 2001;
	assert_false(call_log_wants(&f, &e));
	f = (struct call_log_filter){.failed = true};
	assert_false(call_log_wants(&f, &e) || call_log_wants(&f, &sig));
	assert_false(call_log_wants(&f, &end));
	end.ret = SIGABRT;
	assert_true(call_log_wants(&f, &end));
	e.ret = -ENOSPC;
	assert_true(call_log_wants(&f, &e));
	f.errnos = (const int[]){EIO, ENOSPC};
	f.n_errnos = 2;
	assert_true(call_log_wants(&f, &e));
	f.n_errnos = 1;
	assert_false(call_log_wants(&f, &e));
	f = (struct call_log_filter){.names = (const char *const[]){"read"}, .n_names = 1};
	assert_false(call_log_wants(&f, &e));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_time),
		TEST(test_several),
		TEST(test_json),
		TEST(test_none),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
