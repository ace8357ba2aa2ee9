#include "base/cleanup.h"
#include "base/time.h"
#include "lab/plan.h"
#include "temp_dir.h"
#include <errno.h>

static void parse(const char *text, struct plan *ret)
{
	struct lp_err err = {0};

	if (plan_parse("p", text, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void assert_bad(const char *text, const char *words)
{
	struct plan p = {0};
	struct lp_err err = {0};

	assert_int_equal(plan_parse("p", text, &p, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
	assert_null(p.experiments);
}

static void lines_make_experiments(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	const struct experiment *e;
	char buf[128];

	(void)state;
	parse("# all kinds\n"
	      "servers 4\nclients 2\nfs gluster\nseed 9\n"
	      "disk 512M\n"
	      "phases 1s 20s 1m 500ms   # short\n"
	      "run ddw none\n"
	      "trace summary\n"
	      "functions both\n"
	      "\trun ddw disk-hog@s2+slow-disk:8@s3\r\n"
	      "train ddw",
		&p);
	assert_int_equal(p.lab.n_servers, 4);
	assert_int_equal(p.lab.n_clients, 2);
	assert_int_equal(p.lab.seed, 9);
	assert_int_equal(p.lab.disk_bytes, 512 << 20);
	assert_int_equal(p.n_experiments, 3);
	e = p.experiments;
	assert_string_equal(e[0].name, "ddw-none-1");
	assert_int_equal(e[0].n_faults, 0);
	assert_false(e[0].train);
	assert_int_equal(e[0].warmup_us, US_PER_SEC);
	assert_int_equal(e[0].clean_us, 20 * US_PER_SEC);
	assert_int_equal(e[0].fault_us, 60 * US_PER_SEC);
	assert_int_equal(e[0].recovery_us, US_PER_SEC / 2);
	assert_int_equal(experiment_us(&e[0]), 81500000);
	assert_int_equal(e[0].trace, PLAN_TRACE_NONE);
	assert_int_equal(e[1].trace, PLAN_TRACE_SUMMARY);
	assert_int_equal(e[0].functions, PLAN_FUNCTIONS_NONE);
	assert_int_equal(e[1].functions, PLAN_SAMPLES_AND_CALLS);
	assert_int_equal(e[2].functions, PLAN_SAMPLES_AND_CALLS);
	assert_int_equal(e[2].trace, PLAN_TRACE_SUMMARY);
	assert_string_equal(e[1].name, "ddw-disk-hog+slow-disk_8-1");
	assert_int_equal(e[1].n_faults, 2);
	assert_string_equal(e[1].faults[1].on, "s3");
	assert_string_equal(
		experiment_faults(&e[1], buf, sizeof(buf)), "disk-hog@s2 + slow-disk:8@s3");
	assert_string_equal(e[2].name, "ddw-train-1");
	assert_true(e[2].train);
	assert_string_equal(experiment_faults(&e[2], buf, sizeof(buf)), "train");
}

/* Lists are multiplied; workloads come together; numbers go on over lines. */
static void lists_are_multiplied(void **state)
{
	static const char *const names[] = {"ddw-none-1", "ddw-none-2", "ddw-disk-hog-1",
		"ddw-disk-hog-2", "ddw-none-3", "ddr-none-1", "ddr-none-2", "ddr-disk-hog-1",
		"ddr-disk-hog-2"};
	_cleanup_(plan_release) struct plan p = {0};

	(void)state;
	parse("repeat 2\nrun ddw,ddr none,disk-hog\nrepeat 1\nrun ddw none\n", &p);
	assert_int_equal(p.n_experiments, 9);
	for (unsigned i = 0; i < 9; i++)
		assert_string_equal(p.experiments[i].name, names[i]);
}

static void bad_lines_are_named(void **state)
{
	(void)state;
	assert_bad("", "p: no experiment");
	assert_bad("# nothing\n\n", "p: no experiment");
	assert_bad(
		"run ddw none\n\nrum ddw none\n", "p:3: unknown word 'rum'; did you mean 'run'?");
	assert_bad("run ddw\n", "p:1: want 'run WORKLOAD");
	assert_bad("run ddw none more\n", "p:1: want 'run WORKLOAD");
	assert_bad("run nothing none\n", "p:1: there is no workload 'nothing'");
	assert_bad("run ddw nothing\n", "p:1: there is no fault 'nothing'");
	assert_bad("run ddw ,\n", "p:1: a fault or 'none' is missing");
	assert_bad("run ddw +\n", "p:1: a fault or 'none' is missing");
	assert_bad("run , none\n", "p:1: a workload is missing");
	assert_bad("servers 3\nrun ddw disk-hog@s4\n", "p:2: there is no server 's4'");
	assert_bad("run ddw disk-hog@s1+disk-hog@s1\n", "p:1: the same fault twice on s1");
	assert_bad("servers 1\nrun ddw disk-hog+pause\n", "p:2: at most");
	assert_bad("run ddw none\nservers 4\n", "p:2: 'servers' must come before");
	assert_bad("servers 0\n", "p:1: a lab has at least one");
	assert_bad("servers 60\nclients 60\n", "p:1: ");
	assert_bad("servers -4\n", "p:1: servers: '-4' is not a number");
	assert_bad("fs glustre\n",
		"p:1: there is no file system 'glustre' for labs; did you mean 'gluster'?");
	assert_bad("fs nothing\n", "p:1: there is no file system 'nothing'");
	assert_bad("phases 1 2 3\n", "p:1: want 'phases");
	assert_bad("phases 1 2 3 x\n", "p:1: 'x' is not a span");
	assert_bad("phases 1 0 3 4\n", "p:1: the clean and the fault phase");
	assert_bad("phases 1 2 3 2d\n", "p:1: a phase may last at most a day");
	assert_bad(
		"functions all\n", "p:1: functions: want none, samples, calls or both, not 'all'");
	assert_bad("trace sumary\n", "not 'sumary'; did you mean 'summary'?");
	assert_bad("trace all\n", "p:1: trace: want none, summary or records, not 'all'");
	assert_bad("disk much\n", "p:1: 'much' is not a number of bytes");
	assert_bad("repeat 0\n", "p:1: 'repeat 0'");
	assert_bad("repeat 1001\n", "p:1: repeat: '1001'");
	assert_bad("repeat 1000\n"
		   "run ddw,ddr,postmark none,disk-hog,disk-busy,pause\n",
		"p:2: a plan may have at most 10000 experiments");
	assert_bad("run ddw write-network-hog+read-network-hog+receive-pktloss+disk-hog\n",
		"p:1: the name of the experiment");
}

static void long_lines_are_refused(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_bad(text, "p:1: a line may have at most");
}

static void some_faults_are_fatal(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};

	(void)state;
	parse("run ddw none,disk-hog,err-space,disk-hog+err-files\n", &p);
	assert_false(experiment_fatal(&p.experiments[0]));
	assert_false(experiment_fatal(&p.experiments[1]));
	assert_true(experiment_fatal(&p.experiments[2]));
	assert_true(experiment_fatal(&p.experiments[3]));
}

static void built_in_plans_are_good(void **state)
{
	(void)state;
	for (const struct plan_text *t = plan_texts; t->name; t++) {
		_cleanup_(plan_release) struct plan p = {0};
		struct lp_err err = {0};

		if (plan_load(t->name, &p, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(*t->summary);
	}
}

static void count_kind(const struct plan *p, unsigned *ret_train, unsigned *ret_controls)
{
	*ret_train = *ret_controls = 0;
	for (unsigned i = 0; i < p->n_experiments; i++) {
		*ret_train += p->experiments[i].train;
		*ret_controls += !p->experiments[i].train && !p->experiments[i].n_faults;
	}
}

static void the_papers_plan_is_theirs(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	unsigned train, controls;

	(void)state;
	assert_int_equal(plan_load("paper", &p, NULL), 0);
	count_kind(&p, &train, &controls);
	assert_int_equal(train, 30);
	assert_int_equal(controls, 50);
	assert_int_equal(p.n_experiments, 30 + 50 + 300);
	assert_int_equal(p.experiments[0].clean_us, 120 * US_PER_SEC);
	assert_int_equal(p.experiments[0].fault_us, 300 * US_PER_SEC);
	assert_int_equal(p.experiments[0].recovery_us, 180 * US_PER_SEC);
}

static void files_are_read(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(plan_load(temp_text("a.plan", "run ddr none\n"), &p, &err), 0);
	assert_string_equal(p.experiments[0].name, "ddr-none-1");
	assert_int_equal(plan_load(temp_write("b.plan", "run\0x", 5), &p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a text file"));
	assert_int_equal(plan_load(temp_path("none"), &p, &err), -ENOENT);
}

/* The papers' faults and a control on ddw and ddr, twice each, on every file system. */
static void file_systems_have_the_same_plan(void **state)
{
	static const char *const systems[] = {"moosefs", "ceph"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(plan_release) struct plan p = {0};
		struct lp_err err = {0};
		char path[4096];

		assert_non_null(getenv("FIXTURES"));
		snprintf(path, sizeof(path), "%s/../../recordings-%s/%s.plan", getenv("FIXTURES"),
			systems[i], systems[i]);
		if (plan_load(path, &p, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(p.lab.fs, systems[i]);
		assert_int_equal(p.lab.n_servers, 6);
		assert_int_equal(p.n_experiments, 2 * 2 * 7);
		assert_string_equal(p.experiments[0].name, "ddw-none-1");
	}
}

static bool is_second(void *ctx, const struct experiment *e, unsigned i)
{
	(void)e;
	return i % 2 == *(unsigned *)ctx;
}

static void some_are_kept(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	unsigned rest = 1;

	(void)state;
	parse("repeat 5\nrun ddw none\n", &p);
	plan_keep(&p, is_second, &rest);
	assert_int_equal(p.n_experiments, 2);
	assert_string_equal(p.experiments[0].name, "ddw-none-2");
	assert_string_equal(p.experiments[1].name, "ddw-none-4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_make_experiments),
		cmocka_unit_test(lists_are_multiplied),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(some_faults_are_fatal),
		cmocka_unit_test(built_in_plans_are_good),
		cmocka_unit_test(the_papers_plan_is_theirs),
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(file_systems_have_the_same_plan),
		cmocka_unit_test(some_are_kept),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
