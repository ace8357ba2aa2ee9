#include "lab/daemon.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "lab/mounts.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_MS = 30000, /* to wait for a daemon; a machine may be busy */
	STEP_MS = 20,
	STOP_MS = 5000,
	PROC_MAX = 8 << 20,
	STATE_ESTABLISHED = 1,
	STATE_LISTEN = 10,
	ARGS_MAX = 32,
};

int daemon_configure(const char *path, struct strbuf *text, struct lp_err *err)
{
	_cleanup_free_ char *whole = strbuf_take(text);
	if (!whole)
		return lp_err_sys(err, -ENOMEM, "%s", path);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	int r = file_pwrite_full(fd, whole, strlen(whole), 0);
	return r < 0 ? lp_err_sys(err, r, "cannot write %s", path) : 0;
}

const char *daemon_program(const struct lab_config *c, const char *name, char buf[PATH_MAX])
{
	static const char *const folders[] = {"sbin", "bin"};

	for (unsigned i = 0; *c->prefix && i < 2; i++) {
		snprintf(buf, PATH_MAX, "%s/%s/%s", c->prefix, folders[i], name);
		if (access(buf, X_OK) == 0)
			return buf;
	}
	snprintf(buf, PATH_MAX, "%s", name);
	return buf;
}

bool daemon_exists(const struct lab_config *c, const char *program)
{
	char path[PATH_MAX];

	daemon_program(c, program, path);
	return *c->prefix ? *path == '/' : tool_exists(program);
}

int daemon_missing(const struct lab_config *c, const char *what, struct lp_err *err)
{
	return lp_err_set(err, -ENOENT, "%s is not installed in %s (looked in its sbin and bin)",
		what, c->prefix);
}

int daemon_start(const struct lab *lab, const struct lab_node *node, const char *const *argv,
	struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX], log[LAB_PATH_MAX], program[PATH_MAX];
	const char *args[ARGS_MAX] = {daemon_program(&lab->config, argv[0], program)};
	const struct spawn s = {
		.netns = node->netns,
		.cgroup = *node->cgroup ? node->cgroup : NULL,
		.log = lab_path(lab, log, "log/%s-fs.log", node->name),
		.pid_file = lab_path(lab, pid_file, "run/%s-fs.pid", node->name),
		.argv = args,
	};

	for (unsigned i = 1; i + 1 < ARGS_MAX && argv[i]; i++)
		args[i] = argv[i];
	return tool_spawn(&s, NULL, err);
}

/* The hexadecimal number after the next `sign`; moves past it. False: there is none in this
 * line. */
static bool hex_after(const char **at, char sign, unsigned *ret)
{
	size_t len = strcspn(*at, "\n");
	const char *from = memchr(*at, sign, len);
	char *end;
	if (!from)
		return false;
	*ret = (unsigned)strtoul(from + 1, &end, 16);
	*at = end;
	return end > from + 1;
}

unsigned daemon_count_sockets(const char *text, unsigned state, uint16_t port)
{
	unsigned n = 0;
	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line, '\n')) {
		/* "   0: ADDRESS:PORT ADDRESS:PORT STATE ..." */
		unsigned number, local, remote, is;
		const char *at = ++line;
		if (!hex_after(&at, ':', &number) || !hex_after(&at, ':', &local) ||
			!hex_after(&at, ':', &remote) || !hex_after(&at, ' ', &is))
			continue;
		if (is == state && (state == STATE_LISTEN ? local : remote) == port)
			n++;
	}
	return n;
}

/* A condition to wait for. */
struct condition {
	const struct lab *lab;
	const struct lab_node *node;
	const char *what; /* for the error message */
	const char *file; /* in the mount */
	uint16_t port;
	unsigned state; /* of sockets with that port */
	unsigned n;
	bool (*holds)(const struct condition *c, pid_t pid);
};

