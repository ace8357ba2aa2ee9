/* A small server: says that it is there, waits for lines, and works for each: "N" calls work() N
 * times, in a child for "fork N", and kills itself for "die N". After "listen PORT" a client sends
 * the lines, over the network, until it goes away. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static int listen_at(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		exit(1);
	return fd;
}

static void answer(FILE *in, FILE *out);

static void answer_client(int fd)
{
	int client = accept(fd, NULL, NULL), again = dup(client);
	FILE *in = fdopen(client, "r"), *out = fdopen(again, "w");

	if (!in || !out)
		exit(1);
	answer(in, out);
	fclose(in);
	fclose(out);
	close(fd);
}

static void answer(FILE *in, FILE *out)
{
	char line[64];

	while (fgets(line, sizeof(line), in)) {
		int fd = -1;

		if (!strncmp(line, "fork ", 5)) {
			in_child(atoi(line + 5));
		} else if (!strncmp(line, "die ", 4)) {
			serve(atoi(line + 4));
			kill(getpid(), SIGKILL);
		} else if (!strncmp(line, "listen ", 7)) {
			fd = listen_at(atoi(line + 7));
		} else {
			serve(atoi(line));
		}
		fputs("done\n", out);
		fflush(out);
		if (fd >= 0)
			answer_client(fd);
	}
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	answer(stdin, stdout);
	return 0;
}
