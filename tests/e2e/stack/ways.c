/* Ways to end, and to be many: `ways WAY FILE`. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static sigjmp_buf out;

static void *in_thread(void *arg)
{
	char byte = 0;
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 1000; i++)
		if (pwrite(fd, &byte, 1, i) != 1)
			abort();
	close(fd);
	return arg;
}

static void leave(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void in_handler(int signal)
{
	(void)signal;
	in_thread(NULL);
}

static void threads(void)
{
	pthread_t all[20];

	for (int i = 0; i < 20; i++)
		pthread_create(&all[i], NULL, in_thread, NULL);
	for (int i = 0; i < 20; i++)
		pthread_join(all[i], NULL);
}

static void forks(void)
{
	for (int i = 0; i < 5; i++) {
		if (fork() == 0) {
			in_thread(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* Killed behind its last call. */
static void killed(void)
{
	in_thread(NULL);
	kill(getpid(), SIGKILL);
}

/* A call that is left by a jump does not stay open for those behind it. */
static void jumps(void)
{
	int fds[2];
	char byte;

	signal(SIGALRM, leave);
	if (pipe(fds) < 0)
		abort();
	if (sigsetjmp(out, 1) == 0) {
		alarm(1);
		(void)!read(fds[0], &byte, 1);
	}
	in_thread(NULL);
}

int main(int argc, char **argv)
{
	(void)argc;
	path = argv[2];
	if (!strcmp(argv[1], "threads"))
		threads();
	else if (!strcmp(argv[1], "forks"))
		forks();
	else if (!strcmp(argv[1], "killed"))
		killed();
	else if (!strcmp(argv[1], "jumps"))
		jumps();
	else if (!strcmp(argv[1], "handler")) {
		signal(SIGUSR1, in_handler);
		raise(SIGUSR1);
	} else if (!strcmp(argv[1], "exec"))
		execl("/bin/cat", "cat", "/dev/null", (char *)NULL);
	else if (!strcmp(argv[1], "_exit")) {
		in_thread(NULL);
		_exit(7);
	}
	return 0;
}
