#include "model/fd_names.h"
#include "unit.h"
#include <stdio.h>

static void apply(struct fd_names *n, unsigned change, int pid, int fd, int from, const char *name)
{
	const struct trace_descriptor d = {.pid = pid,
		.fd = fd,
		.from = from,
		.change = (uint8_t)change,
		.file = TRACE_FILE_STORAGE,
		.name = name};

	assert_int_equal(fd_names_apply(n, &d), 0);
}

static void check(const struct fd_names *n, int pid, int fd, const char *name)
{
	const char *got = fd_names_get(n, pid, fd);

	if (!name) {
		assert_null(got);
		assert_int_equal(fd_names_file(n, pid, fd), TRACE_FILE_NONE);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	assert_int_equal(fd_names_file(n, pid, fd), TRACE_FILE_STORAGE);
}

static void test_changes(void **state)
{
	struct fd_names *n = fd_names_new();

	(void)state;
	check(n, 1, 3, NULL);
	apply(n, TRACE_FD_BEFORE, 1, 3, -1, "/a");
	apply(n, TRACE_FD_OPEN, 1, 4, -1, "/b");
	apply(n, TRACE_FD_OPEN, 1, -1, -1, "/b");
	apply(n, TRACE_FD_OPEN, 1, INT32_MAX, -1, "/b");
	apply(n, TRACE_FD_OPEN, 1025, 3, -1, "/a"); /* another process, the same bucket */
	check(n, 1, 3, "/a");
	check(n, 1, 4, "/b");
	check(n, 1, 5, NULL);
	check(n, 1, -1, NULL);
	check(n, 1, 1000, NULL);
	apply(n, TRACE_FD_CLOSE, 1, 3, -1, "/a");
	apply(n, TRACE_FD_EXEC, 1, 4, -1, "/b");
	apply(n, TRACE_FD_CLOSE, 1, 1000, -1, "/b");
	apply(n, TRACE_FD_CLOSE, 7, 1, -1, "/b");
	check(n, 1, 3, NULL);
	check(n, 1, 4, NULL);
	check(n, 1025, 3, "/a");
	apply(n, TRACE_FD_SEEN, 1, 3, -1, NULL);
	check(n, 1, 3, "");
	fd_names_free(n);
	fd_names_free(NULL);
}

static void test_fork(void **state)
{
	struct fd_names *n = fd_names_new();

	(void)state;
	apply(n, TRACE_FD_OPEN, 1, 3, -1, "/a");
	apply(n, TRACE_FD_OPEN, 2, 9, -1, "/old"); /* its end was lost */
	apply(n, TRACE_FD_FORK, 2, -1, 1, "");
	apply(n, TRACE_FD_FORK, 3, -1, 99, ""); /* of an unknown process */
	apply(n, TRACE_FD_FORK, 1, -1, 1, "");
	check(n, 2, 3, "/a");
	check(n, 2, 9, NULL);
	apply(n, TRACE_FD_CLOSE, 1, 3, -1, "/a");
	check(n, 2, 3, "/a");
	check(n, 3, 3, NULL);
	fd_names_forget(n, 2);
	fd_names_forget(n, 2);
	check(n, 2, 3, NULL);
	fd_names_free(n);
}

static void test_many(void **state)
{
	struct fd_names *n = fd_names_new();
	char name[32];

	(void)state;
	for (int fd = 0; fd < 100000; fd++) {
		snprintf(name, sizeof(name), "/f%d", fd % 1000);
		apply(n, TRACE_FD_OPEN, 1, fd, -1, name);
	}
	check(n, 1, 99999, "/f999");
	fd_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
