/* Calls whose numbers are known. exact MODE: see the table at the end. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))

volatile int sink;

APART void leaf(void)
{
	sink++;
}

APART void middle(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

APART int deep(int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

/* middle 3, leaf 30 */
static void plain(void)
{
	for (int i = 0; i < 3; i++)
		middle(10);
}

/* deep 30001: further down than the runtime keeps frames */
static void recursion(void)
{
	if (deep(100) != 100 || deep(30000) != 30000)
		abort();
	leaf();
}

static void *worker(void *n)
{
	middle(*(int *)n);
	return NULL;
}

/* 200 threads: worker 200, middle 200, leaf 2000 */
static void threads(void)
{
	pthread_t ids[200];
	int n = 10;

	for (int i = 0; i < 200; i++) {
		if (pthread_create(&ids[i], NULL, worker, &n))
			abort();
	}
	for (int i = 0; i < 200; i++)
		pthread_join(ids[i], NULL);
}

static jmp_buf back;

APART void jumps(void)
{
	leaf();
	longjmp(back, 1);
}

APART void outer(void)
{
	if (!setjmp(back))
		jumps();
	leaf();
}

/* outer 5, jumps 5, leaf 10 */
static void jumping(void)
{
	for (int i = 0; i < 5; i++)
		outer();
}

APART void handler(int number)
{
	(void)number;
	leaf();
}

/* handler 100, leaf 200 */
static void signals(void)
{
	signal(SIGUSR1, handler);
	for (int i = 0; i < 100; i++) {
		leaf();
		raise(SIGUSR1);
	}
}

/* Parent: leaf 1, middle 0. Child: middle 1, leaf 7. */
static void forking(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		middle(7);
		_exit(0);
	}
	leaf();
	waitpid(pid, NULL, 0);
}

static ucontext_t here, there;

APART void coroutine(void)
{
	for (int i = 0; i < 10; i++) {
		leaf();
		swapcontext(&there, &here);
	}
}

/* coroutine 0 (it is never left), leaf 20 */
static void coroutines(void)
{
	static char stack[1 << 16];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 10; i++) {
		leaf();
		swapcontext(&here, &there);
	}
}

/* errno stays: leaf 1000 */
static void errors(void)
{
	for (int i = 0; i < 1000; i++) {
		errno = i;
		leaf();
		if (errno != i)
			abort();
	}
}

APART void sleeper(void)
{
	usleep(200000);
}

APART void caller(void)
{
	sleeper();
	usleep(100000);
}

/* caller: 0.1 s of its own; sleeper: 0.2 s */
static void times(void)
{
	caller();
}

/* No counted function follows whose place on the stack shows that jumps() was left. */
APART void goes_on(void)
{
	if (!setjmp(back))
		jumps();
	usleep(100000);
}

/* More than a megabyte of stack. */
APART void falls(int n)
{
	volatile char room[2000];

	room[0] = (char)n;
	if (n)
		falls(n - 1);
	else
		longjmp(back, 1);
	room[1] = room[0];
}

APART void climbs(void)
{
	if (!setjmp(back))
		falls(1000);
	usleep(100000);
}

static sigjmp_buf rescue;

APART void rescued(int number)
{
	(void)number;
	siglongjmp(rescue, 1);
}

/* With a handler on a stack of its own. */
APART void survives(void)
{
	static char room[1 << 16];
	const stack_t alone = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = rescued, .sa_flags = SA_ONSTACK};

	sigaltstack(&alone, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(rescue, 1))
		raise(SIGUSR1);
	usleep(100000);
}

/* goes_on, climbs, survives: 0.2 s of their own each; jumps 2, falls 2002, rescued 2 */
static void leaving(void)
{
	for (int i = 0; i < 2; i++) {
		goes_on();
		climbs();
		survives();
	}
}

/* leaf 12, and it is never heard of again */
static void killed(void)
{
	middle(12);
	kill(getpid(), SIGKILL);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {{"plain", plain}, {"recursion", recursion}, {"threads", threads}, {"jumping", jumping},
	{"signals", signals}, {"forking", forking}, {"coroutines", coroutines}, {"errors", errors},
	{"times", times}, {"leaving", leaving}, {"killed", killed}};

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
