#include "unit.h"

#include "explain/semantic_normal.h"
#include <errno.h>

static void test_everyday(void **state)
{
	(void)state;
	assert_true(normal_builtin(EAGAIN, TRACE_CALL_READ, TRACE_FILE_TCP));
	assert_true(normal_builtin(EINTR, TRACE_CALL_WAIT, TRACE_FILE_OTHER));
	assert_true(normal_builtin(ENOENT, TRACE_CALL_META, TRACE_FILE_NONE));
	assert_true(normal_builtin(ENODATA, TRACE_CALL_META, TRACE_FILE_STORAGE));
	assert_true(normal_builtin(EEXIST, TRACE_CALL_OPEN, TRACE_FILE_NONE));
	assert_true(normal_builtin(EACCES, TRACE_CALL_OPEN, TRACE_FILE_NONE));
	assert_true(normal_builtin(ENOTTY, TRACE_CALL_OTHER, TRACE_FILE_STORAGE));
	assert_true(normal_builtin(ESRCH, TRACE_CALL_PROCESS, TRACE_FILE_NONE));
}

/* What runs out or breaks is never normal, whatever the call. */
static void test_resources(void **state)
{
	static const int errors[] = {
		ENOSPC, EDQUOT, EMFILE, ENFILE, EROFS, EIO, EFBIG, ENOMEM, ENOBUFS};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		assert_true(normal_is_resource(errors[i]));
		for (unsigned call = 0; call < TRACE_CALLS; call++) {
			for (unsigned file = 0; file < TRACE_FILES; file++)
				assert_false(normal_builtin(errors[i], call, file));
		}
	}
	assert_false(normal_is_resource(ENOENT));
}

/* The same errno may be an answer or a failure: it depends on the call. */
static void test_by_call(void **state)
{
	(void)state;
	assert_false(normal_builtin(EINVAL, TRACE_CALL_WRITE, TRACE_FILE_STORAGE));
	assert_true(normal_builtin(EINVAL, TRACE_CALL_META, TRACE_FILE_NONE));
	assert_false(normal_builtin(EACCES, TRACE_CALL_WRITE, TRACE_FILE_STORAGE));
	assert_true(normal_builtin(ETIMEDOUT, TRACE_CALL_WAIT, TRACE_FILE_NONE));
	assert_false(normal_builtin(ETIMEDOUT, TRACE_CALL_READ, TRACE_FILE_STORAGE));
}

static void test_connections(void **state)
{
	(void)state;
	assert_true(normal_is_lost_connection(ECONNREFUSED));
	assert_true(normal_builtin(ECONNRESET, TRACE_CALL_READ, TRACE_FILE_TCP));
	assert_true(normal_builtin(EPIPE, TRACE_CALL_WRITE, TRACE_FILE_PIPE));
	assert_true(normal_builtin(ECONNREFUSED, TRACE_CALL_CONNECT, TRACE_FILE_NONE));
	assert_false(normal_builtin(ENOTCONN, TRACE_CALL_READ, TRACE_FILE_STORAGE));
}

static void test_roles(void **state)
{
	struct lp_params p = {1, 60, 30, 3, 1000000};
	struct thresholds *trained = thresholds_new("cdf", &p);
	struct traces t = {0};
	uint32_t host, server, client;
	int nr = syscall_number("pwrite64");
	struct traced_failure f = {.nr = (uint16_t)nr,
		.error = ENOSPC,
		.call = TRACE_CALL_WRITE,
		.file = TRACE_FILE_STORAGE};

	(void)state;
	assert_int_equal(thresholds_add_normal(trained, "client", "pwrite64", "ENOSPC"), 0);
	assert_int_equal(traces_host(&t, "h", &host), 0);
	assert_int_equal(traces_name_process(&t, host, 1, "d"), 0);
	assert_int_equal(traces_name_process(&t, host, 2, "c"), 0);
	assert_int_equal(traces_process(&t, host, 1, &server), 0);
	assert_int_equal(traces_process(&t, host, 2, &client), 0);
	t.programs[t.processes[server].program].serves = true;
	f.process = server;
	assert_false(normal_failure(&t, trained, &f));
	f.process = client;
	assert_true(normal_failure(&t, trained, &f));
	assert_false(normal_failure(&t, NULL, &f));
	traces_release(&t);
	thresholds_free(trained);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everyday),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_by_call),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
