#include "semantic_rig.h"

static struct semantic_rig rig;

static void server_fails(double at, const char *server, int pid, int error)
{
	rig_call(&rig, server, pid, at, "pwrite64", 17, TRACE_FILE_STORAGE, -error);
}

static void client_fails(double at, const char *client, int error)
{
	rig_call(&rig, client, 900, at, "write", 1, TRACE_FILE_STORAGE, -error);
}

static void test_handed_on(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	rig_cluster(&rig);
	server_fails(10, "s3", 802, ENOSPC);
	rig_descriptor(&rig, "s3", 802, 17, 5, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/brick/x");
	client_fails(10.25, "c1", ENOSPC);
	rig_descriptor(&rig, "c1", 900, 1, 4, TRACE_FD_BEFORE, TRACE_FILE_STORAGE, "/mnt/x");
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "propagated-error");
	assert_true(f->confidence > 0.8);
	rig_tells(f,
		"glusterfsd (pid 802) on s3: pwrite64 on /brick/x failed with ENOSPC at "
		"2027-01-15T08:00:10Z");
	rig_tells(f,
		"dd (pid 900) on c1: write on /mnt/x failed with ENOSPC at "
		"2027-01-15T08:00:10.25Z, 250 ms later");
	assert_non_null(strstr(f->advice, "df -i"));
	assert_int_equal(f->first_us, rig_ns(10) / 1000);
	assert_int_equal(f->last_us, rig_ns(10.25) / 1000);
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* Three seconds are near enough, more are not. */
static void test_window(void **state)
{
	(void)state;
	for (int far = 0; far < 2; far++) {
		rig_cluster(&rig);
		server_fails(10, "s3", 802, EROFS);
		client_fails(far ? 13.001 : 13, "c1", EROFS);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, !far);
		if (far)
			rig_notes(&rig, "no traced client got this error");
		semantic_rig_release(&rig);
	}
	rig_cluster(&rig);
	rig.o.error_window_us = 10000000;
	server_fails(10, "s3", 802, EROFS);
	client_fails(20, "c1", EROFS);
	semantic_run(&rig);
	assert_non_null(strstr(rig_only(&rig)->advice, "mount"));
	semantic_rig_release(&rig);
}

/* A clock that is a second late makes no difference; effects do not come earlier than causes by
 * more. */
static void test_clocks(void **state)
{
	(void)state;
	for (int far = 0; far < 2; far++) {
		rig_cluster(&rig);
		server_fails(10, "s3", 802, ENOSPC);
		client_fails(far ? 8.9 : 9, "c1", ENOSPC);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, !far);
		semantic_rig_release(&rig);
	}
}

/* Of several servers, those with an error before the client's count. */
static void test_precedes(void **state)
{
	(void)state;
	rig_cluster(&rig);
	server_fails(10, "s2", 801, ENOSPC);
	client_fails(10.2, "c1", ENOSPC);
	server_fails(10.5, "s3", 802, ENOSPC);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s2/sys:glusterfsd", "propagated-error");
	semantic_rig_release(&rig);
}

static void test_several_servers(void **state)
{
	(void)state;
	rig_cluster(&rig);
	for (int i = 0; i < 5; i++) {
		server_fails(10 + i, "s2", 801, ENOSPC);
		server_fails(10.1 + i, "s3", 802, ENOSPC);
		client_fails(10.2 + i, "c1", ENOSPC);
		client_fails(10.3 + i, "c2", ENOSPC);
	}
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 2);
	rig_tells(&rig.s.findings[0], "clients on c2 got it too; 10 calls");
	semantic_rig_release(&rig);
}

/* What a server has run out of may reach the client under another name: less sure, and said. */
static void test_translated(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	rig_cluster(&rig);
	rig_path(&rig, "s3", 802, 10, "openat", "/brick/y", -EMFILE);
	client_fails(10.1, "c1", EIO);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "propagated-error");
	assert_true(f->confidence < 0.65);
	rig_tells(f, "openat on /brick/y failed with EMFILE");
	rig_tells(f, "EMFILE may have been translated");
	assert_non_null(strstr(f->advice, "prlimit --nofile"));
	semantic_rig_release(&rig);
}

/* The same errno outranks one that may have been translated. */
static void test_same_outranks(void **state)
{
	(void)state;
	rig_cluster(&rig);
	rig_path(&rig, "s1", 800, 10, "openat", "/brick/y", -EMFILE);
	server_fails(10, "s3", 802, EIO);
	client_fails(10.1, "c1", EIO);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "propagated-error");
	semantic_rig_release(&rig);
}

