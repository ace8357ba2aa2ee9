#include "unit.h"

#include "base/cleanup.h"
#include "emulator.h"
#include "lab/process.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char dir[64];
static char pid_file[128], log_file[128];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/limpet-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(pid_file, sizeof(pid_file), "%s/a.pid", dir);
	snprintf(log_file, sizeof(log_file), "%s/a.log", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(pid_file);
	unlink(log_file);
	return rmdir(dir);
}

static void slurp(const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, size - 1);
	assert_true(n >= 0);
	buf[n] = '\0';
}

static void runs_to_the_end(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(tool_run(&err, "true"), 0);
	assert_int_equal(tool_output(&text, &err, "echo  %s %d", "a", 5), 0);
	assert_string_equal(text, "a 5\n");
}

static void failures_say_why(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(tool_run(&err, "no-such-program-here x"), -ENOENT);
	assert_non_null(strstr(err.text, "no-such-program-here"));
	assert_int_equal(tool_run(&err, "false"), -EIO);
	assert_string_equal(err.text, "'false' failed with exit code 1");
	assert_int_equal(tool_run(&err, "ls /no/such/file"), -EIO);
	assert_non_null(strstr(err.text, "'ls /no/such/file' failed: "));
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(tool_run(&err, " "), -EINVAL);
	assert_int_equal(tool_run_in("limpet-no-such", &err, "true"), -ENOENT);
}

static void looks_programs_up(void **state)
{
	(void)state;
	assert_true(tool_exists("sh"));
	assert_true(tool_exists("/bin/sh"));
	assert_false(tool_exists("no-such-program-here"));
	assert_false(tool_exists("/no/such/program"));
}

/* A child sees neither our descriptors nor our signals. */
/* A line of /proc/self/status. Signals 32 and 33 are libc's own and cannot be changed; under some
 * parents (make) they are ignored. */
static unsigned long long mask_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	assert_non_null(line);
	return strtoull(line + strlen(name), NULL, 16) & ~0x180000000ULL;
}

static void children_start_clean(void **state)
{
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY); /* NOLINT: it is to be inherited */
	_cleanup_free_ char *fds = NULL, *masks = NULL;
	struct lp_err err = {0};
	sigset_t set, before;

	(void)state;
	assert_true(fd >= 0 && dup2(fd, 77) == 77);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGUSR1, SIG_IGN);
	assert_int_equal(tool_output(&fds, &err, "ls /proc/self/fd"), 0);
	assert_int_equal(tool_output(&masks, &err, "cat /proc/self/status"), 0);
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(77);
	assert_null(strstr(fds, "77"));
	assert_true(mask_of(masks, "SigBlk:") == 0);
	assert_true(mask_of(masks, "SigIgn:") == 0);
}

static void spawns_and_kills(void **state)
{
	const char *argv[] = {"sleep", "100", NULL};
	struct spawn s = {.argv = argv, .pid_file = pid_file};
	struct lp_err err = {0};
	struct process_stat p;
	pid_t pid = 0;

	(void)state;
	skip_if_emulated("start time of its own process");
	assert_int_equal(tool_spawn(&s, &pid, &err), 0);
	assert_true(pid > 0);
	assert_int_equal(tool_pid(pid_file), pid);
	assert_true(process_read(pid, &p));
	assert_int_equal(p.session, pid);
	assert_int_equal(tool_kill(pid_file, SIGSTOP, 0, &err), 0);
	assert_int_equal(tool_pid(pid_file), pid);
	assert_int_equal(tool_kill(pid_file, SIGTERM, 5000, &err), 0);
	assert_int_equal(tool_pid(pid_file), 0);
	assert_int_equal(access(pid_file, F_OK), -1);
	assert_int_equal(tool_kill(pid_file, SIGTERM, 5000, &err), 0);
}

