#include "semantic_rig.h"

static struct semantic_rig rig;

#define S3 "10.0.0.3:" RIG_PORT

/* s3 answers until `until`, then c1 (and c2) wait for it; the others answer. */
static void cluster_with_silent_s3(int until, int to, bool both)
{
	rig_cluster_quiet(&rig);
	for (int c = 1; c <= 2; c++) {
		const char *client = c == 1 ? "c1" : "c2";
		bool waits = c == 1 || both;

		rig_answers(&rig, client, "10.0.0.1:" RIG_PORT, 0, 120);
		rig_answers(&rig, client, "10.0.0.2:" RIG_PORT, 0, 120);
		rig_answers(&rig, client, S3, 0, waits ? until : 120);
		if (waits)
			rig_silent(&rig, client, S3, until, to);
	}
}

static void app_hangs(double from, double s, bool pending)
{
	rig_slow(&rig, "c1", 900, from, s, "write", 1, TRACE_FILE_STORAGE, pending);
	rig_descriptor(&rig, "c1", 900, 1, 0, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/mnt/x");
}

static void test_hung(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	cluster_with_silent_s3(10, 60, true);
	app_hangs(10.5, 49, true);
	rig_slow(&rig, "c2", 900, 11, 48, "fsync", 3, TRACE_FILE_STORAGE, true);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "server-hung");
	assert_true(f->confidence > 0.8);
	rig_tells(f,
		S3 " did not answer the last request of c1 for 50 s, since 2027-01-15T08:00:10Z");
	rig_tells(f,
		"dd (pid 900) on c1 has been in write on /mnt/x since "
		"2027-01-15T08:00:10.5Z and did not come back (49 s); 2 calls of 2 clients hung in "
		"this way");
	semantic_rig_release(&rig);
}

/* It recovered, and answers everybody again: it hung all the same. */
static void test_recovered(void **state)
{
	(void)state;
	cluster_with_silent_s3(10, 51, true);
	rig_answers(&rig, "c1", S3, 52, 120);
	rig_answers(&rig, "c2", S3, 52, 120);
	app_hangs(10.5, 41, false);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "server-hung");
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* Thirty seconds, or what the user says. */
static void test_how_long(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		cluster_with_silent_s3(10, 40, true);
		app_hangs(10, less ? 29.999 : 30, false);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, !less);
		semantic_rig_release(&rig);
	}
	semantic_init(&rig);
	rig.o.hang_after_us = 5000000;
	rig.t.hang_ns = 5 * NS_PER_SEC;
	rig_observer(&rig, "c1", "10.0.1.1");
	rig_process(&rig, "c1", 900, "dd", false);
	rig_answers(&rig, "c1", S3, 0, 10);
	rig_silent(&rig, "c1", S3, 10, 16);
	app_hangs(10.2, 5.5, false);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "10.0.0.3/sys:" RIG_PORT, "server-hung");
	semantic_rig_release(&rig);
}

/* Waiting by design is no hang, however long it takes. */
static void test_idle(void **state)
{
	(void)state;
	rig_cluster(&rig);
	rig_slow(&rig, "c1", 500, 0, 110, "epoll_pwait", 4, TRACE_FILE_OTHER, true);
	rig_slow(&rig, "c1", 500, 0, 110, "futex", -1, TRACE_FILE_NONE, true);
	rig_slow(&rig, "c1", 500, 0, 110, "read", 5, TRACE_FILE_DEVICE, true); /* /dev/fuse */
	rig_slow(&rig, "c1", 500, 0, 110, "read", 6, TRACE_FILE_PIPE, true);
	rig_slow(&rig, "c1", 500, 0, 110, "recvfrom", 7, TRACE_FILE_TCP, true); /* owed nothing */
	rig_slow(&rig, "c1", 900, 0, 110, "flock", 7, TRACE_FILE_STORAGE, true);
	rig_slow(&rig, "c1", 900, 0, 110, "fcntl", 7, TRACE_FILE_STORAGE, true);
	rig_slow(&rig, "s1", 800, 0, 110, "accept4", 3, TRACE_FILE_TCP, true);
	rig_slow(&rig, "s1", 800, 0, 110, "recvfrom", 7, TRACE_FILE_TCP, true);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* No server owes it an answer: its own disk hangs, for instance. */
static void test_unexplained(void **state)
{
	(void)state;
	rig_cluster(&rig);
	app_hangs(10, 40, true);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	rig_notes(&rig, "no server that was seen owes an answer");
	semantic_rig_release(&rig);
}

/* A server that has not been asked for a minute, and one that is slow for ten seconds. */
static void test_short_silence(void **state)
{
	(void)state;
	rig_cluster_quiet(&rig);
	rig_answers(&rig, "c1", S3, 0, 10);
	rig_silent(&rig, "c1", S3, 10, 20);
	rig_sample(&rig, "c1", S3, 21, 112, 112, 0);
	app_hangs(10, 40, true);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	semantic_rig_release(&rig);
}

/* A thread of the server that is stuck is shown with its call and its file. */
static void test_stuck(void **state)
{
	const struct semantic_finding *f;
	struct trace_event *e;

	(void)state;
	cluster_with_silent_s3(10, 60, false);
	app_hangs(10.5, 49, true);
	e = rig_slow(&rig, "s3", 802, 10.6, 48, "fsync", 17, TRACE_FILE_STORAGE, true);
	e->tid = 813;
	rig_descriptor(&rig, "s3", 802, 17, 5, TRACE_FD_OPEN, TRACE_FILE_STORAGE, "/brick/x");
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "server-hung");
	rig_tells(f, "thread 813 of glusterfsd (pid 802) on s3 has been in fsync on /brick/x");
	semantic_rig_release(&rig);
}

