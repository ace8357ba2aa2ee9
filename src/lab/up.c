/* Building a lab. */
#include "base/cleanup.h"
#include "base/file.h"
#include "lab/cgroup.h"
#include "lab/disk.h"
#include "lab/down.h"
#include "lab/fs.h"
#include "lab/lab_state.h"
#include "lab/lock.h"
#include "lab/net.h"
#include "lab/parallel.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* In addition to the contents of the disks. */
#define MEM_SPARE_BYTES (UINT64_C(16) << 20)

struct up {
	struct lab *lab;
	const struct fs *fs;
	lab_tell *tell;
	void *ctx;
};

/* Signals that end a program are blocked while a lab is being built, and checked between steps: the
 * lab is removed before they are delivered. */
static const int held[] = {SIGINT, SIGTERM, SIGHUP};

static bool interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		if (sigismember(&pending, held[i]) == 1)
			return true;
	}
	return false;
}

static void hold_signals(sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigaddset(&set, held[i]);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
}

static void tell(const struct up *u, const char *what, double done)
{
	if (u->tell)
		u->tell(u->ctx, what, done);
}

static int make_dir(const struct lab *lab, const char *what, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	if (mkdir(lab_path(lab, path, "%s", what), 0755) < 0)
		return lp_err_sys(err, -errno, "%s", path);
	return 0;
}

static int make_node_dirs(const struct lab *lab, const struct lab_node *n, struct lp_err *err)
{
	char path[32];
	int r = make_dir(lab, n->name, err);

	snprintf(path, sizeof(path), "%s/%s", n->name, n->role == LAB_CLIENT ? "mnt" : "brick");
	if (r == 0 && n->role != LAB_OTHER)
		r = make_dir(lab, path, err);
	return r;
}

static int mount_mem(const struct lab *lab, struct lp_err *err)
{
	const struct lab_config *c = &lab->config;
	uint64_t bytes = c->n_servers * (c->disk_bytes + c->hog_bytes) + MEM_SPARE_BYTES;
	char path[LAB_PATH_MAX], options[64], source[LAB_NAME_MAX + 8];

	snprintf(source, sizeof(source), "limpet-%s", c->name);
	snprintf(options, sizeof(options), "mode=0700,size=%llu", (unsigned long long)bytes);
	lab_path(lab, path, "mem");
	if (mount(source, path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return lp_err_sys(err, -errno, "cannot mount a tmpfs on %s", path);
	return 0;
}

/* Create the directory, which means that the lab exists, and lab.json with its configuration. */
static int make_place(struct up *u, struct lp_err *err)
{
	static const char *const dirs[] = {"log", "run", "mem"};
	struct lab *lab = u->lab;
	int r;

	if (mkdir(lab->dir, 0755) < 0)
		return errno == EEXIST
			? lp_err_set(err, -EEXIST,
				  "there is a lab '%s' already ('limpet lab down --name %s' "
				  "removes it)",
				  lab->config.name, lab->config.name)
			: lp_err_sys(err, -errno, "%s", lab->dir);
	r = lab_state_save(lab, err);
	for (unsigned i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && r == 0; i++)
		r = make_dir(lab, dirs[i], err);
	for (unsigned i = 0; i < lab->n_nodes && r == 0; i++)
		r = make_node_dirs(lab, &lab->nodes[i], err);
	return r < 0 ? r : mount_mem(lab, err);
}

static int make_net(struct up *u, struct lp_err *err)
{
	return net_up(u->lab, err);
}

static int make_cgroups(struct up *u, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; i < u->lab->n_nodes && r == 0; i++) {
		if (u->lab->nodes[i].role == LAB_SERVER)
			r = cgroup_up(u->lab, &u->lab->nodes[i], err);
	}
	return r;
}

/* A step for one node, and its name. */
struct node_step {
	const struct up *up;
	const char *what;
	double from, to;
};

static bool node_done(void *ctx, const struct lab_node *node, unsigned n_done, unsigned n)
{
	const struct node_step *s = ctx;
	char what[64];

	snprintf(what, sizeof(what), "%s %s", s->what, node->name);
	tell(s->up, what, s->from + (s->to - s->from) * n_done / n);
	return !interrupted();
}

static int one_disk(struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	return disk_up(lab, node, err);
}

static int make_disks(struct up *u, struct lp_err *err)
{
	struct node_step s = {u, "disk of", 0.2, 0.7};
	int r = parallel_nodes(u->lab, LAB_SERVER, one_disk, node_done, &s, err);

	return r < 0 ? r : lab_state_save(u->lab, err); /* includes the loop devices */
}

static int prepare_fs(struct up *u, struct lp_err *err)
{
	return u->fs->prepare(u->lab, err);
}

static int one_server(struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	return fs_find(lab->config.fs)->server_start(lab, node, err);
}

static int start_servers(struct up *u, struct lp_err *err)
{
	struct node_step s = {u, "server", 0.7, 0.85};

	return parallel_nodes(u->lab, LAB_SERVER, one_server, node_done, &s, err);
}

static int one_client(struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	return fs_find(lab->config.fs)->client_start(lab, node, err);
}

static int start_clients(struct up *u, struct lp_err *err)
{
	struct node_step s = {u, "client", 0.85, 1};

	return parallel_nodes(u->lab, LAB_CLIENT, one_client, node_done, &s, err);
}

static int finish(struct up *u, struct lp_err *err)
{
	int r;

	u->lab->complete = true;
	r = lab_state_save(u->lab, err);
	if (r < 0)
		u->lab->complete = false;
	return r;
}

static const struct {
	const char *what;
	double from;
	int (*fn)(struct up *u, struct lp_err *err);
} steps[] = {
	{"network", 0.02, make_net},
	{"control groups", 0.2, make_cgroups},
	{"disks", 0.2, make_disks},
	{"file system", 0.7, prepare_fs},
	{"servers", 0.7, start_servers},
	{"clients", 0.85, start_clients},
	{"state", 1, finish},
};

static int build(struct up *u, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]) && r == 0; i++) {
		tell(u, steps[i].what, steps[i].from);
		r = steps[i].fn(u, err);
		if (r == 0 && interrupted())
			r = lp_err_set(err, -EINTR, "interrupted");
		if (r < 0 && r != -EINTR)
			lp_err_prefix(err, "lab '%s', %s", u->lab->config.name, steps[i].what);
	}
	return r;
}

static int up_locked(struct up *u, bool *ret_gone, struct lp_err *err)
{
	struct lp_err down_err = {0};
	int r = make_place(u, err);

	*ret_gone = false;
	if (r == -EEXIST)
		return r; /* a lab that must not be removed */
	if (r == 0)
		r = build(u, err);
	if (r == 0)
		return 0;
	if (down_locked(u->lab->config.name, &down_err) < 0)
		return lp_err_set(err, r, "%.240s; and removing it: %.200s", err ? err->text : "",
			down_err.text);
	*ret_gone = true;
	return r;
}

int lab_up(struct lab *lab, lab_tell *tell_fn, void *ctx, struct lp_err *err)
{
	struct up u = {lab, fs_find(lab->config.fs), tell_fn, ctx};
	struct lab_lock lock;
	sigset_t before;
	bool gone;
	int r = lab_check(&lab->config, err);

	if (r == 0)
		r = lock_take(lab->config.name, &lock, err);
	if (r < 0)
		return r;
	hold_signals(&before);
	r = up_locked(&u, &gone, err);
	lock_release(&lock, gone);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