/* A leader that has gone leaves its session's others to be killed all the same. */
static void kills_the_whole_session(void **state)
{
	const char *argv[] = {"sh", "-c", "trap '' TERM; sleep 100 & echo $!; sleep 101", NULL};
	struct spawn s = {.argv = argv, .pid_file = pid_file, .log = log_file};
	struct lp_err err = {0};
	struct process_stat p;
	char text[64] = "";
	pid_t pid, other;

	(void)state;
	assert_int_equal(tool_spawn(&s, &pid, &err), 0);
	for (unsigned i = 0; i < 1000 && !strchr(text, '\n'); i++) {
		usleep(5000);
		slurp(log_file, text, sizeof(text));
	}
	other = (pid_t)strtol(text, NULL, 10);
	assert_true(other > 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tool_pid(pid_file), 0);
	assert_int_equal(tool_kill(pid_file, SIGTERM, 10, &err), 0);
	assert_true(!process_read(other, &p) || p.zombie);
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A process whose first thread has ended, but not the second. */
static pid_t fork_headless(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (pthread_create(&thread, NULL, pause_for_ever, NULL) != 0)
		_exit(1);
	syscall(SYS_exit, 0); /* this thread only */
	_exit(1);
}

static void a_process_lives_as_long_as_its_threads(void **state)
{
	pid_t pid = fork_headless();
	char path[32], text[512] = "";
	struct process_stat p;

	(void)state;
	assert_true(pid > 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (unsigned i = 0; i < 1000 && !strstr(text, ") Z "); i++) {
		usleep(5000);
		slurp(path, text, sizeof(text));
	}
	assert_non_null(strstr(text, ") Z "));
	assert_true(process_read(pid, &p));
	assert_false(p.zombie);
	kill(pid, SIGKILL);
	assert_true(process_wait(pid, 5000));
	assert_true(process_read(pid, &p));
	assert_true(p.zombie);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A pid that is used again by another process is not ours. */
static void start_time_tells_processes_apart(void **state)
{
	_cleanup_fclose_ FILE *f = fopen(pid_file, "we");
	struct lp_err err = {0};
	struct process_stat p;

	(void)state;
	assert_non_null(f);
	assert_true(process_read(getpid(), &p));
	fprintf(f, "%d %llu\n", (int)getpid(), (unsigned long long)p.start + 1);
	fflush(f);
	assert_int_equal(tool_pid(pid_file), 0);
	assert_int_equal(tool_kill(pid_file, SIGKILL, 0, &err), 0); /* we live on */
}

static void broken_pid_files_name_nobody(void **state)
{
	static const char *const texts[] = {"", "1 5\n", "-1 5\n", "abc", "77", "77 5", "77 x\n"};
	struct lp_err err = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_fclose_ FILE *f = fopen(pid_file, "we");

		assert_non_null(f);
		fputs(texts[i], f);
		fflush(f);
		assert_int_equal(tool_pid(pid_file), 0);
		assert_int_equal(tool_kill(pid_file, SIGKILL, 0, &err), 0);
	}
}

static void a_program_that_does_not_start_leaves_no_pid_file(void **state)
{
	const char *argv[] = {dir, NULL}; /* may be searched, but not executed */
	struct spawn s = {.argv = argv, .pid_file = pid_file};
	struct lp_err err = {0};
	pid_t pid = -7;

	(void)state;
	assert_int_equal(tool_spawn(&s, &pid, &err), -EACCES);
	assert_int_equal(pid, -7);
	assert_int_equal(access(pid_file, F_OK), -1);
	argv[0] = "no-such-program-here";
	assert_int_equal(tool_spawn(&s, NULL, &err), -ENOENT);
}

static void adds_to_the_environment(void **state)
{
	const char *argv[] = {"sh", "-c", "echo $LAB_X; echo $PATH", NULL};
	const char *env[] = {"LAB_X=yes", NULL};
	struct spawn s = {.argv = argv, .env = env, .log = log_file};
	char text[4096], want[4096];
	struct lp_err err = {0};
	pid_t pid;

	(void)state;
	unlink(log_file);
	assert_int_equal(tool_spawn(&s, &pid, &err), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	slurp(log_file, text, sizeof(text));
	snprintf(want, sizeof(want), "yes\n%s\n", getenv("PATH"));
	assert_string_equal(text, want);
}

static void knows_itself(void **state)
{
	char path[4096];
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(tool_self(path, sizeof(path), &err), 0);
	assert_non_null(strstr(path, "test_lab_tool"));
	assert_int_equal(tool_self(path, 3, &err), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_to_the_end),
		cmocka_unit_test(failures_say_why),
		cmocka_unit_test(looks_programs_up),
		cmocka_unit_test(children_start_clean),
		cmocka_unit_test(spawns_and_kills),
		cmocka_unit_test(kills_the_whole_session),
		cmocka_unit_test(a_process_lives_as_long_as_its_threads),
		cmocka_unit_test(start_time_tells_processes_apart),
		cmocka_unit_test(broken_pid_files_name_nobody),
		cmocka_unit_test(a_program_that_does_not_start_leaves_no_pid_file),
		cmocka_unit_test(adds_to_the_environment),
		cmocka_unit_test(knows_itself),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
