/* A program that nobody built for being counted. It does what lines say: "N" calls work() N times,
 * "deep N" recurses, "jump N" leaves functions by longjmp(), "cold N" executes what is seldom
 * executed, "threads N" works in threads, "sleep" sleeps in a function and in the one that calls
 * it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static jmp_buf back;
volatile int sink;

APART void work(void)
{
	sink++;
	__asm__ volatile("");
}

APART int deep(int n)
{
	int r = n ? deep(n - 1) + 1 : 0;

	__asm__ volatile("");
	return r;
}

APART void jumps(void)
{
	work();
	longjmp(back, 1);
}

APART void lands(void)
{
	if (!setjmp(back))
		jumps();
	__asm__ volatile("");
}

__attribute__((noinline, cold)) void freezing(int *n)
{
	(*n)++;
	__asm__ volatile("");
}

/* A part of it is elsewhere, because it calls a function that is seldom called. */
APART int chilly(int n)
{
	int a = n * 3, b = n * 5;

	work();
	if (n < 0) {
		freezing(&a);
		freezing(&b);
	}
	work();
	return a + b;
}

APART void sleeper(void)
{
	usleep(200000);
	__asm__ volatile("");
}

APART void caller(void)
{
	sleeper();
	usleep(100000);
	__asm__ volatile("");
}

static void *in_thread(void *n)
{
	for (int i = 0; i < *(int *)n; i++)
		work();
	return NULL;
}

static void in_threads(int n)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, in_thread, &n);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

static void obey(const char *line)
{
	if (!strncmp(line, "deep ", 5))
		sink += deep(atoi(line + 5));
	else if (!strncmp(line, "threads ", 8))
		in_threads(atoi(line + 8));
	else if (!strncmp(line, "sleep", 5))
		caller();
	else if (!strncmp(line, "cold ", 5))
		for (int i = 1; i <= atoi(line + 5); i++) {
			if (chilly(-i) != 2 - 8 * i)
				abort();
		}
	else if (!strncmp(line, "jump ", 5))
		for (int i = 0; i < atoi(line + 5); i++)
			lands();
	else
		for (int i = 0; i < atoi(line); i++)
			work();
}

int main(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
