#include "lab/fault.h"

#include "base/cleanup.h"
#include "lab/rlimit.h"
#include "lab/server.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBERS_MAX (1u << 20)

static const struct limit limit = {"err-files", RLIMIT_NOFILE};

/* Is the number in use, for anything but a file that clients have open at the moment? */
static bool is_taken(int fds, unsigned number, const char *brick)
{
	char name[16], path[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(name, sizeof(name), "%u", number);
	n = readlinkat(fds, name, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return strncmp(path, brick, strlen(brick)) != 0 || fstatat(fds, name, &st, 0) < 0 ||
		!S_ISREG(st.st_mode);
}

/* The limit applies to numbers, and the lowest free one is always used. Find the number below which
 * `spare` numbers are free when clients have closed their files. */
static int limit_for(const struct lab *lab, const struct lab_node *on, unsigned spare, rlim_t *ret,
	struct lp_err *err)
{
	_cleanup_close_ int fds = -1;
	char path[32], brick[LAB_PATH_MAX];
	unsigned number = 0;
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds < 0)
		return lp_err_sys(err, -errno, "%s", path);
	lab_path(lab, brick, "%s/brick/", on->name);
	for (; number < NUMBERS_MAX; number++) {
		if (!is_taken(fds, number, brick) && spare-- == 0)
			break;
	}
	*ret = number;
	return 0;
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	rlim_t value = 0;
	int r = limit_for(lab, on, (unsigned)strength, &value, err);

	return r < 0 ? r : rlimit_lower(&limit, lab, on, value, err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_verify(&limit, lab, on, err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_restore(&limit, lab, on, err);
}

extern const struct fault fault_err_files;
const struct fault fault_err_files = {
	.name = "err-files",
	.summary = "its file system's server may open no more files (RLIMIT_NOFILE)",
	.diagnosis = "propagated-error|crash|server-hung|resource-exhausted",
	.fatal = true,
	.strength = "files of clients that it may have open",
	.strength_default = 0,
	.strength_min = 0,
	.strength_max = 1000000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
