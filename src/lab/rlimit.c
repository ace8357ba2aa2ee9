#include "lab/rlimit.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/server.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_MAX 128

struct note {
	pid_t pid;
	struct rlimit before;
	rlim_t lowered;
};

static char *note_path(const struct limit *l, const struct lab *lab, const struct lab_node *on,
	char buf[LAB_PATH_MAX])
{
	return lab_path(lab, buf, "run/%s-%s.limit", on->name, l->fault);
}

static int note_write(const char *path, const struct note *n, struct lp_err *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char text[NOTE_MAX];
	int len = snprintf(text, sizeof(text), "%d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		(int)n->pid, (uint64_t)n->before.rlim_cur, (uint64_t)n->before.rlim_max,
		(uint64_t)n->lowered);
	int r = fd < 0 ? -errno : file_pwrite_full(fd, text, (size_t)len, 0);

	return r < 0 ? lp_err_sys(err, r, "cannot write %s", path) : 0;
}

/* Read a note. -ENOENT, without a description, if there is none. */
static int note_read(const char *path, struct note *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t numbers[4];
	char *at;
	size_t size;
	int r;

	if (access(path, F_OK) < 0)
		return -ENOENT;
	r = file_slurp(path, NOTE_MAX, &text, &size, err);
	if (r < 0)
		return r;
	at = text;
	for (unsigned i = 0; i < 4; i++) {
		char *end;

		numbers[i] = strtoull(at, &end, 10);
		if (end == at)
			return lp_err_set(err, -EBADMSG, "%s is incomplete", path);
		at = end;
	}
	*ret = (struct note){.pid = (pid_t)numbers[0],
		.before = {.rlim_cur = numbers[1], .rlim_max = numbers[2]},
		.lowered = numbers[3]};
	return 0;
}

int rlimit_lower(const struct limit *l, const struct lab *lab, const struct lab_node *on,
	rlim_t value, struct lp_err *err)
{
	struct note n = {.lowered = value};
	char path[LAB_PATH_MAX];
	int r = server_need(lab, on, &n.pid, err);

	if (r < 0)
		return r;
	if (prlimit(n.pid, l->resource, NULL, &n.before) < 0)
		return lp_err_sys(err, -errno, "cannot read the limits of process %d", (int)n.pid);
	if (value >= n.before.rlim_cur)
		return lp_err_set(err, -EINVAL,
			"the server's limit is %" PRIu64 ", which is already at most %" PRIu64,
			(uint64_t)n.before.rlim_cur, (uint64_t)value);
	r = note_write(note_path(l, lab, on, path), &n, err);
	if (r < 0)
		return r;
	/* The hard limit stays, so that the soft limit can be restored. */
	if (prlimit(n.pid, l->resource,
		    &(struct rlimit){.rlim_cur = value, .rlim_max = n.before.rlim_max}, NULL) < 0)
		return lp_err_sys(err, -errno, "cannot lower the limits of process %d", (int)n.pid);
	return 0;
}

int rlimit_verify(
	const struct limit *l, const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct rlimit now;
	struct note n;
	int r = note_read(note_path(l, lab, on, path), &n, err);

	if (r == -ENOENT)
		return lp_err_set(err, r, "there is no %s", path);
	if (r < 0)
		return r;
	if (server_pid(lab, on) != n.pid)
		return 0;
	if (prlimit(n.pid, l->resource, NULL, &now) < 0)
		return errno == ESRCH ? 0 : lp_err_sys(err, -errno, "process %d", (int)n.pid);
	if (now.rlim_cur != n.lowered)
		return lp_err_set(err, -EIO, "the server's limit is %" PRIu64 ", not %" PRIu64,
			(uint64_t)now.rlim_cur, (uint64_t)n.lowered);
	return 0;
}

int rlimit_restore(
	const struct limit *l, const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct note n;
	int r = note_read(note_path(l, lab, on, path), &n, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (server_pid(lab, on) == n.pid && prlimit(n.pid, l->resource, &n.before, NULL) < 0 &&
		errno != ESRCH)
		return lp_err_sys(
			err, -errno, "cannot restore the limits of process %d", (int)n.pid);
	r = server_revive(lab, on, err);
	if (r == 0)
		unlink(path);
	return r;
}