/* Which errnos lead to which commands. */
static void test_advice(void **state)
{
	static const struct {
		int error;
		const char *says;
	} rows[] = {{EMFILE, "/proc/802/fd"}, {ENFILE, "file-nr"}, {ENOSPC, "'df'"},
		{EDQUOT, "repquota"}, {EROFS, "dmesg"}, {EIO, "smartctl"}, {EFBIG, "ulimit -f"},
		{ENOMEM, "ulimit -v"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_cluster(&rig);
		server_fails(10, "s3", 802, rows[i].error);
		client_fails(10.1, "c1", rows[i].error);
		semantic_run(&rig);
		assert_non_null(strstr(rig_only(&rig)->advice, rows[i].says));
		assert_non_null(strstr(rig_only(&rig)->advice, "On s3, process 802: "));
		semantic_rig_release(&rig);
	}
}

/* A client in the kernel has no visible connections. */
static void test_kernel_client(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	semantic_init(&rig);
	rig_observer(&rig, "s3", "10.0.0.3");
	rig_observer(&rig, "c1", "10.0.1.1");
	rig_process(&rig, "s3", 802, "nfsd", true);
	rig_process(&rig, "c1", 900, "dd", false);
	server_fails(10, "s3", 802, ENOSPC);
	client_fails(10.1, "c1", ENOSPC);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:nfsd", "propagated-error");
	assert_true(f->confidence < 0.85);
	semantic_rig_release(&rig);
}

/* A client that has connections, and none to that server, did not get it from there. */
static void test_unrelated_client(void **state)
{
	(void)state;
	semantic_init(&rig);
	rig_observer(&rig, "s3", "10.0.0.3");
	rig_observer(&rig, "c1", "10.0.1.1");
	rig_process(&rig, "s3", 802, "glusterfsd", true);
	rig_process(&rig, "c1", 900, "dd", false);
	rig_answers(&rig, "c1", "10.9.9.9:80", 0, 20);
	server_fails(10, "s3", 802, ENOSPC);
	client_fails(10.1, "c1", ENOSPC);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	rig_notes(&rig, "no traced client");
	semantic_rig_release(&rig);
}

/* Everyday failures accuse no server. */
static void test_everyday(void **state)
{
	(void)state;
	rig_cluster(&rig);
	for (int i = 0; i < 200; i++) {
		double at = 1 + i * 0.1;

		rig_call(&rig, "s3", 802, at, "read", 9, TRACE_FILE_TCP, -EAGAIN);
		rig_call(&rig, "c1", 500, at, "read", 9, TRACE_FILE_TCP, -EAGAIN);
		rig_path(&rig, "s3", 802, at, "newfstatat", "/brick/nothing", -ENOENT);
		rig_path(&rig, "c1", 900, at, "newfstatat", "/mnt/nothing", -ENOENT);
		rig_path(&rig, "s3", 802, at, "lgetxattr", "/brick/f", -ENODATA);
		rig_path(&rig, "c1", 900, at, "lgetxattr", "/mnt/f", -ENODATA);
		rig_path(&rig, "s3", 802, at, "openat", "/brick/secret", -EACCES);
		rig_path(&rig, "c1", 900, at, "openat", "/mnt/secret", -EACCES);
	}
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* A client's own mistakes are its own. */
static void test_own_mistakes(void **state)
{
	(void)state;
	rig_cluster(&rig);
	rig_path(&rig, "c1", 900, 10, "openat", "/mnt/secret", -EACCES);
	rig_path(&rig, "c1", 900, 11, "openat", "/mnt/nothing", -ENOENT);
	rig_path(&rig, "c1", 900, 12, "openat", "/mnt/f", -EMFILE);
	rig_call(&rig, "c1", 900, 13, "write", 77, TRACE_FILE_NONE, -EBADF);
	rig_call(&rig, "c1", 900, 14, "write", 1, TRACE_FILE_PIPE, -EPIPE);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* What training saw is normal, in its role. */
static void test_trained(void **state)
{
	struct lp_params p = {1, 60, 30, 3, 1000000};
	struct thresholds *trained = thresholds_new("cdf", &p);

	(void)state;
	assert_int_equal(thresholds_add_normal(trained, "server", "pwrite64", "ENOSPC"), 0);
	for (int other = 0; other < 2; other++) {
		rig_cluster(&rig);
		rig.o.trained = trained;
		server_fails(10, "s3", 802, other ? EDQUOT : ENOSPC);
		client_fails(10.1, "c1", other ? EDQUOT : ENOSPC);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, other);
		semantic_rig_release(&rig);
	}
	thresholds_free(trained);
}

/* A cluster without faults. */
static void test_control(void **state)
{
	(void)state;
	rig_cluster(&rig);
	for (int i = 0; i < 100; i++) {
		rig_call(&rig, "s1", 800, i, "pwrite64", 17, TRACE_FILE_STORAGE, 4096);
		rig_call(&rig, "c1", 900, i, "write", 1, TRACE_FILE_STORAGE, 4096);
	}
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	assert_int_equal(rig.s.n_notes, 0);
	assert_int_equal(rig.s.n_observers, 5);
	semantic_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handed_on),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_precedes),
		cmocka_unit_test(test_several_servers),
		cmocka_unit_test(test_translated),
		cmocka_unit_test(test_same_outranks),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_kernel_client),
		cmocka_unit_test(test_unrelated_client),
		cmocka_unit_test(test_everyday),
		cmocka_unit_test(test_own_mistakes),
		cmocka_unit_test(test_trained),
		cmocka_unit_test(test_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
