/* Collectors and the tracer of system calls in one loop. What sessions do with real programs is
 * tested by tests/e2e/trace_syscalls.py. */
#include "collect/recorder.h"
#include "collect_util.h"
#include "trace/session.h"

#include <signal.h>

/* How many samples of kind `kind` the archive has, over all components. */
struct count {
	const char *kind;
	uint64_t n;
};

static int count_batch(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	struct count *count = ctx;

	(void)err;
	for (uint32_t k = 0; b && k < b->n_kinds; k++) {
		const struct lp_batch_kind *kind = &b->kinds[k];

		if (strcmp(source->catalogue->schemas[kind->schema].kind, count->kind) != 0)
			continue;
		for (uint32_t row = 0; row < kind->n_components; row++) {
			for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++)
				count->n +=
					kind->state[(size_t)row * b->cap_samples + s] & LP_PRESENT;
		}
	}
	return 0;
}

static uint64_t written(const char *path, const char *kind)
{
	struct count count = {.kind = kind};
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_read(ds, NULL, count_batch, &count, &err), 0);
	lp_dataset_close(ds);
	return count.n;
}

static int count_log(void *ctx, const struct lp_log *log)
{
	*(uint64_t *)ctx += log->n_records;
	return 0;
}

static uint64_t logged(const char *path)
{
	struct lp_source *source = NULL;
	struct lp_err err = {0};
	uint64_t n = 0;

	assert_int_equal(lp_archive_open(path, NULL, NULL, &source, &err), 0);
	assert_int_equal(lp_archive_logs(source, TRACE_LOG_SYSCALLS, count_log, &n, &err), 0);
	lp_source_close(source);
	return n;
}

/* Collectors have no end of their own. */
static void stop_when_ended(void *ctx, const struct trace_stats *stats)
{
	(void)ctx;
	if (stats->ended)
		raise(SIGTERM);
}

static void test_with_collectors(void **state)
{
	struct place *p = *state;
	const struct trace_backend *backend = trace_backend_find("ptrace");
	char *command[] = {"/bin/sh", "-c", "cat /dev/null", NULL};
	const struct trace_session_config trace = {.backend = backend,
		.trace = {.targets = {.command = command},
			.records = true,
			.slow_ns = INT64_C(1000000000)},
		.observer = "h",
		.stuck_ns = INT64_C(5000000000),
		.progress = stop_when_ended,
		.warn = &p->warn};
	struct proc_root root = {.dir = ""};
	struct recorder_config record = {.collect = {.observer = "h", .root = &root},
		.collectors = {collector_find("host")},
		.warn = &p->warn};
	struct session *session = trace_session_new(&trace);
	const struct loop_config loop = {
		.instruments = {{&instrument_collectors, &record}, {&instrument_syscalls, session}},
		.spool = {.dir = p->dir, .name = "h", .observer = "h", .logs = true},
		.interval_us = 50000,
		.flush_us = 200000,
		.warn = &p->warn};
	struct ticker *ticker = NULL;
	struct loop_stats st = {0};
	struct lp_err err = {0};

	assert_non_null(session);
	if (backend->probe(&err) < 0) {
		trace_session_free(session);
		skip();
	}
	assert_int_equal(ticker_system(&ticker, &err), 0);
	if (loop_run(&loop, ticker, &st, &err) < 0)
		fail_msg("%s", err.text);
	ticker_free(ticker);
	assert_true(trace_session_stats(session)->ended);
	assert_int_equal(trace_session_stats(session)->command_status, 0);
	assert_true(trace_session_stats(session)->calls > 0);
	trace_session_free(session);
	/* The host in every sample, the processes in those in which they were there. */
	assert_int_equal(written(st.spool.path, "host"), st.samples);
	assert_true(written(st.spool.path, "sys") > 0);
	assert_true(logged(st.spool.path) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {place_test(test_with_collectors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
