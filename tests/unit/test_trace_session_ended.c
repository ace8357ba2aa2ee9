/* Processes that end, come back under the same number, or are missed. */
#include "trace/session_state.h"
#include "unit.h"

#include <sys/syscall.h>

static unsigned n_tallied;

static int nothing_tally(void *state, struct tally *t, struct lp_err *err)
{
	n_tallied++;
	(void)state;
	(void)t;
	(void)err;
	return 0;
}

/* Never opened: only whether it counts matters here. */
static const struct trace_backend counting = {
	.name = "counts", .counts = true, .tally = nothing_tally};
static const struct trace_backend plain = {.name = "plain"};

static struct session *session_of(
	const struct trace_backend *backend, struct trace_session_config *config)
{
	struct session *s;

	*config = (struct trace_session_config){.backend = backend, .observer = "obs"};
	s = trace_session_new(config);
	assert_non_null(s);
	return s;
}

static void see(struct session *s, pid_t pid)
{
	const struct trace_event e = {
		.what = TRACE_CALL, .pid = pid, .tid = pid, .nr = SYS_getppid, .dur_ns = 10};

	assert_int_equal(idmap_put(&s->seen, (uint64_t)pid, 0), 0);
	assert_int_equal(tally_add(s->tally, &e, NULL), 0);
}

/* However many end between two samples, few of them are remembered, and all are counted. */
static void test_many(void **state)
{
	struct trace_session_config config;
	struct session *s = session_of(&plain, &config);

	(void)state;
	for (pid_t pid = 1; pid <= 10000; pid++) {
		see(s, pid);
		assert_int_equal(session_exit(s, pid), 0);
		assert_true(s->n_ended < 1000 && tally_n_cells(s->tally) < 1000);
	}
	assert_int_equal(session_absorb(s), 0);
	assert_int_equal(s->n_ended, 0);
	assert_int_equal(s->seen.n, 0);
	assert_int_equal(trace_rows_calls(s->rows), 10000);
	trace_session_free(s);
}

/* If the kernel counts, no process is forgotten before its counts were read. */
static void test_counted_elsewhere(void **state)
{
	struct trace_session_config config;
	struct session *s = session_of(&counting, &config);

	(void)state;
	assert_true(s->counts);
	for (pid_t pid = 1; pid <= 2000; pid++)
		assert_int_equal(session_exit(s, pid), 0);
	assert_int_equal(s->n_ended, 2000);
	assert_int_equal(session_count_ended(s), 0);
	assert_int_equal(session_exit(s, 3000), 0); /* after the counts were read */
	session_forget(s, 0);
	assert_int_equal(s->n_ended, 1);
	assert_int_equal(s->ended[0], 3000);
	trace_session_free(s);
}

/* The kernel's counts are read early where many end, and only there. */
static void test_relieved(void **state)
{
	struct trace_session_config config;
	struct session *s = session_of(&counting, &config);
	struct lp_err err = {0};

	(void)state;
	n_tallied = 0;
	for (pid_t pid = 1; pid <= 10000; pid++) {
		assert_int_equal(session_exit(s, pid), 0);
		assert_int_equal(session_relieve(s, &err), 0);
		if (pid == 100)
			assert_int_equal(n_tallied, 0);
	}
	assert_in_range(n_tallied, 10, 100);
	assert_int_equal(session_count_ended(s), 0);
	session_forget(s, 0);
	n_tallied = 0;
	assert_int_equal(session_exit(s, 1), 0);
	assert_int_equal(session_relieve(s, &err), 0);
	assert_int_equal(n_tallied, 0); /* they were told of */
	trace_session_free(s);
	s = session_of(&plain, &config); /* which has none to read */
	for (pid_t pid = 1; pid <= 2000; pid++)
		assert_int_equal(session_exit(s, pid), 0);
	assert_int_equal(session_relieve(s, &err), 0);
	trace_session_free(s);
}

/* A number that is given to another process is not that of one that ended. */
static void test_born_again(void **state)
{
	struct trace_session_config config;
	struct session *s = session_of(&plain, &config);

	(void)state;
	for (pid_t pid = 1; pid <= 3; pid++)
		assert_int_equal(session_exit(s, pid), 0);
	assert_int_equal(session_count_ended(s), 0);
	assert_int_equal(session_birth(s, 2), 0);
	assert_int_equal(session_birth(s, 4), 0);
	assert_int_equal(s->n_ended, 2);
	assert_int_equal(s->n_over, 2);
	assert_int_equal(s->ended[0], 1);
	assert_int_equal(s->ended[1], 3);
	trace_session_free(s);
}

/* A process whose end was not reported is missed among those that are traced. */
static void test_missed(void **state)
{
	const pid_t traced[] = {3, 5, 9, 77};
	struct trace_session_config config;
	struct session *s = session_of(&plain, &config);
	uint32_t at;

	(void)state;
	for (pid_t pid = 1; pid <= 10; pid++)
		see(s, pid);
	assert_int_equal(session_miss(s, traced, 4), 0);
	assert_int_equal(s->seen.n, 3);
	assert_true(idmap_get(&s->seen, 5, &at));
	assert_int_equal(s->n_ended, 7);
	trace_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_counted_elsewhere),
		cmocka_unit_test(test_relieved),
		cmocka_unit_test(test_born_again),
		cmocka_unit_test(test_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
