#include "semantic_rig.h"

static struct semantic_rig rig;

#define S3 "10.0.0.3:" RIG_PORT
#define TO_S3 "tcp 10.0.1.1:49152 " S3

/* s3 answers until `until`, the others all the time. */
static void cluster_without_s3(int until)
{
	rig_cluster_quiet(&rig);
	for (int c = 1; c <= 2; c++) {
		const char *client = c == 1 ? "c1" : "c2";

		rig_answers(&rig, client, "10.0.0.1:" RIG_PORT, 0, 120);
		rig_answers(&rig, client, "10.0.0.2:" RIG_PORT, 0, 120);
		rig_answers(&rig, client, S3, 0, until);
	}
}

static void daemon_loses(double at, const char *client, const char *call, int error)
{
	rig_call(&rig, client, 500, at, call, 9, TRACE_FILE_TCP, -error);
	rig_descriptor(&rig, client, 500, 9, at - 1, TRACE_FD_CONNECT, TRACE_FILE_TCP, TO_S3);
}

/* Too large a file: the call, the signal, the end, and the clients. */
static void test_signal(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	cluster_without_s3(10);
	rig_call(&rig, "s3", 802, 9.99, "pwrite64", 17, TRACE_FILE_STORAGE, -EFBIG);
	rig_descriptor(&rig, "s3", 802, 17, 5, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/brick/x");
	rig_signal(&rig, "s3", 802, 9.991, SIGXFSZ);
	rig_exit(&rig, "s3", 802, 10, SIGXFSZ | 0x80);
	daemon_loses(10.1, "c1", "read", ECONNRESET);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "crash");
	assert_true(f->confidence > 0.95);
	rig_tells(f,
		"glusterfsd (pid 802) on s3 was killed by SIGXFSZ at 2027-01-15T08:00:10Z; the "
		"last "
		"call that failed before: pwrite64 on /brick/x with EFBIG");
	rig_tells(f, "glusterfs (pid 500) on c1: read on " TO_S3 " failed with ECONNRESET");
	assert_non_null(strstr(f->advice, "ulimit -f"));
	assert_int_equal(f->first_us, rig_ns(10) / 1000);
	semantic_rig_release(&rig);
}

static void test_out_of_memory(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	cluster_without_s3(10);
	rig_call(&rig, "s3", 802, 9.9, "mmap", -1, TRACE_FILE_NONE, -ENOMEM)->args[4] =
		(uint64_t)-1;
	rig_exit(&rig, "s3", 802, 10, SIGABRT);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "crash");
	rig_tells(f, "was killed by SIGABRT");
	rig_tells(f, "mmap with ENOMEM");
	assert_non_null(strstr(f->advice, "ulimit -v"));
	semantic_rig_release(&rig);
}

/* What failed a minute before, or fails all the time, is no reason. */
static void test_no_reason(void **state)
{
	(void)state;
	cluster_without_s3(100);
	rig_call(&rig, "s3", 802, 40, "pwrite64", 17, TRACE_FILE_STORAGE, -ENOSPC);
	rig_path(&rig, "s3", 802, 99.9, "newfstatat", "/brick/n", -ENOENT);
	rig_exit(&rig, "s3", 802, 100, SIGSEGV);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "crash");
	assert_null(strstr(rig_only(&rig)->evidence[0], "the last call"));
	assert_non_null(strstr(rig_only(&rig)->advice, "coredumpctl"));
	semantic_rig_release(&rig);
}

/* A handler that writes down what happened and ends the process with a status. */
static void test_handler(void **state)
{
	(void)state;
	cluster_without_s3(10);
	rig_signal(&rig, "s3", 802, 9, SIGSEGV);
	rig_exit(&rig, "s3", 802, 10, 1 << 8);
	semantic_run(&rig);
	rig_tells(rig_only(&rig), "ended with status 1 after SIGSEGV");
	semantic_rig_release(&rig);
}

static void test_bad_status(void **state)
{
	(void)state;
	for (int felt = 0; felt < 2; felt++) {
		cluster_without_s3(10);
		rig_call(&rig, "s3", 802, 9.9, "pwrite64", 17, TRACE_FILE_STORAGE, -ENOSPC);
		rig_exit(&rig, "s3", 802, 10, 1 << 8);
		if (felt)
			rig_call(&rig, "c1", 900, 11, "write", 1, TRACE_FILE_STORAGE, -ENOTCONN);
		semantic_run(&rig);
		/* No client noticed it: that it ended with ENOSPC is the only finding. */
		rig_expect(
			rig_only(&rig), "s3/sys:glusterfsd", felt ? "crash" : "resource-exhausted");
		rig_tells(rig_only(&rig), "ended with status 1 at");
		semantic_rig_release(&rig);
	}
}

