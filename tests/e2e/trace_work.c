/* A program of known system calls, for tests of tracing: it waits for a line on standard input,
 * does what its arguments say, and waits for the end of the input. Its own starting up is over by
 * then.
 *
 *     trace_work files DIR N           writes and reads a file in N pieces, and fails a few times
 *     trace_work serve N               N requests of 100 bytes, read in two pieces, answered by 200
 *     trace_work ask PORT N            the client of it
 *     trace_work stuck SECONDS         a write into a full pipe, which does not return
 *     trace_work die                    ends by SIGABRT after a call that failed
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE 4096
#define REQUEST 100
#define ANSWER 200

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "trace_work: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Say something and wait for a line, or the end. */
static void gate(const char *text)
{
	char c;

	must(write(1, text, strlen(text)) == (ssize_t)strlen(text), "write");
	while (read(0, &c, 1) == 1 && c != '\n')
		continue;
}

static void files(const char *dir, int n)
{
	char path[4096], piece[PIECE];
	int fd;

	memset(piece, 'x', sizeof(piece));
	snprintf(path, sizeof(path), "%s/data", dir);
	gate("ready\n");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(fd >= 0, path);
	for (int i = 0; i < n; i++)
		must(pwrite(fd, piece, PIECE, (off_t)i * PIECE) == PIECE, "pwrite");
	must(fsync(fd) == 0, "fsync");
	for (int i = 0; i < n; i++)
		must(pread(fd, piece, PIECE, (off_t)i * PIECE) == PIECE, "pread");
	must(pread(fd, piece, PIECE, (off_t)n * PIECE) == 0, "pread at the end");
	must(close(fd) == 0, "close");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0, path);
	must(write(fd, piece, 1) < 0 && errno == EBADF, "write to what is open for reading");
	must(close(fd) == 0, "close");
	snprintf(path, sizeof(path), "%s/missing", dir);
	for (int i = 0; i < 3; i++)
		must(open(path, O_RDONLY | O_CLOEXEC) < 0, "open of what is not there");
	gate("done\n");
}

static void read_whole(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		must(got > 0, "read");
		n += (size_t)got;
	}
}

static void serve(int n)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	char text[32], buf[ANSWER] = {0};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd, one = 1;

	must(listener >= 0 && bind(listener, (struct sockaddr *)&a, sizeof(a)) == 0 &&
			listen(listener, 5) == 0 &&
			getsockname(listener, (struct sockaddr *)&a, &len) == 0,
		"listen");
	snprintf(text, sizeof(text), "ready %u\n", ntohs(a.sin_port));
	gate(text);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	must(fd >= 0, "accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; i < n; i++) {
		read_whole(fd, buf, 8);
		read_whole(fd, buf + 8, REQUEST - 8);
		must(write(fd, buf, ANSWER) == ANSWER, "write");
	}
	must(read(fd, buf, 1) == 0, "the end");
	close(fd);
	gate("done\n");
}

static void ask(int port, int n)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port)};
	char buf[ANSWER] = {0};
	int fd, one = 1;

	gate("ready\n");
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0, "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; i < n; i++) {
		must(write(fd, buf, REQUEST) == REQUEST, "write");
		read_whole(fd, buf, ANSWER);
	}
	close(fd);
	gate("done\n");
}

static void stuck(unsigned seconds)
{
	static char much[1 << 20];
	int ends[2];

	must(pipe2(ends, O_CLOEXEC) == 0, "pipe");
	gate("ready\n");
	alarm(seconds); /* which ends it by SIGALRM if nobody else does */
	must(write(ends[1], much, sizeof(much)) > 0, "write");
}

static void die(void)
{
	gate("ready\n");
	must(open("/nonexistent/file", O_RDONLY | O_CLOEXEC) < 0, "open");
	abort();
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "files") && argc == 4)
		files(argv[2], number(argv[3]));
	else if (!strcmp(what, "serve") && argc == 3)
		serve(number(argv[2]));
	else if (!strcmp(what, "ask") && argc == 4)
		ask(number(argv[2]), number(argv[3]));
	else if (!strcmp(what, "stuck") && argc == 3)
		stuck((unsigned)number(argv[2]));
	else if (!strcmp(what, "die"))
		die();
	else
		return 2;
	return 0;
}
