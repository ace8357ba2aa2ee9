/* From archives to a verdict: logs and rows are read, judged, and learnt from. */
#include "table_rig.h"
#include "temp_dir.h"

#include "archive/trace_log.h"
#include "explain/semantic.h"
#include "explain/semantic_read.h"
#include "import/dataset.h"
#include "model/syscalls.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <signal.h>

static const struct lp_column sys_columns[] = {
	{"nsread_n", "", LP_COUNTER, 64}, {"calls", "", LP_COUNTER, 64}};
static const struct lp_schema sys_schema = {"sys", sys_columns, 2};
static const struct lp_column peer_columns[] = {{"requests", "", LP_COUNTER, 64},
	{"responses", "", LP_COUNTER, 64}, {"waiting_us", "us", LP_GAUGE, 0}};
static const struct lp_schema peer_schema = {"peer", peer_columns, 3};
static const struct lp_column answer_columns[] = {
	{"answer_n", "", LP_COUNTER, 64}, {"answer_ns", "ns", LP_COUNTER, 64}};
static const struct lp_schema answer_schema = {"peer", answer_columns, 2};
static const struct lp_column call_columns[] = {{"n", "", LP_COUNTER, 64}};
static const struct lp_schema call_schema = {"call", call_columns, 1};

static int64_t at_ns(double s)
{
	return T0 * 1000 + (int64_t)(s * 1e9);
}

static struct trace_event call_event(double at, int pid, const char *call, int fd, int64_t ret)
{
	return (struct trace_event){.start_ns = at_ns(at),
		.pid = pid,
		.tid = pid,
		.what = TRACE_CALL,
		.nr = (uint16_t)syscall_number(call),
		.file = TRACE_FILE_STORAGE,
		.ret = ret,
		.args = {(uint64_t)fd}};
}

