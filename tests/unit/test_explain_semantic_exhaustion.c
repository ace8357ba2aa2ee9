#include "semantic_rig.h"

#include "base/array.h"

static struct semantic_rig rig;

/* One observer with a server without visible clients, and a program that does not serve. */
static void alone(void)
{
	semantic_init(&rig);
	rig_observer(&rig, "h", "10.0.0.1");
	rig_process(&rig, "h", 800, "httpd", true);
	rig_process(&rig, "h", 900, "dd", false);
}

static void fails(int pid, double from, double to, int n, const char *call, int error)
{
	for (int i = 0; i < n; i++)
		rig_call(&rig, "h", pid, from + (to - from) * i / (n > 1 ? n - 1 : 1), call, 3,
			TRACE_FILE_STORAGE, -error);
}

static void name_file(int pid, const char *name)
{
	rig_descriptor(&rig, "h", pid, 3, 0, TRACE_FD_OPEN, TRACE_FILE_STORAGE, name);
}

/* A persistent failure is reported with call, file, errno and number. */
static void test_persistent(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	alone();
	name_file(800, "/data/db.wal");
	fails(800, 10, 20, 11, "write", ENOSPC);
	rig_call(&rig, "h", 800, 21, "close", 4, TRACE_FILE_STORAGE, 0);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "h/sys:httpd", "resource-exhausted");
	rig_tells(f,
		"httpd (pid 800) on h: write to /data/db.wal fails with ENOSPC (No space left on "
		"device), 11 times since 2027-01-15T08:00:10Z");
	assert_non_null(strstr(f->advice, "df -i"));
	assert_int_equal(f->n, 11);
	assert_int_equal(f->first_us, rig_ns(10) / 1000);
	assert_int_equal(f->last_us, rig_ns(20) / 1000);
	assert_int_equal(rig.s.n_notes, 0);
	semantic_rig_release(&rig);
}

/* What has ended is said to have ended. */
static void test_ended_before(void **state)
{
	(void)state;
	alone();
	fails(800, 10, 25, 30, "write", EDQUOT);
	rig_call(&rig, "h", 800, 100, "close", 4, TRACE_FILE_STORAGE, 0);
	semantic_run(&rig);
	rig_tells(rig_only(&rig), "30 times from 2027-01-15T08:00:10Z to 2027-01-15T08:00:25Z");
	semantic_rig_release(&rig);
}

/* Nine times, or for a moment, is a note about a server and nothing about others. */
static void test_passing(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		alone();
		fails(800, 10, i ? 19.5 : 90, i ? 30 : 9, "openat", EMFILE);
		fails(900, 10, i ? 19.5 : 90, i ? 30 : 9, "openat", EMFILE);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, 0);
		assert_int_equal(rig.s.n_notes, 1);
		rig_notes(&rig, "httpd (pid 800) on h: openat failed with EMFILE");
		semantic_rig_release(&rig);
	}
}

/* Rows count failures that the log of a summary leaves out. */
static void test_counted(void **state)
{
	(void)state;
	alone();
	fails(800, 10, 10.5, 3, "accept4", EMFILE);
	rig_tally(&rig, "h", "httpd:accept4:EMFILE", 9, 0);
	rig_tally(&rig, "h", "httpd:accept4:EMFILE", 11, 1200000);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "h/sys:httpd", "resource-exhausted");
	rig_tells(rig_only(&rig), "fails with EMFILE (Too many open files), 1200000 times since");
	assert_int_equal(rig_only(&rig)->n, 1200000);
	semantic_rig_release(&rig);
}

/* Without a log, rows still show the program and the error; not if it might have been a
 * terminal. */
static void test_only_rows(void **state)
{
	static const char *const rows[] = {"httpd:openat:ENFILE", "httpd:read:EIO",
		"httpd:mincore:ENOMEM", "httpd:nothing:ENFILE", "httpd:openat:ENOTHING", "httpd"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		alone();
		for (int at = 0; at < 30; at++)
			rig_tally(&rig, "h", rows[i], at, 100 + at);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, i == 0);
		if (i == 0)
			rig_tells(rig_only(&rig),
				"httpd on h: openat fails with ENFILE (Too many open files in "
				"system), 29 times since");
		semantic_rig_release(&rig);
	}
}

/* dd: one failure, and it ends with a status. */
static void test_ends(void **state)
{
	const struct semantic_finding *f;

	(void)state;
	alone();
	name_file(900, "/mnt/tiny/file");
	fails(900, 10, 10, 1, "write", ENOSPC);
	rig_exit(&rig, "h", 900, 10.01, 1 << 8);
	semantic_run(&rig);
	f = rig_only(&rig);
	rig_expect(f, "h/sys:dd", "resource-exhausted");
	rig_tells(f,
		"dd (pid 900) on h: write to /mnt/tiny/file failed with ENOSPC (No space left on "
		"device) at 2027-01-15T08:00:10Z");
	rig_tells(f, "dd (pid 900) on h ended with status 1 at 2027-01-15T08:00:10.01Z");
	semantic_rig_release(&rig);
}

/* It goes on, ends well, ends much later, ends because it was asked to, or failed otherwise since.
 */
static void test_does_not_end(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		alone();
		fails(900, 10, 10, 1, "write", ENOSPC);
		if (i == 3)
			rig_signal(&rig, "h", 900, 10.005, SIGTERM);
		if (i == 4)
			rig_call(&rig, "h", 900, 10.005, "write", 5, TRACE_FILE_STORAGE, -EINVAL);
		if (i)
			rig_exit(&rig, "h", 900, i == 2 ? 12 : 10.01, i == 1 ? 0 : 1 << 8);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, 0);
		semantic_rig_release(&rig);
	}
}

