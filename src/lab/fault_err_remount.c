#include "lab/fault.h"

#include "lab/disk.h"
#include "lab/mounts.h"
#include "lab/server.h"
#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char *brick_path(const struct lab *lab, const struct lab_node *on, char buf[LAB_PATH_MAX])
{
	return lab_path(lab, buf, "%s/brick", on->name);
}

/* "abort" is what ext4 does when it can no longer trust its disk: it stops writing, even to open
 * files. */
static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	(void)strength;
	if (r < 0)
		return r;
	if (mount(NULL, brick_path(lab, on, path), NULL, MS_REMOUNT | MS_NOATIME, "abort") < 0)
		return lp_err_sys(err, -errno, "%s: cannot be made read-only", path);
	return 0;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	lab_path(lab, path, "%s/brick/lost+found/limpet-err-remount", on->name);
	if (mknod(path, S_IFREG | 0600, 0) == 0) {
		unlink(path);
		return lp_err_set(err, -EIO, "its file system can be written to");
	}
	return errno == EROFS ? 0 : lp_err_sys(err, -errno, "%s", path);
}

/* Such a file system stays read-only until it is mounted again, which must wait for its users. */
static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int r;

	if (!mounts_read_only(brick_path(lab, on, path)))
		return 0;
	r = server_stop(lab, on, err);
	if (r == 0)
		r = disk_remount(lab, on, err);
	return r < 0 ? r : server_revive(lab, on, err);
}

extern const struct fault fault_err_remount;
const struct fault fault_err_remount = {
	.name = "err-remount",
	.summary = "the file system on its disk becomes read-only, as in an emergency",
	.diagnosis = "propagated-error|crash|server-hung|resource-exhausted",
	.fatal = true,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