static bool holds_sockets(const struct condition *c, pid_t pid)
{
	char path[64];
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	snprintf(path, sizeof(path), "/proc/%d/net/tcp", (int)pid);
	if (file_slurp(path, PROC_MAX, &text, &size, NULL) < 0)
		return false;
	return daemon_count_sockets(text, c->state, c->port) >= c->n;
}

static bool holds_mount(const struct condition *c, pid_t pid)
{
	char path[LAB_PATH_MAX];
	(void)pid;
	return mounts_has(lab_path(c->lab, path, "%s/mnt", c->node->name));
}

/* The answer may never come. A process that waits can be killed, a thread cannot. */
static int ask(const struct condition *c, const char *options, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	return tool_run(err, "timeout -s KILL %d stat %s %s", WAIT_MS / 1000, options,
		lab_path(c->lab, path, "%s/mnt/%s", c->node->name, c->file));
}

static bool holds_file(const struct condition *c, pid_t pid)
{
	(void)pid;
	return ask(c, "", NULL) == 0;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
}

/* By the clock, because checking can take long, too. */
static int64_t now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

/* The log is removed with a lab that does not start, so its last line is reported. */
static int gave_up(const struct condition *c, int r, const char *how, struct lp_err *err)
{
	char log[LAB_PATH_MAX], words[256];
	tool_last_words(
		lab_path(c->lab, log, "log/%s-fs.log", c->node->name), words, sizeof(words));
	return lp_err_set(err, r, "the file system's program on %s %s%s%s", c->node->name, how,
		*words ? ": " : "", words);
}

static int wait_for(const struct condition *c, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX], how[128];
	lab_path(c->lab, pid_file, "run/%s-fs.pid", c->node->name);
	for (int64_t end = now_ms() + WAIT_MS; now_ms() < end; nap()) {
		pid_t pid = tool_pid(pid_file);
		if (!pid)
			return gave_up(c, -EIO, "ended at once", err);
		if (c->holds(c, pid))
			return 0;
	}
	snprintf(how, sizeof(how), "%s within %d s", c->what, WAIT_MS / 1000);
	return gave_up(c, -ETIMEDOUT, how, err);
}

int daemon_wait_listening(
	const struct lab *lab, const struct lab_node *node, uint16_t port, struct lp_err *err)
{
	const struct condition c = {
		.lab = lab,
		.node = node,
		.what = "did not listen",
		.port = port,
		.state = STATE_LISTEN,
		.n = 1,
		.holds = holds_sockets,
	};
	return wait_for(&c, err);
}

int daemon_wait_connected(const struct lab *lab, const struct lab_node *node, uint16_t port,
	unsigned n, struct lp_err *err)
{
	const struct condition c = {
		.lab = lab,
		.node = node,
		.what = "did not connect to all servers",
		.port = port,
		.state = STATE_ESTABLISHED,
		.n = n,
		.holds = holds_sockets,
	};
	return wait_for(&c, err);
}

int daemon_wait_mounted(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	const struct condition c = {.lab = lab,
		.node = node,
		.what = "did not mount the file system",
		.file = "",
		.holds = holds_mount};
	int r = wait_for(&c, err);
	return r < 0 ? r : ask(&c, "-f", err);
}

int daemon_wait_file(
	const struct lab *lab, const struct lab_node *node, const char *name, struct lp_err *err)
{
	const struct condition c = {.lab = lab,
		.node = node,
		.what = "did not complete the mount",
		.file = name,
		.holds = holds_file};
	return wait_for(&c, err);
}

int daemon_stop(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX];
	lab_path(lab, pid_file, "run/%s-fs.pid", node->name);
	return tool_kill(pid_file, SIGTERM, STOP_MS, err);
}

int daemon_unmount(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	lab_path(lab, path, "%s/mnt", node->name);
	/* First the process: then no request in the mount can wait for an answer. */
	int r = daemon_stop(lab, node, err);
	while (mounts_has(path)) {
		if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && mounts_has(path))
			return lp_err_sys(err, -errno, "cannot unmount %s", path);
	}
	return r;
}
