#include "base/time.h"
#include "collect/gpfs_parse.h"
#include "collect/program.h"
#include "collect_run.h"
#include <errno.h>
#include <signal.h>

static const struct proc_root live = {.dir = ""};

/* Wait until a run of the program has ended, for ten seconds at most; its output or NULL. */
static const char *run_once(struct program *p)
{
	for (int i = 0; i < 1000; i++) {
		const char *text = program_poll(p, i);

		if (text || (p->started_us >= 0 && p->fd < 0))
			return text;
		usleep(10000);
	}
	return NULL;
}

static void test_output(void **state)
{
	static const char *const argv[] = {
		"sh", "-c", "read a; echo \"got $a\"; echo no >&2", NULL};
	static const struct program_def def = {"/bin/sh", argv, "it\n", 1000000};
	struct program p;

	(void)state;
	assert_int_equal(program_open(&p, &def, &live, NULL), 0);
	assert_string_equal(run_once(&p), "got it\n");
	/* It is not time for the next one. */
	assert_null(program_poll(&p, 500000));
	assert_int_equal(p.pid, 0);
	assert_null(program_poll(&p, 1000000));
	assert_true(p.pid > 0);
	program_close(&p);
}

static void test_failure(void **state)
{
	static const char *const argv[] = {"sh", "-c", "echo half; exit 3", NULL};
	static const struct program_def def = {"/bin/sh", argv, NULL, 1000000};
	struct program p;

	(void)state;
	assert_int_equal(program_open(&p, &def, &live, NULL), 0);
	assert_null(run_once(&p));
	assert_true(p.failed);
	program_close(&p);
}

/* One that hangs is killed, with all that it started, when its time is over. */
static void test_hanging(void **state)
{
	static const char *const argv[] = {"sh", "-c", "sleep 1000 & wait", NULL};
	static const struct program_def def = {"/bin/sh", argv, NULL, 1000000};
	struct program p;
	pid_t pid;

	(void)state;
	assert_int_equal(program_open(&p, &def, &live, NULL), 0);
	assert_null(program_poll(&p, 0));
	pid = p.pid;
	assert_true(pid > 0);
	assert_null(program_poll(&p, PROGRAM_TIMEOUT_US - 1));
	assert_int_equal(p.pid, pid);
	assert_null(program_poll(&p, PROGRAM_TIMEOUT_US));
	assert_int_equal(p.pid, 0);
	assert_true(p.failed);
	assert_int_equal(kill(pid, 0), -1);
	program_close(&p);
}

static void test_absent(void **state)
{
	static const struct program_def def = {"/no/such/program", NULL, NULL, 1};
	struct lp_err err = {0};
	struct program p;

	(void)state;
	assert_int_equal(program_open(&p, &def, &live, &err), -ENOENT);
}

/* GPFS and BeeGFS, on what their programs printed. */
static void run_both(struct run *r, const char *collector, const char *tree)
{
	run_init_tree(r, collector, tree, 1);
	run_sample(r);
	run_moment(r, 2);
	run_sample(r);
}

static void test_gpfs(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "gpfs_nsd", "gpfs-4.2");
	run_assert_names(&r, "nsd_a nsd_b");
	assert_int_equal(run_value(&r, "nsd_a", "wr_ops", 1), 2200);
	assert_int_equal(run_value(&r, "nsd_a", "rd_us", 1), 3000000);
	run_close(&r);
	run_both(&r, "gpfs_nsd", "gpfs-5.1");
	run_assert_names(&r, "fast01");
	assert_int_equal(run_value(&r, "fast01", "rd_bytes", 1), 550 * 4096);
	run_close(&r);
	run_both(&r, "gpfs", "gpfs-4.2");
	run_assert_names(&r, "scratch all daemon");
	assert_int_equal(run_value(&r, "scratch", "wr_bytes", 1), 629145600);
	assert_int_equal(run_value(&r, "all", "hist_ios", 1), 1200);
	assert_int_equal(run_value(&r, "all", "hist_us", 1), 1100 * 500 + 100 * 5550);
	assert_int_equal(run_value(&r, "daemon", "waiters", 1), 2);
	assert_int_equal(run_value(&r, "daemon", "longest_ms", 1), 12482);
	run_close(&r);
	run_both(&r, "gpfs", "gpfs-5.1");
	run_assert_names(&r, "home daemon"); /* nobody has turned the histogram on */
	assert_int_equal(run_value(&r, "daemon", "longest_ms", 1), 3250);
	run_close(&r);
}

/* What mmpmon prints where no file system is mounted, and the open end of its histogram. */
static void test_gpfs_variants(void **state)
{
	static const char text[] =
		"_fs_io_s_ _n_ 10.0.0.1 _nn_ n1 _rc_ 1 _t_ 1 _tu_ 2 _cl_ - _fs_ -\n"
		"_rhist_ _n_ 10.0.0.1 _nn_ n1 _req_ s _rc_ 0 _t_ 1 _tu_ 2 _k_ r\n"
		"_R_ 65536 131071 _NR_ 5000000003\n"
		"_L_ 1.1 10.0 _NL_ 5000000000\n"
		"_L_ 1000.1 0.0 _NL_ 3\n";
	const char *p = text;
	struct gpfs_nsd nsd;
	struct gpfs_fs fs;
	int64_t ios = 0, us = 0;

	(void)state;
	assert_false(gpfs_parse_fs(&p, &fs));
	assert_int_equal(gpfs_parse_rhist(text, &ios, &us), 2);
	assert_int_equal(ios, INT64_C(5000000003));
	assert_int_equal(us, INT64_C(5000000000) * 5550 + INT64_C(3) * 1000100);
	p = "_nsd_ds_ _n_ 10.0.0.1 _nn_ n1 _rc_ 1 _t_ 1 _tu_ 2 _dev_ - _d_ -\n";
	assert_false(gpfs_parse_nsd(&p, &nsd));
}

static void test_beegfs(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "beegfs", "beegfs-7");
	run_assert_names(&r, "stor01 stor02");
	assert_int_equal(run_value(&r, "stor01", "requests", 1), 301);
	assert_int_equal(run_value(&r, "stor02", "queued", 1), 40);
	run_close(&r);
	run_both(&r, "beegfs", "beegfs-6");
	run_assert_names(&r, "1");
	assert_int_equal(run_value(&r, "1", "rd_kib", 1), 512);
	assert_int_equal(run_value(&r, "1", "busy", 1), 2);
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_hanging),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_gpfs),
		cmocka_unit_test(test_gpfs_variants),
		cmocka_unit_test(test_beegfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