/* The server answers pings, and nothing else: its stuck thread shows it. */
static void test_stuck_but_talking(void **state)
{
	(void)state;
	rig_cluster(&rig);
	app_hangs(10.5, 49, true);
	rig_slow(&rig, "s3", 802, 10.6, 48, "fsync", 17, TRACE_FILE_STORAGE, true);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "server-hung");
	assert_true(rig_only(&rig)->confidence < 0.85);
	semantic_rig_release(&rig);
}

/* A stuck thread that no client waits for is a note. */
static void test_stuck_alone(void **state)
{
	(void)state;
	rig_cluster(&rig);
	rig_slow(&rig, "s3", 802, 10.6, 48, "fsync", 17, TRACE_FILE_STORAGE, true);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	rig_notes(&rig, "no client that was traced hung meanwhile");
	semantic_rig_release(&rig);
}

/* What the server ran out of before it fell silent belongs to the story. */
static void test_reason(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	cluster_with_silent_s3(10, 60, true);
	app_hangs(10.5, 49, true);
	rig_call(&rig, "s3", 802, 10.2, "accept4", 4, TRACE_FILE_TCP, -EMFILE);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "s3/sys:glusterfsd", "server-hung");
	rig_tells(f, "accept4 on descriptor 4 failed with EMFILE");
	assert_non_null(strstr(f->advice, "prlimit --nofile"));
	semantic_rig_release(&rig);
}

/* A client that reads the answer itself. */
static void test_request(void **state)
{
	(void)state;
	for (int other = 0; other < 2; other++) {
		cluster_with_silent_s3(10, 60, true);
		rig_slow(&rig, "c1", 500, 10, 50, "recvfrom", 9, TRACE_FILE_TCP, true);
		rig_descriptor(&rig, "c1", 500, 9, 1, TRACE_FD_CONNECT, TRACE_FILE_TCP,
			other ? "tcp 10.0.1.1:49152 10.0.0.1:" RIG_PORT : "tcp 10.0.1.1:49152 " S3);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, !other);
		semantic_rig_release(&rig);
	}
}

/* The server works and answers others: a client that was stopped does not read. */
static void test_stopped_client(void **state)
{
	(void)state;
	cluster_with_silent_s3(10, 60, false);
	rig_slow(&rig, "c1", 500, 10, 50, "recvfrom", 9, TRACE_FILE_TCP, true);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	rig_notes(&rig, "the server answers others");
	semantic_rig_release(&rig);
}

/* s1 waits for s3, and c1 for s1: s3 it is. */
static void test_chain(void **state)
{
	(void)state;
	rig_cluster_quiet(&rig);
	rig_answers(&rig, "c1", "10.0.0.1:" RIG_PORT, 0, 10);
	rig_silent(&rig, "c1", "10.0.0.1:" RIG_PORT, 10, 60);
	rig_answers(&rig, "s1", S3, 0, 10);
	rig_silent(&rig, "s1", S3, 10, 60);
	app_hangs(10.5, 49, true);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "server-hung");
	semantic_rig_release(&rig);
}

/* A place that statistics go to never answers: it is not waited for. */
static void test_one_way(void **state)
{
	(void)state;
	cluster_with_silent_s3(10, 60, false);
	for (int i = 1; i < 60; i++)
		rig_sample(&rig, "c1", "10.9.9.9:2003", i, 1, 0, i);
	app_hangs(10.5, 49, true);
	rig_slow(&rig, "s3", 802, 10.6, 48, "fsync", 17, TRACE_FILE_STORAGE, true);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "server-hung");
	semantic_rig_release(&rig);
}

/* A pending call is reported each time the tracer is asked. */
static void test_told_again(void **state)
{
	(void)state;
	cluster_with_silent_s3(10, 60, true);
	app_hangs(10.5, 30, true);
	app_hangs(10.5, 40, true);
	app_hangs(10.5, 45, false);
	semantic_run(&rig);
	rig_tells(rig_only(&rig), "was in write on /mnt/x from 2027-01-15T08:00:10.5Z on (45 s)");
	assert_int_equal(rig_only(&rig)->n, 1);
	semantic_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hung),
		cmocka_unit_test(test_recovered),
		cmocka_unit_test(test_how_long),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_unexplained),
		cmocka_unit_test(test_short_silence),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_stuck_but_talking),
		cmocka_unit_test(test_stuck_alone),
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_stopped_client),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_told_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
