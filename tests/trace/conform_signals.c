/* Signals: handled, ignored, fatal; and the calls that they interrupt. */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const uint64_t no_args[6];
static int wake[2]; /* what the handler writes to, so that a repeated read ends */
static volatile int writes;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	note_signal(sig, info->si_code, sig == SIGALRM ? 0 : info->si_pid);
	if (writes)
		DO(write, I(wake[1]), P("x"), 1);
	note_call("rt_sigreturn", no_args, 0, "*");
}

static void handle(int sig, int flags)
{
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	MUST(sigaction(sig, &a, NULL) == 0);
}

static void alarm_soon(void)
{
	struct itimerval soon = {.it_value = {0, 50000}};

	DO(setitimer, ITIMER_REAL, P(&soon), 0);
}

/* A call that a signal interrupts: the tracer sees that the kernel means to repeat it (`inside`),
 * the program EINTR, or the result of the repetition. */
static long interrupted(
	const char *name, long nr, const uint64_t args[6], size_t n, const char *inside)
{
	note_call(name, args, n, inside);
	return raw_call(nr, args);
}

static void reads(void)
{
	static char byte;
	const uint64_t args[6] = {I(wake[0]), P(&byte), 1};
	char text[32];

	handle(SIGALRM, 0);
	part_begin("eintr");
	alarm_soon();
	MUST(interrupted("read", SYS_read, args, 3, "-512") == -EINTR);
	part_end();
	handle(SIGALRM, SA_RESTART);
	writes = 1;
	part_begin("restart");
	alarm_soon();
	snprintf(text, sizeof(text), "%ld", interrupted("read", SYS_read, args, 3, "-512"));
	note_call("read", args, 3, text);
	part_end();
	MUST(!strcmp(text, "1"));
	writes = 0;
}

static void sleeps(void)
{
	static struct timespec long_time = {5, 0}, rest;
	static struct {
		uint64_t events, data;
	} event;
	const uint64_t sleep_args[6] = {CLOCK_MONOTONIC, 0, P(&long_time), P(&rest)};
	long epoll;

	handle(SIGALRM, 0);
	part_begin("sleep");
	alarm_soon();
	MUST(interrupted("clock_nanosleep", SYS_clock_nanosleep, sleep_args, 4, "-516") == -EINTR);
	epoll = DO(epoll_create1, 0);
	alarm_soon();
	{
		const uint64_t args[6] = {I(epoll), P(&event), 1, 5000};

		MUST(interrupted("epoll_wait", SYS_epoll_wait, args, 4, "-4") == -EINTR);
	}
	DO(close, I(epoll));
	part_end();
}

/* Signals to ourselves. */
static void own(void)
{
	static char data[10];
	int fds[2];

	handle(SIGUSR1, 0);
	handle(SIGPIPE, 0);
	signal(SIGUSR2, SIG_IGN);
	part_begin("signals");
	{
		/* The call returns before the handler runs, but is noted after it. */
		const uint64_t args[6] = {I(own_pid), SIGUSR1};

		note_call("kill", args, 2, "0");
		raw_call(SYS_kill, args);
	}
	DO(kill, I(own_pid), SIGUSR2); /* ignored */
	DO(kill, I(own_pid), SIGCHLD); /* ignored by default */
	DO(kill, I(own_pid), 0);
	DO(kill, I(own_pid), 99); /* EINVAL */
	DO(pipe2, P(fds), 0);
	DO(close, I(fds[0]));
	{
		const uint64_t args[6] = {I(fds[1]), P(data), 10};

		note_call("write", args, 3, "-32");
		raw_call(SYS_write, args);
	}
	DO(close, I(fds[1]));
	part_end();
	signal(SIGPIPE, SIG_IGN);
}

enum death { DEATH_EXIT, DEATH_SEGV, DEATH_ABORT, DEATH_FSIZE, DEATH_KILL };

static void die(enum death how)
{
	struct rlimit small = {100, 100}, none = {0, 0};
	static char data[1000];
	long fd;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	part_begin("death");
	if (how == DEATH_FSIZE) {
		fd = DO(open, P("limited"), O_RDWR | O_CREAT | O_TRUNC, 0644);
		DO(prlimit64, 0, RLIMIT_FSIZE, P(&small), 0);
		DO(write, I(fd), P(data), 100);
		note("fatal %d %d", own_pid, SIGXFSZ);
		DO(write, I(fd), P(data), 100);
	} else if (how == DEATH_SEGV) {
		*(volatile int *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) =
			1;
	} else if (how == DEATH_ABORT) {
		raw_call(SYS_tgkill, (uint64_t[6]){I(own_pid), I(own_tid), SIGABRT});
	} else if (how == DEATH_KILL) {
		raw_call(SYS_kill, (uint64_t[6]){I(own_pid), SIGKILL});
	}
	raw_call(SYS_exit_group, (uint64_t[6]){3});
}

static void deaths(void)
{
	static const int statuses[] = {[DEATH_EXIT] = 3 << 8,
		[DEATH_SEGV] = SIGSEGV,
		[DEATH_ABORT] = SIGABRT,
		[DEATH_FSIZE] = SIGXFSZ,
		[DEATH_KILL] = SIGKILL};

	for (int how = DEATH_EXIT; how <= DEATH_KILL; how++) {
		int status = 0;
		pid_t child = fork();

		MUST(child >= 0);
		if (child == 0)
			die((enum death)how);
		MUST(waitpid(child, &status, 0) == child);
		MUST((status & ~0x80) == statuses[how]);
		note("fork %d %d", getpid(), child);
		note("exit %d %d", child, statuses[how]);
	}
}

/* A child that is stopped and continued while it sleeps, and sleeps on. */
static void stop_and_go(void)
{
	static struct timespec some = {0, 300000000};
	const uint64_t args[6] = {P(&some), 0};
	int status = 0;
	pid_t parent = getpid(), child = fork();

	MUST(child >= 0);
	if (child == 0) {
		part_begin("stop");
		note_call("nanosleep", args, 2, "-516");
		note_signal(SIGSTOP, 0, parent);
		note_call("restart_syscall", args, 0, "0");
		raw_call(SYS_nanosleep, args);
		part_end();
		_exit(4);
	}
	usleep(100000);
	MUST(kill(child, SIGSTOP) == 0);
	MUST(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
	MUST(kill(child, SIGCONT) == 0);
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 4);
	note("fork %d %d", getpid(), child);
	note("exit %d %d", child, 4 << 8);
}

void parts_of_signals(void)
{
	MUST(pipe(wake) == 0);
	reads();
	sleeps();
	own();
	deaths();
	stop_and_go();
	signal(SIGALRM, SIG_DFL);
}
