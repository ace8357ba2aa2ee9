#include "lab/down.h"

#include "base/cleanup.h"
#include "lab/cgroup.h"
#include "lab/disk.h"
#include "lab/lock.h"
#include "lab/mounts.h"
#include "lab/net.h"
#include "lab/process.h"
#include "lab/tool.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define TERM_WAIT_MS 500

/* Removal continues after a failure; the first one is reported at the end. */
struct outcome {
	int r;
	struct lp_err err;
};

static void note(struct outcome *o, int r, const struct lp_err *err)
{
	if (r >= 0 || o->r < 0)
		return;
	o->r = r;
	o->err = *err;
}

/* What is known about a lab without a valid lab.json: directories of servers. */
static void guess(const char *name, struct lab *lab)
{
	char root[LAB_DIR_MAX];
	_cleanup_closedir_ DIR *dir = NULL;

	memset(lab, 0, sizeof(*lab));
	if (lab_root(root, NULL) < 0)
		return;
	lab_config_init(&lab->config);
	snprintf(lab->config.name, sizeof(lab->config.name), "%s", name);
	snprintf(lab->dir, sizeof(lab->dir), "%.*s/%.*s", LAB_DIR_MAX - LAB_NAME_MAX - 2, root,
		LAB_NAME_MAX - 1, name);
	dir = opendir(lab->dir);
	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		if (e->d_name[0] == 's' && isdigit((unsigned char)e->d_name[1]))
			lab_add_node(lab, LAB_SERVER, (unsigned)strtoul(e->d_name + 1, NULL, 10));
	}
}

/* The programs of disks end last: the file systems on them must be unmounted first. */
static int kill_all_but_disk(const char *netns, bool own, void *ctx, struct lp_err *err)
{
	const struct lab *lab = ctx;
	char path[LAB_PATH_MAX], pid_file[LAB_PATH_MAX];

	if (!own)
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	lab_path(lab, pid_file, "run/%s-disk.pid", strrchr(netns, '-') + 1);
	return process_kill_in(path, tool_pid(pid_file), err);
}

static int kill_all(const char *netns, bool own, void *ctx, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	(void)ctx;
	if (!own)
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	return process_kill_in(path, 0, err);
}

/* Processes with a pid file that are not in a namespace, except the disks' programs. */
static void kill_by_files(const struct lab *lab, struct outcome *o)
{
	char path[LAB_PATH_MAX];
	_cleanup_closedir_ DIR *dir = opendir(lab_path(lab, path, "run"));

	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		const char *end = strrchr(e->d_name, '.');
		struct lp_err err = {0};

		if (!end || strcmp(end, ".pid") != 0 || strstr(e->d_name, "-disk.pid"))
			continue;
		lab_path(lab, path, "run/%.100s", e->d_name);
		note(o, tool_kill(path, SIGKILL, TERM_WAIT_MS, &err), &err);
	}
}

/* Mounts of clients are detached without waiting: their servers may be gone. */
static void unmount_clients(const struct lab *lab, struct outcome *o)
{
	char path[LAB_PATH_MAX];
	_cleanup_closedir_ DIR *dir = opendir(lab->dir);

	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		struct lp_err err = {0};

		if (e->d_name[0] == 'c' && isdigit((unsigned char)e->d_name[1]))
			note(o, mounts_remove(lab_path(lab, path, "%.100s", e->d_name), &err),
				&err);
	}
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* Does not enter mounts. */
static int remove_tree(const char *dir, struct lp_err *err)
{
	int r = nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_MOUNT | FTW_PHYS);

	if (r < 0 && access(dir, F_OK) == 0)
		return lp_err_sys(err, r == -1 ? -errno : r, "cannot remove %s", dir);
	return 0;
}

static bool stop_disks(const struct lab *lab, struct outcome *o)
{
	bool all = true;

	for (unsigned i = 0; i < lab->n_nodes; i++) {
		struct lp_err err = {0};
		int r = 0;

		if (lab->nodes[i].role == LAB_SERVER)
			r = disk_down(lab, &lab->nodes[i], &err);
		note(o, r, &err);
		all = all && r == 0;
	}
	return all;
}

int down_locked(const char *name, struct lp_err *err)
{
	struct outcome o = {0};
	struct lp_err one = {0};
	struct lab lab;
	bool disks_gone;

	guess(name, &lab);
	note(&o, net_each(name, kill_all_but_disk, &lab, &one), &one);
	kill_by_files(&lab, &o);
	unmount_clients(&lab, &o);
	disks_gone = stop_disks(&lab, &o);
	note(&o, net_each(name, kill_all, NULL, &one), &one);
	note(&o, cgroup_down(name, &one), &one);
	note(&o, net_down(name, &one), &one);
	/* The mount of its file shows that a device belongs to the lab. */
	if (disks_gone)
		note(&o, mounts_remove(lab.dir, &one), &one);
	/* If something is left, keep the notes, so that this can be tried again. */
	if (o.r == 0)
		note(&o, remove_tree(lab.dir, &one), &one);
	if (o.r < 0 && err)
		*err = o.err;
	return o.r;
}

int lab_down(const char *name, struct lp_err *err)
{
	struct lab_lock lock;
	int r = lab_name_check(name, err);

	if (r == 0 && geteuid() != 0)
		r = lp_err_set(err, -EPERM, "removing a lab needs root");
	if (r == 0)
		r = lock_take(name, &lock, err);
	if (r < 0)
		return r;
	r = down_locked(name, err);
	lock_release(&lock, r == 0);
	return r;
}

static int find_foreign(const char *netns, bool own, void *ctx, struct lp_err *err)
{
	(void)err;
	if (!own)
		snprintf(ctx, LAB_PATH_MAX, "network namespace %s", netns);
	return 0;
}

void lab_foreign(const char *name, char *buf, unsigned size)
{
	char what[LAB_PATH_MAX] = "", cgroup[LAB_PATH_MAX] = "";

	*buf = '\0';
	net_each(name, find_foreign, what, NULL);
	cgroup_foreign(name, cgroup, sizeof(cgroup));
	if (!*what && *cgroup)
		snprintf(what, sizeof(what), "control group %.200s", cgroup);
	if (*what)
		snprintf(buf, size, "the %s may not belong to this lab and is left alone", what);
}
