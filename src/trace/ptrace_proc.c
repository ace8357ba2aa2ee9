#include "trace/ptrace_proc.h"

#include "base/cleanup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#define STATUS_MAX 8192
#define CGROUP_DEPTH_MAX 16
#define ARGS_MAX 4096
#define COMM_LEN 15 /* the kernel truncates names to this length */

/* Read a file of a process as text; returns its length or a negative errno. */
static ssize_t read_text(pid_t tid, const char *name, char *ret, size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, ret, size - 1);
	if (n < 0)
		return -errno;
	ret[n] = 0;
	return n;
}

bool proc_status_parse(const char *status, const char *name, int base, uint64_t *ret)
{
	size_t len = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':') {
			*ret = strtoull(line + len + 1, NULL, base);
			return true;
		}
	}
	return false;
}

static pid_t id_field(pid_t tid, const char *name)
{
	char status[STATUS_MAX] = {0};
	uint64_t id;

	if (read_text(tid, "status", status, sizeof(status)) < 0 ||
		!proc_status_parse(status, name, 10, &id))
		return -1;
	return (pid_t)id;
}

pid_t proc_tgid(pid_t tid)
{
	return id_field(tid, "Tgid");
}

pid_t proc_tracer(pid_t tid)
{
	return id_field(tid, "TracerPid");
}

bool proc_ignores(pid_t tid, int sig)
{
	bool by_default = sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
	char status[STATUS_MAX] = {0};
	uint64_t ignored, caught, bit = UINT64_C(1) << (sig - 1);

	if (read_text(tid, "status", status, sizeof(status)) < 0 ||
		!proc_status_parse(status, "SigIgn", 16, &ignored) ||
		!proc_status_parse(status, "SigCgt", 16, &caught))
		return false;
	return (ignored & bit) || (by_default && !(caught & bit));
}

bool proc_has_signal(pid_t tid)
{
	char status[STATUS_MAX] = {0};
	uint64_t own, shared, blocked;

	if (read_text(tid, "status", status, sizeof(status)) < 0 ||
		!proc_status_parse(status, "SigPnd", 16, &own) ||
		!proc_status_parse(status, "ShdPnd", 16, &shared) ||
		!proc_status_parse(status, "SigBlk", 16, &blocked))
		return true;
	return ((own | shared) & ~blocked) != 0;
}

ssize_t proc_exe(pid_t tid, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	n = readlink(path, ret, size);
	return n < 0 ? -errno : n;
}

bool proc_comm(pid_t pid, char *ret, size_t size)
{
	char name[64];
	ssize_t n = read_text(pid, "comm", name, sizeof(name));

	if (n <= 0)
		return false;
	if (name[n - 1] == '\n')
		name[n - 1] = 0;
	snprintf(ret, size, "%s", name);
	return true;
}

bool proc_is_called(pid_t pid, const char *comm)
{
	char name[64];

	return proc_comm(pid, name, sizeof(name)) && !strcmp(name, comm);
}

/* The last part of a path, truncated like the kernel's names. */
static bool path_gives(const char *path, const char *comm)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return *comm && !strncmp(base, comm, COMM_LEN) &&
		(strlen(comm) == COMM_LEN || !base[strlen(comm)]);
}

bool proc_args_give(const char *args, size_t n, const char *comm)
{
	size_t first = strnlen(args, n) + 1;

	/* The name with which it was started; for an interpreter, that of the script. */
	return path_gives(args, comm) || (first < n && path_gives(args + first, comm));
}

bool proc_started_as(pid_t pid, const char *comm)
{
	static const char deleted[] = " (deleted)"; /* usually replaced by a newer file */
	char path[PATH_MAX], args[ARGS_MAX];
	ssize_t n = proc_exe(pid, path, sizeof(path) - 1), suffix = sizeof(deleted) - 1;

	if (n > suffix && !memcmp(path + n - suffix, deleted, (size_t)suffix))
		n -= suffix;
	path[n > 0 ? n : 0] = 0;
	if (path_gives(path, comm))
		return true;
	n = read_text(pid, "cmdline", args, sizeof(args));
	return n > 0 && proc_args_give(args, (size_t)n, comm);
}

bool proc_uid(pid_t pid, uid_t *ret)
{
	char status[STATUS_MAX] = {0};
	uint64_t uid;

	if (read_text(pid, "status", status, sizeof(status)) < 0 ||
		!proc_status_parse(status, "Uid", 10, &uid))
		return false;
	*ret = (uid_t)uid;
	return true;
}

/* A whole number above 0; -1: it is not a number. */
static pid_t id_of(const char *text)
{
	char *end;
	long id = strtol(text, &end, 10);

	return end != text && (*end == 0 || *end == '\n') && id > 0 && id <= INT_MAX ? (pid_t)id
										     : -1;
}

int proc_each(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (entry = readdir(dir))) {
		pid_t id = id_of(entry->d_name);

		if (id > 0)
			r = fn(ctx, id);
	}
	return r;
}

static int each_in_file(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[32];
	int r = 0;

	if (!f)
		return -errno;
	while (!r && fgets(line, sizeof(line), f)) {
		pid_t id = id_of(line);

		if (id > 0)
			r = fn(ctx, id);
	}
	return r;
}

static int each_below(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx, int depth)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char name[PATH_MAX];
	struct dirent *entry;
	int r;

	if ((size_t)snprintf(name, sizeof(name), "%s/cgroup.procs", path) >= sizeof(name))
		return -ENAMETOOLONG;
	r = each_in_file(name, fn, ctx);
	/* A threaded group lists no processes; its parent does. */
	if (r == -EOPNOTSUPP)
		r = 0;
	dir = r ? NULL : opendir(path);
	while (!r && dir && depth < CGROUP_DEPTH_MAX && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
			(size_t)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >=
				sizeof(name))
			continue;
		r = each_below(name, fn, ctx, depth + 1);
		if (r == -ENOENT || r == -ENODEV)
			r = 0; /* it was removed in the meantime */
	}
	return r;
}

int proc_each_in_cgroup(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx)
{
	return each_below(path, fn, ctx, 0);
}
