#include "lab/unmount.h"

#include "lab/process.h"
#include "lab/tool.h"
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOUNTS_MAX 16 /* on top of each other */
#define KILL_WAIT_MS 2000

/* In a separate process, because a file system can block it forever. */
static pid_t begin(const char *path, int flags)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(umount2(path, UMOUNT_NOFOLLOW | flags) < 0 ? errno : 0);
	return pid;
}

static int once(const char *path, int flags, unsigned limit_ms, const char *pid_file)
{
	pid_t pid = begin(path, flags);
	bool ended;
	int status;

	if (pid < 0)
		return -errno;
	ended = process_wait(pid, (int)limit_ms);
	if (!ended && pid_file) {
		tool_kill(pid_file, SIGKILL, KILL_WAIT_MS, NULL);
		ended = process_wait(pid, (int)limit_ms);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		return -ETIMEDOUT;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int unmount(const char *path, unsigned limit_ms, const char *pid_file, struct lp_err *err)
{
	for (unsigned i = 0; i < MOUNTS_MAX; i++) {
		int r = once(path, 0, limit_ms, pid_file);

		if (r == -EINVAL || r == -ENOENT) /* nothing is mounted there (any more) */
			return 0;
		if (r == -EBUSY)
			r = once(path, MNT_DETACH, limit_ms, pid_file);
		if (r < 0)
			return lp_err_sys(err, r, "%s: cannot be unmounted", path);
	}
	return lp_err_set(err, -EBUSY, "%s: there are too many mounts on it", path);
}
