/* Targets by name: children of ours that were started under it, or took it later. */
#include "trace/programs.h"
#include "trace/targets.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "limpet-wanted" /* shorter than a name may be */

static char dir[] = "/tmp/limpet-targets-XXXXXX", link_path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(link_path, sizeof(link_path), "%s/" NAME, dir);
	return symlink("/bin/sleep", link_path);
}

static int teardown(void **state)
{
	(void)state;
	unlink(link_path);
	return rmdir(dir);
}

/* A child that has become what it is to be when this returns: exec, or its word, closes the pipe.
 */
static pid_t start(const char *program, const char *name)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (program)
			execl(program, program, "1000", NULL);
		prctl(PR_SET_NAME, name);
		close(ends[0]);
		close(ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_names(void **state)
{
	const char *comms[] = {"nobody-at-all", NAME};
	const struct trace_targets targets = {.comms = comms, .n_comms = 2};
	pid_t link = start(link_path, NULL), fake = start(NULL, NAME),
	      plain = start("/bin/sleep", NULL);

	(void)state;
	assert_int_equal(target_match(&targets, link), TARGET_WANTED);
	assert_int_equal(target_match(&targets, fake), TARGET_DISGUISE);
	assert_int_equal(target_match(&targets, plain), TARGET_NOT);
	end(link);
	assert_int_equal(target_match(&targets, link), TARGET_NOT);
	end(fake);
	end(plain);
}

static void test_users(void **state)
{
	const char *comms[] = {NAME};
	uid_t ours = getuid(), other[] = {ours + 1, ours + 2}, both[] = {ours + 1, ours};
	struct trace_targets targets = {.comms = comms, .n_comms = 1, .uids = other, .n_uids = 2};
	pid_t pid = start(link_path, NULL);

	(void)state;
	assert_int_equal(target_match(&targets, pid), TARGET_FOREIGN);
	targets.uids = both;
	assert_int_equal(target_match(&targets, pid), TARGET_WANTED);
	assert_false(target_user(&targets, ours + 2));
	end(pid);
}

/* Of each program and user how many there were; the first so many of them. */
static void test_programs(void **state)
{
	struct trace_programs p = {0};
	pid_t one = start(link_path, NULL), two = start(link_path, NULL),
	      other = start(NULL, "other");
	char user[64];

	(void)state;
	trace_programs_note(&p, one);
	trace_programs_note(&p, two);
	trace_programs_note(&p, other);
	trace_programs_note(&p, 0x3fffffff); /* nobody */
	assert_int_equal(p.n, 2);
	assert_string_equal(p.items[0].name, NAME);
	assert_int_equal(p.items[0].n, 2);
	assert_non_null(strrchr(p.items[0].path, '/'));
	assert_int_equal(p.items[0].uid, getuid());
	assert_string_equal(p.items[1].name, "other");
	assert_true(strlen(trace_user_name(getuid(), user, sizeof(user))) > 0);
	assert_string_equal(trace_user_name(3999999999U, user, sizeof(user)), "3999999999");
	end(other);
	for (unsigned i = 0; i < TRACE_PROGRAMS_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other%u", i);
		other = start(NULL, name);
		trace_programs_note(&p, other);
		end(other);
	}
	assert_int_equal(p.n, TRACE_PROGRAMS_MAX);
	assert_int_equal(p.n_more, 2);
	end(one);
	end(two);
	trace_programs_release(&p);
	assert_int_equal(p.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