/* A program that is not a server and aborts: a crash, even if it was asked to end. */
static void test_abort(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		alone();
		name_file(900, "/data/checkpoint");
		if (asked)
			rig_signal(&rig, "h", 900, 9.9, SIGINT);
		fails(900, 10, 10, 1, "write", ENOSPC);
		rig_signal(&rig, "h", 900, 10.001, SIGABRT);
		rig.events[rig.n_events - 1].e.args[0] = 900;
		rig_exit(&rig, "h", 900, 10.002, SIGABRT);
		semantic_run(&rig);
		rig_expect(rig_only(&rig), "h/sys:dd", "crash");
		rig_tells(rig_only(&rig),
			"dd (pid 900) on h was killed by SIGABRT at 2027-01-15T08:00:10.002Z; the "
			"last "
			"call that failed before: write on /data/checkpoint with ENOSPC");
		semantic_rig_release(&rig);
	}
}

/* A program without clients may be killed by anybody. */
static void test_killed(void **state)
{
	static const int signals[] = {SIGKILL, SIGPIPE, SIGALRM, SIGUSR1};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		alone();
		rig_exit(&rig, "h", 900, 10, signals[i]);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, 0);
		semantic_rig_release(&rig);
	}
}

/* Answers that look like shortages. */
static void test_no_shortage(void **state)
{
	static const struct {
		const char *call;
		int error;
		uint8_t file;
	} cases[] = {
		{"faccessat2", EROFS, TRACE_FILE_NONE},
		{"inotify_add_watch", ENOSPC, TRACE_FILE_OTHER},
		{"mincore", ENOMEM, TRACE_FILE_NONE},
		{"madvise", ENOMEM, TRACE_FILE_NONE},
		{"read", EIO, TRACE_FILE_DEVICE},
		{"openat", ENOENT, TRACE_FILE_NONE},
		{"recvfrom", ECONNRESET, TRACE_FILE_TCP},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		alone();
		for (int at = 0; at < 30; at++)
			rig_call(&rig, "h", 900, at, cases[i].call, 3, cases[i].file,
				-cases[i].error);
		rig_exit(&rig, "h", 900, 29.1, 1 << 8);
		semantic_run(&rig);
		assert_int_equal(rig.s.n, 0);
		semantic_rig_release(&rig);
	}
}

/* What training saw is normal, in the log and in rows. */
static void test_trained(void **state)
{
	struct lp_params p = {0};
	struct thresholds *trained = thresholds_new("cdf", &p);

	(void)state;
	assert_non_null(trained);
	assert_int_equal(thresholds_add_normal(trained, "server", "write", "ENOSPC"), 0);
	alone();
	rig.o.trained = trained;
	fails(800, 10, 30, 30, "write", ENOSPC);
	rig_tally(&rig, "h", "httpd:write:ENOSPC", 9, 0);
	rig_tally(&rig, "h", "httpd:write:ENOSPC", 30, 5000);
	semantic_run(&rig);
	assert_int_equal(rig.s.n, 0);
	semantic_rig_release(&rig);
	thresholds_free(trained);
}

/* A client that waits makes it surer. */
static void test_felt(void **state)
{
	double sure[2];

	(void)state;
	for (int felt = 0; felt < 2; felt++) {
		alone();
		rig_observer(&rig, "c", "10.0.0.2");
		rig_process(&rig, "c", 500, "curl", false);
		rig_descriptor(
			&rig, "h", 800, 3, 0, TRACE_FD_SEEN, TRACE_FILE_TCP, "tcp 10.0.0.1:80");
		fails(800, 10, 30, 30, "accept4", EMFILE);
		rig_sample(&rig, "c", "10.0.0.1:80", 9, 1, 1, 0);
		for (int at = 12; felt && at < 17; at++)
			rig_sample(&rig, "c", "10.0.0.1:80", at, 2, 1, at - 11);
		rig_sample(&rig, "c", "10.0.0.1:80", 17, 2, 1, 0);
		semantic_run(&rig);
		rig_expect(rig_only(&rig), "h/sys:httpd", "resource-exhausted");
		rig_tells(rig_only(&rig), "accept4 on tcp 10.0.0.1:80 fails with EMFILE");
		sure[felt] = rig_only(&rig)->confidence;
		if (felt)
			rig_tells(rig_only(&rig),
				"c waited 5 s for an answer of 10.0.0.1:80 meanwhile");
		semantic_rig_release(&rig);
	}
	assert_true(sure[1] > sure[0]);
}

/* A client fails because its server does: the server is the one. */
static void test_explained(void **state)
{
	(void)state;
	rig_cluster(&rig);
	for (int i = 0; i < 30; i++) {
		rig_call(&rig, "s3", 802, 10 + i, "pwrite64", 17, TRACE_FILE_STORAGE, -ENOSPC);
		rig_call(&rig, "c1", 900, 10.1 + i, "write", 1, TRACE_FILE_STORAGE, -ENOSPC);
	}
	rig_exit(&rig, "c1", 900, 39.2, 1 << 8);
	semantic_run(&rig);
	rig_expect(rig_only(&rig), "s3/sys:glusterfsd", "propagated-error");
	semantic_rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_persistent),
		cmocka_unit_test(test_ended_before),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_only_rows),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_does_not_end),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_no_shortage),
		cmocka_unit_test(test_trained),
		cmocka_unit_test(test_felt),
		cmocka_unit_test(test_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
