/* Threads, fork, vfork, exec. */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 50

static void *work(void *arg)
{
	static _Thread_local char data[64];
	long fd;

	(void)arg;
	part_begin("thread");
	for (int i = 0; i < ROUNDS; i++) {
		path_is("rw");
		fd = DO(openat, I(AT_FDCWD), P("rw"), O_RDONLY, 0);
		DO(pread64, I(fd), P(data), sizeof(data), I(i));
		DO(close, I(fd));
	}
	part_end();
	note("thread %d %d", own_pid, own_tid);
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&all[i], NULL, work, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(all[i], NULL) == 0);
}

static void expect_end(pid_t child, int code)
{
	int status = 0;

	MUST(child > 0);
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == code);
	note("fork %d %d", getpid(), child);
	note("exit %d %d", child, code << 8);
}

/* A child uses what it inherited. */
static void inherits(void)
{
	int fd = open("rw", O_RDONLY);
	static char data[16];
	pid_t child = fork();

	if (child == 0) {
		part_begin("inherit");
		DO(read, I(fd), P(data), 10);
		DO(close, I(fd));
		part_end();
		_exit(5);
	}
	expect_end(child, 5);
	close(fd);
}

static void execute(const char *how)
{
	char *argv[] = {own_path, notes_path, "exec", (char *)how, NULL}, *envp[] = {NULL};

	note("exec %d %s", getpid(), own_path);
	path_is(own_path);
	raw_call(SYS_execve, (uint64_t[6]){P(own_path), P(argv), P(envp)});
	_exit(98);
}

/* What is open at exec, with and without close-on-exec. */
static void execs(void)
{
	pid_t child = fork();

	if (child == 0) {
		dup2(open("rw", O_RDONLY), 20);
		fcntl(20, F_DUPFD_CLOEXEC, 21);
		part_begin("exec_errors");
		path_is("./nothing");
		DO(execve, P("./nothing"), 0, 0);
		path_is("./rw");
		DO(execve, P("./rw"), 0, 0); /* EACCES */
		part_end();
		execute("plain");
	}
	expect_end(child, 0);
}

static void *exec_in_thread(void *arg)
{
	execute(arg);
	return NULL;
}

static void execs_from_a_thread(void)
{
	pid_t child = fork();

	if (child == 0) {
		pthread_t t;

		pthread_create(&t, NULL, exec_in_thread, "thread");
		pthread_join(t, NULL); /* gone with the exec */
		_exit(97);
	}
	expect_end(child, 0);
}

static void vforks(void)
{
	char *argv[] = {own_path, notes_path, "exec", "vfork", NULL}, *envp[] = {NULL};
	pid_t child;

	own_pid = getpid();
	child = vfork(); /* NOLINT: this is what is to be traced */
	if (child == 0) {
		execve(own_path, argv, envp);
		_exit(96);
	}
	note("exec %d %s", child, own_path);
	expect_end(child, 0);
	child = vfork(); /* NOLINT */
	if (child == 0)
		_exit(6);
	expect_end(child, 6);
	MUST(posix_spawn(&child, own_path, NULL, NULL, argv, envp) == 0);
	note("exec %d %s", child, own_path);
	expect_end(child, 0);
}

/* A child whose first thread ends before another one does. */
static void *outlive(void *arg)
{
	static char data[16];

	usleep(50000);
	part_begin("outlive");
	DO(pread64, I(*(int *)arg), P(data), 10, 0);
	part_end();
	raw_call(SYS_exit_group, (uint64_t[6]){8});
	return NULL;
}

static void first_thread_ends(void)
{
	pid_t child = fork();

	if (child == 0) {
		static int fd;
		pthread_t t;

		fd = open("rw", O_RDONLY);
		pthread_create(&t, NULL, outlive, &fd);
		pthread_exit(NULL);
	}
	expect_end(child, 8);
}

void after_exec(const char *how)
{
	static char data[16];

	part_begin(how);
	if (!strcmp(how, "plain")) {
		DO(read, 20, P(data), 4);
		DO(read, 21, P(data), 4); /* closed by the exec */
	} else {
		DO(close, 999);
	}
	part_end();
}

void parts_of_processes(void)
{
	threads();
	inherits();
	execs();
	execs_from_a_thread();
	vforks();
	first_thread_ends();
}
