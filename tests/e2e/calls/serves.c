/* Like a server: says that it is there, waits for lines, and works for each: "N" calls work() N
 * times, in a child for "fork N", and kills itself for "die N". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int sink;

__attribute__((noinline)) void work(void)
{
	sink++;
}

__attribute__((noinline)) void serve(int n)
{
	for (int i = 0; i < n; i++)
		work();
}

static void in_child(int n)
{
	pid_t pid = fork();

	if (pid == 0) {
		serve(n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "fork ", 5)) {
			in_child(atoi(line + 5));
		} else if (!strncmp(line, "die ", 4)) {
			serve(atoi(line + 4));
			kill(getpid(), SIGKILL);
		} else {
			serve(atoi(line));
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