/* Told to end, it ends: by SIGTERM, by exit(0) after it, or by the SIGKILL of an impatient one. */
static void test_orderly(void **state)
{
	static const int statuses[] = {SIGTERM, 0, 1 << 8, SIGKILL};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		cluster_without_s3(10);
		rig_signal(&rig, "s3", 802, 9, SIGTERM);
		rig_exit(&rig, "s3", 802, 10, statuses[i]);
		daemon_loses(10.1, "c1", "read", ECONNRESET);
		rig_call(&rig, "c1", 900, 10.2, "write", 1, TRACE_FILE_STORAGE, -ENOTCONN);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, 0);
		semantic_rig_release(&rig);
	}
}

/* Clients may be killed: servers lose connections by that, and none is to blame. If they crash,
 * they are. */
static void test_client_killed(void **state)
{
	(void)state;
	for (int crashed = 0; crashed < 2; crashed++) {
		rig_cluster(&rig);
		rig_exit(&rig, "c1", 900, 10, SIGKILL);
		rig_exit(&rig, "c1", 500, 10, crashed ? SIGSEGV : SIGKILL);
		for (int i = 0; i < 3; i++) {
			rig_call(&rig, "s1", 800, 10 + i, "writev", 9, TRACE_FILE_TCP, -EPIPE);
			rig_call(&rig, "s1", 800, 10 + i, "readv", 9, TRACE_FILE_TCP, -ECONNRESET);
		}
		rig_descriptor(&rig, "s1", 800, 9, 1, TRACE_FD_ACCEPT, TRACE_FILE_TCP,
			"tcp 10.0.0.1:" RIG_PORT " 10.0.1.1:49152");
		semantic_run(&rig);
		assert_int_equal(rig.s.n, crashed);
		if (crashed)
			rig_expect(rig_only(&rig), "c1/sys:glusterfs", "crash");
		assert_int_equal(rig.s.n_notes, 0);
		semantic_rig_release(&rig);
	}
}

/* Pipes and sockets within the machine have no server. */
static void test_unrelated_pipe(void **state)
{
	(void)state;
	rig_cluster(&rig);
	rig_call(&rig, "c1", 900, 10, "write", 1, TRACE_FILE_PIPE, -EPIPE);
	rig_call(&rig, "c1", 500, 10, "sendmsg", 5, TRACE_FILE_SOCKET, -ECONNREFUSED);
	rig_call(&rig, "c1", 500, 10, "sendmsg", 5, TRACE_FILE_SOCKET, -ECONNRESET);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	semantic_rig_release(&rig);
}

/* Only clients were traced, and are refused where they were served. */
static void only_clients(void)
{
	semantic_init(&rig);
	rig_observer(&rig, "c1", "10.0.1.1");
	rig_observer(&rig, "c2", "10.0.1.2");
	rig_process(&rig, "c1", 500, "glusterfs", false);
	rig_process(&rig, "c2", 500, "glusterfs", false);
	rig_process(&rig, "c1", 900, "dd", false);
	rig_answers(&rig, "c1", "10.0.0.1:" RIG_PORT, 0, 60);
}

static void test_refused(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	only_clients();
	rig_answers(&rig, "c1", S3, 0, 10);
	daemon_loses(11, "c1", "connect", ECONNREFUSED);
	daemon_loses(12, "c2", "connect", ECONNREFUSED);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "10.0.0.3/sys:" RIG_PORT, "crash");
	assert_true(f->confidence >= 0.75 && f->confidence <= 0.9);
	rig_tells(f, "connect on " TO_S3 " failed with ECONNREFUSED");
	rig_tells(f, "no trace of the server itself");
	semantic_rig_release(&rig);
}

/* It was down from the beginning; others serve at the same port. At another port there never was an
 * answer: that is a matter of configuration. */
static void test_refused_from_the_start(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		only_clients();
		rig_call(&rig, "c1", 500, 11, "connect", 9, TRACE_FILE_TCP, -ECONNREFUSED);
		rig_descriptor(&rig, "c1", 500, 9, 10, TRACE_FD_OPEN, TRACE_FILE_TCP,
			known ? TO_S3 : "tcp 10.0.1.1:49152 10.0.0.3:111");
		semantic_run(&rig);
		assert_int_equal(rig.s.n, known);
		semantic_rig_release(&rig);
	}
}