/* One archive with the rows in `r` and the log in `log`. */
static void archive_write(const char *name, const char *observer, const char *address,
	struct rig *r, struct trace_log *log)
{
	char extra[64];
	struct lp_archive_meta meta = {
		.observer = observer, .interval_us = US_PER_SEC, .extra = extra};
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};

	snprintf(extra, sizeof(extra), "addresses=%s\n", address);
	assert_int_equal(lp_archive_create(temp_path(name), &meta, &w, &err), 0);
	if (r->batch->n_samples)
		assert_int_equal(
			lp_archive_write(w, r->source.catalogue, r->batch, LP_ARCHIVE_LOOSE, &err),
			0);
	assert_int_equal(trace_log_write(log, w, &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
	trace_log_free(log);
}

/* A server that reads requests, and whose writes fail with `error` at second 20. */
static void server_write(const char *name, int error)
{
	_cleanup_(rig_release) struct rig r;
	struct trace_log *log = trace_log_new();
	struct trace_event e = call_event(20, 812, "pwrite64", 17, -error);
	struct trace_descriptor d = {.time_ns = at_ns(1),
		.pid = 812,
		.fd = 17,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_STORAGE,
		.name = "/brick/x"};
	uint32_t sys, call;

	rig_init(&r, US_PER_SEC);
	sys = rig_component(&r, &sys_schema, "s3", "my.fsd");
	call = rig_component(&r, &call_schema, "s3", "my.fsd.812:storage-write");
	for (int i = 0; i < 40; i++) {
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set(&r, sys, LP_PRESENT, (int64_t[8]){i * 5, i * 100});
		rig_set1(&r, call, i);
	}
	if (error)
		assert_int_equal(trace_log_add(log, &e), 0);
	e = call_event(21, 812, "newfstatat", 0, -ENOENT);
	assert_int_equal(trace_log_add(log, &e), 0);
	assert_int_equal(trace_log_add_descriptor(log, &d), 0);
	archive_write(name, "s3", "10.0.0.3", &r, log);
}

/* A client with a connection to it. */
static void client_write(const char *name, int error, double at)
{
	_cleanup_(rig_release) struct rig r;
	struct trace_log *log = trace_log_new();
	struct trace_event e = call_event(at, 900, "write", 1, -error);
	uint32_t peer, call;

	rig_init(&r, US_PER_SEC);
	peer = rig_component(&r, &peer_schema, "c1", "10.0.0.3:24007");
	call = rig_component(&r, &call_schema, "c1", "dd.900:storage-write");
	for (int i = 0; i < 40; i++) {
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set(&r, peer, LP_PRESENT, (int64_t[]){i, i, 0});
		rig_set1(&r, call, i);
	}
	if (error)
		assert_int_equal(trace_log_add(log, &e), 0);
	e = call_event(30, 900, "read", 0, 4096);
	assert_int_equal(trace_log_add(log, &e), 0);
	archive_write(name, "c1", "10.0.1.1", &r, log);
}

/* A client whose server stops to answer at second 5, while a write hangs. */
static void hung_write(const char *name)
{
	_cleanup_(rig_release) struct rig r;
	struct trace_log *log = trace_log_new();
	struct trace_event e = call_event(6, 900, "write", 1, 0);
	uint32_t peer, call;

	rig_init(&r, US_PER_SEC);
	peer = rig_component(&r, &peer_schema, "c1", "10.0.0.3:24007");
	call = rig_component(&r, &call_schema, "c1", "dd.900:storage-write");
	for (int i = 0; i < 60; i++) {
		int answered = i < 5 ? i : 5, waits = i > 5 ? i - 5 : 0;

		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set(&r, peer, LP_PRESENT,
			(int64_t[]){answered + (waits > 0), answered, SEC(waits)});
		rig_set1(&r, call, 5);
	}
	e.what = TRACE_PENDING;
	e.dur_ns = SEC(50) * 1000;
	assert_int_equal(trace_log_add(log, &e), 0);
	archive_write(name, "c1", "10.0.1.1", &r, log);
}

/* The same server in a recording of the I/O stack, which counts answers and no messages. */
static void answers_write(const char *name)
{
	_cleanup_(rig_release) struct rig r;
	uint32_t peer;

	rig_init(&r, US_PER_SEC);
	peer = rig_component(&r, &answer_schema, "c1", "10.0.0.3:24007");
	for (int i = 0; i < 60; i++) {
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set(&r, peer, LP_PRESENT, (int64_t[]){i < 5 ? i : 5, SEC(i < 5 ? i : 5)});
	}
	archive_write(name, "c1", "10.0.1.1", &r, trace_log_new());
}

static struct lp_dataset *dataset(const char *a, const char *b)
{
	const char *paths[] = {temp_path(a), b ? temp_path(b) : NULL};
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	if (lp_dataset_open(paths, b ? 2 : 1, NULL, NULL, NULL, &ds, &err) < 0)
		fail_msg("%s", err.text);
	return ds;
}

static struct lp_verdict *diagnose(struct lp_dataset *ds, const struct lp_diagnose_options *opt)
{
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	if (lp_diagnose(ds, opt, &v, &err) < 0)
		fail_msg("%s", err.text);
	return v;
}

/* There is nothing to compare, and much to see. */
static void test_diagnose(void **state)
{
	struct lp_diagnose_options opt = {0};
	struct lp_dataset *ds;
	struct lp_verdict *v;

	(void)state;
	server_write("d-s3.lpa", ENOSPC);
	client_write("d-c1.lpa", ENOSPC, 20.5);
	ds = dataset("d-s3.lpa", "d-c1.lpa");
	v = diagnose(ds, &opt);
	assert_int_equal(v->n_suspects, 1);
	assert_int_equal(v->n_traced, 2);
	assert_string_equal(v->components[v->suspects[0].component]->text, "s3/sys:my.fsd");
	assert_string_equal(v->suspects[0].cause, "propagated-error");
	assert_non_null(strstr(v->suspects[0].evidence[0],
		"my.fsd (pid 812) on s3: pwrite64 on /brick/x failed with ENOSPC"));
	assert_int_equal(v->n_incidents, 1);
	lp_verdict_free(v);
	opt.to_us = T0 + SEC(15);
	v = diagnose(ds, &opt);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
	lp_dataset_close(ds);
}

/* What the I/O stack counts of a server does not end its silence. */
static void test_stack(void **state)
{
	(void)state;
	hung_write("h-c1.lpa");
	answers_write("h-stack.lpa");
	for (int both = 0; both < 2; both++) {
		struct lp_diagnose_options opt = {0};
		struct lp_dataset *ds = dataset("h-c1.lpa", both ? "h-stack.lpa" : NULL);
		struct lp_verdict *v = diagnose(ds, &opt);

		assert_int_equal(v->n_suspects, 1);
		assert_string_equal(v->suspects[0].cause, "server-hung");
		lp_verdict_free(v);
		lp_dataset_close(ds);
	}
}

/* One server alone, and a client alone. */
static void test_alone(void **state)
{
	struct lp_diagnose_options opt = {0};
	struct lp_dataset *ds;
	struct lp_verdict *v;

	(void)state;
	server_write("a-s3.lpa", EMFILE);
	ds = dataset("a-s3.lpa", NULL);
	v = diagnose(ds, &opt);
	assert_int_equal(v->n_suspects, 0);
	assert_non_null(strstr(v->notes[v->n_notes - 1], "EMFILE"));
	lp_verdict_free(v);
	lp_dataset_close(ds);
}

/* A metric that does not exist is reported as unknown, whatever the logs contain. */
static void test_metrics_only(void **state)
{
	static const char *const metrics[] = {"await"};
	struct lp_diagnose_options opt = {.metrics = metrics, .n_metrics = 1};
	struct lp_verdict *v = NULL;
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	server_write("m-s3.lpa", ENOSPC);
	ds = dataset("m-s3.lpa", NULL);
	assert_int_equal(lp_diagnose(ds, &opt, &v, &err), 0);
	assert_int_equal(v->status, LP_STATUS_UNKNOWN);
	assert_string_equal(v->unknown[0], "no component has a metric 'await'");
	lp_verdict_free(v);
	lp_dataset_close(ds);
}

/* Normal failures are learnt by role, and accuse no server then. */
static void test_train(void **state)
{
	struct lp_params p = {1, 60, 30, 3, US_PER_SEC};
	struct thresholds *t = thresholds_new("cdf", &p);
	struct lp_diagnose_options opt = {0};
	struct lp_dataset *ds;
	struct lp_verdict *v;
	struct lp_err err = {0};
	char path[TEMP_PATH_MAX];
	bool any = false;

	(void)state;
	server_write("t-s3.lpa", EROFS);
	client_write("t-c1.lpa", EROFS, 21);
	ds = dataset("t-s3.lpa", "t-c1.lpa");
	assert_int_equal(semantic_train(ds, NULL, 0, 0, NULL, t, &any, &err), 0);
	assert_true(any);
	assert_true(thresholds_is_normal(t, "server", "pwrite64", "EROFS"));
	assert_true(thresholds_is_normal(t, "server", "newfstatat", "ENOENT"));
	assert_true(thresholds_is_normal(t, "client", "write", "EROFS"));
	assert_false(thresholds_is_normal(t, "client", "pwrite64", "EROFS"));
	assert_int_equal(thresholds_finish(t), 0);
	v = diagnose(ds, &opt);
	assert_int_equal(v->n_suspects, 1);
	lp_verdict_free(v);
	snprintf(path, sizeof(path), "%s", temp_path("t.thr"));
	assert_int_equal(thresholds_write(t, path, &err), 0);
	opt.thresholds = path;
	v = diagnose(ds, &opt);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
	thresholds_free(t);
	lp_dataset_close(ds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diagnose),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_metrics_only),
		cmocka_unit_test(test_train),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
