#include "lab/hog.h"

#include "base/cleanup.h"
#include "lab/tool.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

#define MARK_MAX 128
#define ENVIRON_MAX 65536
#define STOP_STEP_MS 20
#define STOP_LIMIT_MS 60000

static void mark_of(const struct hog *h, char buf[MARK_MAX])
{
	snprintf(
		buf, MARK_MAX, "LIMPET_FAULT=%s/%s/%s", h->lab->config.name, h->on->name, h->fault);
}

static char *pid_path(const struct hog *h, const struct lab_node *at, char buf[LAB_PATH_MAX])
{
	if (!strcmp(at->name, h->on->name))
		return lab_path(h->lab, buf, "run/%s-%s.pid", h->on->name, h->fault);
	return lab_path(h->lab, buf, "run/%s-%s-%s.pid", h->on->name, h->fault, at->name);
}

void hog_wait(unsigned ms)
{
	struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

int hog_start(
	const struct hog *h, const struct lab_node *at, const char *const *argv, struct lp_err *err)
{
	char mark[MARK_MAX], pid_file[LAB_PATH_MAX], log[LAB_PATH_MAX];
	const char *env[] = {mark, NULL};
	struct spawn s = {
		.netns = *at->netns ? at->netns : NULL,
		.cgroup = *at->cgroup ? at->cgroup : NULL,
		.log = lab_path(h->lab, log, "log/%s-%s.log", h->on->name, h->fault),
		.pid_file = pid_path(h, at, pid_file),
		.argv = argv,
		.env = env,
	};
	pid_t pid;

	mark_of(h, mark);
	return tool_spawn(&s, &pid, err);
}

int hog_verify(const struct hog *h, const struct lab_node *at, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX];

	if (tool_pid(pid_path(h, at, pid_file)))
		return 0;
	return lp_err_set(err, -ESRCH,
		"the process of %s on %s is not running (see %s/log/%s-%s.log)", h->fault, at->name,
		h->lab->dir, h->on->name, h->fault);
}

/* Does the environment of this process contain the mark? */
static bool process_marked(const char *pid, const char *mark, char *buf)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	size_t size = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (size < ENVIRON_MAX && (n = read(fd, buf + size, ENVIRON_MAX - size)) > 0)
		size += (size_t)n;
	buf[size] = '\0';
	for (size_t i = 0; i < size; i += strlen(buf + i) + 1) {
		if (!strcmp(buf + i, mark))
			return true;
	}
	return false;
}

/* Kill it if it is marked. The descriptor makes sure that it is the same process. */
static bool process_kill(const char *pid, const char *mark, char *buf)
{
	_cleanup_close_ int fd = -1;

	if (!process_marked(pid, mark, buf))
		return false;
	fd = pidfd_open((pid_t)strtol(pid, NULL, 10), 0);
	if (fd < 0 || !process_marked(pid, mark, buf))
		return false;
	pidfd_send_signal(fd, SIGKILL, NULL, 0);
	return true;
}

/* Kill all marked processes; returns their number. */
static int kill_marked(const char *mark, char *buf, struct lp_err *err)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	if (!proc)
		return lp_err_sys(err, -errno, "cannot read /proc");
	while ((e = readdir(proc))) {
		if (isdigit((unsigned char)e->d_name[0]) && process_kill(e->d_name, mark, buf))
			n++;
	}
	return n;
}

static void remove_pid_files(const struct hog *h)
{
	char path[LAB_PATH_MAX];

	for (unsigned i = 0; i < h->lab->n_nodes; i++)
		unlink(pid_path(h, &h->lab->nodes[i], path));
}

int hog_stop(const struct hog *h, struct lp_err *err)
{
	_cleanup_free_ char *buf = malloc(ENVIRON_MAX + 1);
	char mark[MARK_MAX];
	int n;

	if (!buf)
		return lp_err_sys(err, -ENOMEM, "cannot stop %s", h->fault);
	mark_of(h, mark);
	for (unsigned ms = 0; (n = kill_marked(mark, buf, err)) > 0; ms += STOP_STEP_MS) {
		if (ms >= STOP_LIMIT_MS)
			return lp_err_set(err, -ETIMEDOUT,
				"%d processes of %s on %s do not end although they were killed", n,
				h->fault, h->on->name);
		hog_wait(STOP_STEP_MS);
	}
	if (n == 0)
		remove_pid_files(h);
	return n;
}
