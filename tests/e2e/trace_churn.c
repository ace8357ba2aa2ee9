/* Processes and connections that come and go by the hundred thousand.
 *
 *   trace_churn processes N    N processes, each of which makes a call that fails, and ends
 *   trace_churn connections N  N connections over the loopback, by processes that send something
 * and end without closing them trace_churn aio N          N reads by AIO that nobody reaps, by
 * processes that end
 *
 * Says "done" on standard output and waits for the end of its standard input, so that somebody can
 * look at who watches it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH 100 /* connections, reads of one process */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* The parent waits for its end and shares its memory: nothing is quicker. */
__attribute__((noinline)) static pid_t brief_process(void)
{
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

	if (pid == 0) {
		/* It changes nothing. NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
		syscall(SYS_chdir, "/nonexistent");
		_exit(0);
	}
	return pid;
}

static void processes(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = brief_process();

		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "vfork");
	}
}

static int listen_on(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*at);

	*at = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	must(fd >= 0 && bind(fd, (struct sockaddr *)at, size) == 0 && listen(fd, EACH) == 0 &&
			getsockname(fd, (struct sockaddr *)at, &size) == 0,
		"listen");
	return fd;
}

/* Ends without closing one of them; what is reset waits for nobody afterwards. */
_Noreturn static void client(const struct sockaddr_in *to)
{
	struct linger reset = {.l_onoff = 1};

	for (int i = 0; i < EACH; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
			connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ||
			write(fd, "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void connections(long n)
{
	struct sockaddr_in at;
	int listener = listen_on(&at), status = 0;

	for (long i = 0; i < n; i += EACH) {
		pid_t pid = fork();

		if (pid == 0)
			client(&at);
		for (int k = 0; k < EACH; k++) {
			int fd = accept(listener, NULL, NULL);

			must(fd >= 0, "accept");
			close(fd);
		}
		must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "client");
	}
}

_Noreturn static void reader(void)
{
	static char buffers[EACH][512];
	struct iocb requests[EACH] = {{0}}, *each[EACH];
	aio_context_t context = 0;
	FILE *file = tmpfile();

	if (!file || syscall(SYS_io_setup, EACH, &context) < 0)
		_exit(2);
	for (int i = 0; i < EACH; i++) {
		requests[i] = (struct iocb){.aio_lio_opcode = IOCB_CMD_PREAD,
			.aio_fildes = (uint32_t)fileno(file),
			.aio_buf = (uint64_t)(uintptr_t)buffers[i],
			.aio_nbytes = sizeof(buffers[i])};
		each[i] = &requests[i];
	}
	_exit(syscall(SYS_io_submit, context, EACH, each) == EACH ? 0 : 1);
}

static void aio(long n)
{
	for (long i = 0; i < n; i += EACH) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			reader();
		must(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
			puts("no AIO");
			exit(0);
		}
		must(status == 0, "io_submit");
	}
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	char byte;

	if (n > 0 && !strcmp(argv[1], "processes"))
		processes(n);
	else if (n > 0 && !strcmp(argv[1], "connections"))
		connections(n);
	else if (n > 0 && !strcmp(argv[1], "aio"))
		aio(n);
	else
		return 2;
	puts("done");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