/* One connection that breaks may have broken for any reason; two, or files with it, do not. */
static void test_reset(void **state)
{
	(void)state;
	for (int more = 0; more < 3; more++) {
		only_clients();
		rig_answers(&rig, "c1", S3, 0, 10);
		rig_answers(&rig, "c2", S3, 0, 10);
		daemon_loses(11, "c1", "read", ECONNRESET);
		if (more == 1)
			daemon_loses(11, "c2", "writev", EPIPE);
		if (more == 2)
			rig_call(&rig, "c1", 900, 11.1, "write", 1, TRACE_FILE_STORAGE, -ENOTCONN);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, more > 0);
		if (!more)
			rig_notes(&rig, "a single broken connection does not accuse a server");
		semantic_rig_release(&rig);
	}
}

/* A closed connection means nothing, unless a client suffers. */
static void test_closed(void **state)
{
	(void)state;
	for (int felt = 0; felt < 2; felt++) {
		only_clients();
		rig_answers(&rig, "c1", S3, 0, 10);
		rig_call(&rig, "c1", 500, 11, "read", 9, TRACE_FILE_TCP, 0);
		rig_descriptor(&rig, "c1", 500, 9, 1, TRACE_FD_CONNECT, TRACE_FILE_TCP, TO_S3);
		if (felt)
			rig_path(&rig, "c1", 900, 11.1, "openat", "/mnt/x", -ENOTCONN);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, felt);
		if (felt)
			rig_tells(rig_only(&rig), "found the connection closed");
		semantic_rig_release(&rig);
	}
}

/* The server's trace shows that it goes on: whatever broke, it did not die. */
static void test_goes_on(void **state)
{
	(void)state;
	rig_cluster(&rig);
	daemon_loses(10, "c1", "read", ECONNRESET);
	daemon_loses(10, "c2", "read", ECONNRESET);
	rig_call(&rig, "s3", 802, 60, "pwrite64", 17, TRACE_FILE_STORAGE, 4096);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	rig_notes(&rig, "the server continues");
	semantic_rig_release(&rig);
}

/* Its archive ends, others continue: that agrees with the clients' evidence. */
static void test_archive_ends(void **state)
{
	uint32_t host;
	double with;

	(void)state;
	cluster_without_s3(10);
	host = rig_host(&rig, "s3");
	rig.t.hosts[host].last_us = (RIG_T0 + 10) * 1000000;
	daemon_loses(11, "c1", "connect", ECONNREFUSED);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "crash");
	rig_tells(rig_only(&rig), "the archive of s3 ends while others continue");
	with = rig_only(&rig)->confidence;
	semantic_rig_release(&rig);
	cluster_without_s3(10);
	daemon_loses(11, "c1", "connect", ECONNREFUSED);
	semantic_run(&rig);
	assert_true(rig_only(&rig)->confidence < with);
	semantic_rig_release(&rig);
}

/* A summary does not show how a daemon learns of it. The server that answers no more is the one. */
static void test_by_silence(void **state)
{
	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		only_clients();
		rig_answers(&rig, "c1", S3, 0, 10);
		if (!alone) /* both are silent: which? */
			rig_answers(&rig, "c1", "10.0.0.2:" RIG_PORT, 0, 10);
		rig_path(&rig, "c1", 900, 11, "openat", "/mnt/x", -ENOTCONN);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, alone);
		if (alone)
			rig_expect(rig_only(&rig), "10.0.0.3/sys:" RIG_PORT, "crash");
		semantic_rig_release(&rig);
	}
}

/* Errors that were handed on before the crash are part of it. */
static void test_with_errors(void **state)
{
	(void)state;
	cluster_without_s3(10);
	rig_call(&rig, "s3", 802, 8, "pwrite64", 17, TRACE_FILE_STORAGE, -ENOSPC);
	rig_call(&rig, "c1", 900, 8.1, "write", 1, TRACE_FILE_STORAGE, -ENOSPC);
	rig_exit(&rig, "s3", 802, 10, SIGABRT);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "crash");
	rig_tells(rig_only(&rig), "write on descriptor 1 failed with ENOSPC");
	assert_int_equal(rig_only(&rig)->first_us, rig_ns(8) / 1000);
	semantic_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_no_reason),
		cmocka_unit_test(test_handler),
		cmocka_unit_test(test_bad_status),
		cmocka_unit_test(test_orderly),
		cmocka_unit_test(test_client_killed),
		cmocka_unit_test(test_unrelated_pipe),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_from_the_start),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_archive_ends),
		cmocka_unit_test(test_by_silence),
		cmocka_unit_test(test_with_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
