/* Programs that do unusual things, which counting their calls must not change. hard MODE: see the
 * table at the end. Each mode checks itself, and the numbers of calls are known. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

volatile int sink;
extern char **environ;

APART void leaf(void)
{
	sink++;
}

APART void middle(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

static void must(int ok)
{
	if (!ok)
		abort();
}

/* It has no descriptor that it does not know, and needs none: leaf 5. */
static void closes(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	must(n == 2 + 3 + 1); /* ".", "..", the standard ones, the directory */
	closedir(d);
	for (int fd = 0; fd < 100; fd++)
		close(fd);
	middle(5);
	must(open("/dev/null", O_RDONLY) == 0);
}

static void wait_for(pid_t pid, int wanted)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == wanted);
}

APART void child_of_vfork(void)
{
	leaf();
	_exit(7);
}

/* leaf 2, child_of_vfork 1 (when its caller ends) */
static void vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		child_of_vfork();
	wait_for(pid, 7);
	leaf();
}

/* leaf 1 */
static void spawns(void)
{
	char *args[] = {"true", NULL};
	pid_t pid;

	must(posix_spawnp(&pid, "true", NULL, NULL, args, environ) == 0);
	wait_for(pid, 0);
	must(system("exit 3") == 3 << 8);
	leaf();
}

/* A process that libc does not know of ends, and the program continues: leaf 1 and 1. */
static void clones(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		leaf();
		exit(3);
	}
	wait_for(pid, 3);
	leaf();
}

APART int in_clone(void *arg)
{
	(void)arg;
	leaf();
	return 4;
}

/* The same with a stack of its own: leaf 1 and 1, in_clone 1 */
static void clones_stack(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t pid = clone(in_clone, stack + sizeof(stack), SIGCHLD, NULL);

	wait_for(pid, 4);
	leaf();
}

static pthread_key_t key;

APART void destructor(void *value)
{
	leaf();
	if (value != (void *)1)
		pthread_setspecific(key, (char *)value - 1);
}

static void *with_key(void *arg)
{
	pthread_setspecific(key, arg);
	return NULL;
}

/* Functions that run when their thread ends: destructor 3 * 700, in more threads than there are
 * rows, one after the other. */
static void ends(void)
{
	must(pthread_key_create(&key, destructor) == 0);
	for (int i = 0; i < 700; i++) {
		pthread_t id;

		must(pthread_create(&id, NULL, with_key, (void *)3) == 0);
		pthread_join(id, NULL);
	}
}

static void *small_stack(void *arg)
{
	middle(4);
	return arg;
}

/* A thread with the smallest stack: middle 1, leaf 4 */
static void small(void)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	must(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
	must(pthread_create(&id, &attr, small_stack, NULL) == 0);
	pthread_join(id, NULL);
}

static volatile sig_atomic_t rung;

APART void ring(int number)
{
	(void)number;
	leaf();
	rung++;
}

static void *brief(void *arg)
{
	middle(3);
	return arg;
}

/* Signals at any moment, on a stack of their own, while threads begin and end: middle 2000, ring as
 * often as it rang. */
static void storm(void)
{
	static char stack[1 << 14];
	stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = ring, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

	must(sigaltstack(&alternative, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 500; i++) {
		pthread_t ids[4];

		for (int k = 0; k < 4; k++)
			must(pthread_create(&ids[k], NULL, brief, NULL) == 0);
		for (int k = 0; k < 4; k++)
			pthread_join(ids[k], NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", (int)rung);
}

/* A sandbox that kills for everything but what a C program that has begun does. */
static void sandbox(void)
{
	static const int allowed[] = {SYS_madvise, SYS_mmap, SYS_munmap, SYS_exit_group, SYS_exit,
		SYS_rt_sigreturn, SYS_write};
	struct sock_filter code[32];
	struct sock_fprog program = {.filter = code};
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = n;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* leaf 6 */
static void confined(void)
{
	sandbox();
	middle(6);
	_exit(0);
}

/* Changes its root directory, and forks there: leaf 2, and 3 in the child. */
static void rooted(void)
{
	pid_t pid;

	must(chroot("/sys") == 0 && chdir("/") == 0);
	middle(2);
	pid = fork();
	if (pid == 0) {
		middle(3);
		_exit(5);
	}
	wait_for(pid, 5);
}

/* A large number of functions that were not called before. */
#define F(n)                                                                                       \
	APART void f##n(void)                                                                      \
	{                                                                                          \
		sink++;                                                                            \
	}
#define F4(n) F(n##0) F(n##1) F(n##2) F(n##3)
#define F16(n) F4(n##0) F4(n##1) F4(n##2) F4(n##3)
#define F64(n) F16(n##0) F16(n##1) F16(n##2) F16(n##3)
F64(0)
F64(1)
#define P(n) f##n,
#define P4(n) P(n##0) P(n##1) P(n##2) P(n##3)
#define P16(n) P4(n##0) P4(n##1) P4(n##2) P4(n##3)
#define P64(n) P16(n##0) P16(n##1) P16(n##2) P16(n##3)
static void (*const many[])(void) = {P64(0) P64(1)};

static void *calls_many(void *arg)
{
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		many[i]();
	return arg;
}

/* Children of fork() call what another thread of their parent calls for the first time, and do not
 * wait for that thread, which they do not have. */
static void forks(void)
{
	struct timespec begin, end;
	pthread_t id;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			must(pthread_create(&id, NULL, calls_many, NULL) == 0);
			pid = fork();
			if (pid == 0) {
				calls_many(NULL);
				_exit(0);
			}
			wait_for(pid, 0);
			pthread_join(id, NULL);
			_exit(0);
		}
		wait_for(pid, 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	must(end.tv_sec - begin.tv_sec < 60);
}

/* Waits for the end of its input: leaf as often as lines. */
static void reads(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		leaf();
		puts("done");
		fflush(stdout);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {{"closes", closes}, {"vforks", vforks}, {"spawns", spawns}, {"clones", clones},
	{"clones_stack", clones_stack}, {"ends", ends}, {"small", small}, {"storm", storm},
	{"confined", confined}, {"rooted", rooted}, {"forks", forks}, {"reads", reads}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	}
	return 2;
}
