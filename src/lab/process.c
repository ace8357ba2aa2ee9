#include "lab/process.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "lab/tool.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define PAUSE_US 5000
#define END_LIMIT_MS 5000

/* Decimal digits, without stdio: for use after fork(). Returns the end. */
static char *put_number(char *at, uint64_t n)
{
	char digits[24];
	unsigned len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (len)
		*at++ = digits[--len];
	return at;
}

static uint64_t get_number(const char *text)
{
	uint64_t n = 0;

	while (isdigit((unsigned char)*text))
		n = n * 10 + (uint64_t)(*text++ - '0');
	return n;
}

/* The field with this number, as in proc(5); `text` begins after the name of the command. */
static const char *stat_field(const char *text, unsigned number)
{
	for (unsigned i = 2; i < number && text; i++) {
		text = strchr(text, ' ');
		if (text)
			text++;
	}
	return text;
}

bool process_read(pid_t pid, struct process_stat *ret)
{
	char path[40] = "/proc/", text[1024], *at;
	const char *state, *session, *threads, *start;
	ssize_t n;
	int fd;

	at = put_number(path + strlen(path), (uint64_t)pid);
	memcpy(at, "/stat", sizeof("/stat"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* the name may contain any characters */
	state = at ? stat_field(at, 3) : NULL;
	session = at ? stat_field(at, 6) : NULL;
	threads = at ? stat_field(at, 20) : NULL;
	start = at ? stat_field(at, 22) : NULL;
	if (!state || !session || !threads || !start)
		return false;
	*ret = (struct process_stat){.pid = pid,
		.session = (pid_t)get_number(session),
		.start = get_number(start),
		/* The first thread can be a zombie while others still end, and have files open. */
		.zombie = (*state == 'Z' || *state == 'X') && get_number(threads) <= 1};
	return true;
}

int process_line(char line[PROCESS_LINE_MAX])
{
	struct process_stat self;
	char *at = line;

	if (!process_read(getpid(), &self))
		return -1;
	at = put_number(at, (uint64_t)self.pid);
	*at++ = ' ';
	at = put_number(at, self.start);
	*at++ = '\n';
	return (int)(at - line);
}

void process_each(void (*fn)(const struct process_stat *p, void *ctx), void *ctx)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	pid_t self = getpid();

	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		struct process_stat p;

		if (isdigit((unsigned char)e->d_name[0]) &&
			process_read((pid_t)get_number(e->d_name), &p) && p.pid != self)
			fn(&p, ctx);
	}
}

static int64_t now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

bool process_wait(pid_t pid, int limit_ms)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t end = now_ms() + limit_ms;

	while (fd >= 0) {
		int64_t left = end - now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return true;
		if (n == 0 || errno != EINTR)
			return false;
	}
	return errno == ESRCH;
}

/* A set of processes to end. */
struct doomed {
	pid_t session;	/* all of this session, */
	uint64_t start; /* that began no earlier than its leader */
	dev_t dev;	/* or all in this network namespace */
	ino_t inode;
	pid_t except; /* except this session */
	int signal;
	unsigned alive;
};

static bool in_netns(pid_t pid, const struct doomed *d)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat(path, &st) == 0 && st.st_dev == d->dev && st.st_ino == d->inode;
}

static void doom(const struct process_stat *p, void *ctx)
{
	struct doomed *d = ctx;

	if (d->session ? p->session != d->session || p->start < d->start
		       : p->session == d->except || !in_netns(p->pid, d))
		return;
	if (p->zombie) {
		waitpid(p->pid, NULL, WNOHANG); /* in case it is a child of this process */
		return;
	}
	d->alive++;
	if (d->signal)
		kill(p->pid, d->signal);
}

/* Signal all of them, once. Returns their number. */
static unsigned doom_all(struct doomed *d, int signal)
{
	d->signal = signal;
	d->alive = 0;
	process_each(doom, d);
	return d->alive;
}

/* Wait until they have ended; `again`: repeat this signal for new ones. */
static bool doom_wait(struct doomed *d, int again, int64_t limit_ms)
{
	int64_t end = now_ms() + limit_ms;

	while (doom_all(d, again)) {
		if (now_ms() >= end)
			return false;
		usleep(PAUSE_US);
	}
	return true;
}

int process_kill_in(const char *path, pid_t except, struct lp_err *err)
{
	struct doomed d = {.except = except ? except : -1};
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	d.dev = st.st_dev;
	d.inode = st.st_ino;
	if (!doom_wait(&d, SIGKILL, END_LIMIT_MS))
		return lp_err_set(err, -EBUSY, "%u processes in %s do not end", d.alive, path);
	return 0;
}

static bool read_pid_file(const char *path, pid_t *ret_pid, uint64_t *ret_start)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	unsigned long long start;
	char line[PROCESS_LINE_MAX];
	char *end;
	long pid;

	if (!f || !fgets(line, sizeof(line), f))
		return false;
	pid = strtol(line, &end, 10);
	if (pid <= 1 || *end != ' ' || !isdigit((unsigned char)end[1]))
		return false;
	start = strtoull(end + 1, &end, 10);
	if (*end != '\n')
		return false; /* half written */
	*ret_pid = (pid_t)pid;
	*ret_start = start;
	return true;
}

pid_t tool_pid(const char *pid_file)
{
	struct process_stat p;
	uint64_t start;
	pid_t pid;

	if (!read_pid_file(pid_file, &pid, &start) || !process_read(pid, &p))
		return 0;
	return p.start == start && !p.zombie ? pid : 0;
}

int tool_kill(const char *pid_file, int signal, unsigned wait_ms, struct lp_err *err)
{
	struct doomed d = {0};
	struct process_stat p;
	bool ends = signal == SIGTERM || signal == SIGKILL;
	bool known = read_pid_file(pid_file, &d.session, &d.start);

	/* The pid now belongs to another process. */
	if (known && process_read(d.session, &p) && p.start != d.start)
		known = false;
	if (known)
		doom_all(&d, signal);
	if (!ends)
		return 0;
	if (known && signal != SIGKILL)
		doom_all(&d, SIGCONT); /* a stopped process would not handle the signal */
	if (known && !doom_wait(&d, 0, wait_ms) && !doom_wait(&d, SIGKILL, END_LIMIT_MS))
		return lp_err_set(
			err, -EBUSY, "process %d of %s does not end", (int)d.session, pid_file);
	if (unlink(pid_file) < 0 && errno != ENOENT)
		return lp_err_sys(err, -errno, "%s", pid_file);
	return 0;
}
