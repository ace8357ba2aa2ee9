/* Limits of a process that is called a server, lowered and given back. */
#include "lab/process.h"
#include "lab/rlimit.h"
#include "temp_dir.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct limit limit = {"err-files", RLIMIT_NOFILE};

struct rig {
	struct lab lab;
	pid_t pid;
};

static void rig_make(struct rig *r)
{
	struct process_stat p;
	char line[PROCESS_LINE_MAX];

	*r = (struct rig){.lab = {.config = {.name = "unittest", .n_servers = 1}, .n_nodes = 1}};
	snprintf(r->lab.dir, sizeof(r->lab.dir), "%s", temp_path(""));
	r->lab.nodes[0] = (struct lab_node){.role = LAB_SERVER, .name = "s1"};
	temp_mkdir("run");
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(process_read(r->pid, &p));
	snprintf(line, sizeof(line), "%d %llu\n", (int)p.pid, (unsigned long long)p.start);
	temp_text("run/s1-fs.pid", line);
}

static void rig_end(struct rig *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
}

static struct rlimit limit_of(const struct rig *r)
{
	struct rlimit now;

	assert_int_equal(prlimit(r->pid, RLIMIT_NOFILE, NULL, &now), 0);
	return now;
}

static void a_limit_is_lowered_and_given_back(void **state)
{
	struct lp_err err = {0};
	struct rlimit before;
	struct rig r;

	(void)state;
	rig_make(&r);
	before = limit_of(&r);
	assert_int_equal(rlimit_verify(&limit, &r.lab, r.lab.nodes, &err), -ENOENT);
	assert_int_equal(rlimit_lower(&limit, &r.lab, r.lab.nodes, 7, &err), 0);
	assert_true(limit_of(&r).rlim_cur == 7 && limit_of(&r).rlim_max == before.rlim_max);
	assert_int_equal(rlimit_verify(&limit, &r.lab, r.lab.nodes, &err), 0);
	assert_int_equal(access(temp_path("run/s1-err-files.limit"), F_OK), 0);
	assert_int_equal(rlimit_restore(&limit, &r.lab, r.lab.nodes, &err), 0);
	assert_true(limit_of(&r).rlim_cur == before.rlim_cur);
	assert_int_equal(access(temp_path("run/s1-err-files.limit"), F_OK), -1);
	assert_int_equal(rlimit_restore(&limit, &r.lab, r.lab.nodes, &err), 0);
	rig_end(&r);
}

static void a_limit_that_was_raised_again_is_told(void **state)
{
	struct lp_err err = {0};
	struct rlimit before;
	struct rig r;

	(void)state;
	rig_make(&r);
	before = limit_of(&r);
	assert_int_equal(rlimit_lower(&limit, &r.lab, r.lab.nodes, 7, &err), 0);
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, &before, NULL), 0);
	assert_int_equal(rlimit_verify(&limit, &r.lab, r.lab.nodes, &err), -EIO);
	assert_non_null(strstr(err.text, "not 7"));
	/* A server that has ended has felt it. */
	rig_end(&r);
	assert_int_equal(rlimit_verify(&limit, &r.lab, r.lab.nodes, &err), 0);
}

static void what_cannot_be_lowered_is_told(void **state)
{
	struct lp_err err = {0};
	struct rig r;

	(void)state;
	rig_make(&r);
	assert_int_equal(
		rlimit_lower(&limit, &r.lab, r.lab.nodes, limit_of(&r).rlim_cur, &err), -EINVAL);
	assert_int_equal(rlimit_lower(&limit, &r.lab, r.lab.nodes, 7, &err), 0);
	temp_text("run/s1-err-files.limit", "1 2");
	assert_int_equal(rlimit_verify(&limit, &r.lab, r.lab.nodes, &err), -EBADMSG);
	assert_int_equal(rlimit_restore(&limit, &r.lab, r.lab.nodes, &err), -EBADMSG);
	rig_end(&r);
	assert_int_equal(rlimit_lower(&limit, &r.lab, r.lab.nodes, 7, &err), -ESRCH);
	assert_non_null(strstr(err.text, "on s1 is not running"));
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(a_limit_is_lowered_and_given_back),
		IN_DIR(a_limit_that_was_raised_again_is_told),
		IN_DIR(what_cannot_be_lowered_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
