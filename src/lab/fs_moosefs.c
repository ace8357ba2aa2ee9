/* MooseFS: one chunk server per server, the master on the third party, clients by mfsmount. Files
 * are cut into chunks of 64 MB, each on one server (one copy).
 *
 * The master has the names of all files and no data. It has no peers, so it does not run on a
 * server. */
#include "lab/fs_moosefs.h"

#include "base/file.h"
#include "lab/daemon.h"
#include "lab/fs.h"
#include "lab/tool.h"
#include <errno.h>
#include <stdio.h>

#define PORT_SERVERS 9420 /* where chunk servers find the master */
#define PORT_CLIENTS 9421 /* where clients find it */
#define PORT 9422	  /* where chunk servers serve */

/* The node of the master. */
static const struct lab_node *moosefs_master(const struct lab *lab)
{
	return &lab->nodes[lab->n_nodes - 1];
}

/* The common part of all daemons. They run as root, like everything in a lab, and must neither
 * raise their priority nor avoid being killed if memory runs out. */
static void put_common(struct strbuf *out, const char *data)
{
	strbuf_printf(out,
		"WORKING_USER = root\nWORKING_GROUP = root\nNICE_LEVEL = 0\n"
		"DISABLE_OOM_KILLER = 0\nDATA_PATH = %s\n",
		data);
}

/* Removed chunks are deleted immediately, and nothing is copied between servers in the
 * background. */
void moosefs_master_config(const struct lab *lab, struct strbuf *out)
{
	char path[LAB_PATH_MAX];

	put_common(out, lab_path(lab, path, "moosefs"));
	strbuf_printf(out, "EXPORTS_FILENAME = %s\n", lab_path(lab, path, "moosefs/exports.cfg"));
	strbuf_printf(out, "TOPOLOGY_FILENAME = %s\n", lab_path(lab, path, "moosefs/topology.cfg"));
	strbuf_puts(out,
		"MATOCS_TIMEOUT = 60\nREPLICATIONS_DELAY_INIT = 3600\n"
		"CHUNKS_SOFT_DEL_LIMIT = 100\nCHUNKS_HARD_DEL_LIMIT = 200\n"
		"CHUNKS_WRITE_REP_LIMIT = 0,0,0,0\nCHUNKS_READ_REP_LIMIT = 0,0,0,0\n");
}

/* No tests of the disks in the background; data is synced when a chunk is closed, as on a
 * production cluster. */
void moosefs_server_config(const struct lab *lab, const struct lab_node *node, struct strbuf *out)
{
	char path[LAB_PATH_MAX];

	put_common(out, lab_path(lab, path, "%s/brick/state", node->name));
	strbuf_printf(out, "HDD_CONF_FILENAME = %s\n",
		lab_path(lab, path, "moosefs/%s-hdd.cfg", node->name));
	strbuf_printf(out,
		"MASTER_HOST = %s\nMASTER_RECONNECTION_DELAY = 1\nMASTER_TIMEOUT = 60\n"
		"CSSERV_LISTEN_HOST = %s\nHDD_LEAVE_SPACE_DEFAULT = 16MiB\n"
		"HDD_TEST_SPEED = 0\nHDD_SPARSIFY_ON_WRITE = 0\nHDD_FSYNC_BEFORE_CLOSE = "
		"1\nHDD_REBALANCE_UTILIZATION = 0\n",
		moosefs_master(lab)->address, node->address);
}

static int moosefs_check(const struct lab_config *c, struct lp_err *err)
{
	if (daemon_exists(c, "mfsmaster") && daemon_exists(c, "mfschunkserver") &&
		daemon_exists(c, "mfsmount"))
		return 0;
	return *c->prefix ? daemon_missing(c, "MooseFS", err)
			  : lp_err_set(err, -ENOENT,
				    "MooseFS is not installed: apt-get install moosefs-master "
				    "moosefs-chunkserver moosefs-client");
}

/* Write a file of the master's directory. */
static int put_file(const struct lab *lab, const char *name, const char *text, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct strbuf sb = {0};

	strbuf_puts(&sb, text);
	return daemon_configure(lab_path(lab, path, "moosefs/%s", name), &sb, err);
}

static int server_prepare(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX], text[LAB_PATH_MAX + 8], name[32];
	struct strbuf sb = {0};
	int r;

	moosefs_server_config(lab, node, &sb);
	r = daemon_configure(lab_path(lab, path, "moosefs/%s.cfg", node->name), &sb, err);
	if (r == 0)
		r = path_make_dirs(lab_path(lab, path, "%s/brick/state", node->name), err);
	if (r == 0)
		r = path_make_dirs(lab_path(lab, path, "%s/brick/data", node->name), err);
	snprintf(name, sizeof(name), "%s-hdd.cfg", node->name);
	snprintf(text, sizeof(text), "%s\n", lab_path(lab, path, "%s/brick/data", node->name));
	return r < 0 ? r : put_file(lab, name, text, err);
}

/* The master has to run before the others. */
static int master_start(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	const char *const argv[] = {
		"mfsmaster", "-f", "-c", lab_path(lab, path, "moosefs/master.cfg"), "start", NULL};
	int r = daemon_start(lab, moosefs_master(lab), argv, err);

	return r < 0 ? r : daemon_wait_listening(lab, moosefs_master(lab), PORT_CLIENTS, err);
}

/* Chunk servers read and write through the page cache, which has room for everything that the
 * clients of a lab write: without this, no disk would be read twice. */
static int forget_start(const struct lab *lab, struct lp_err *err)
{
	const struct lab_node *node = moosefs_master(lab);
	char log[LAB_PATH_MAX], pid_file[LAB_PATH_MAX], self[PATH_MAX];
	char dirs[LAB_NODES_MAX][LAB_PATH_MAX];
	const char *argv[LAB_NODES_MAX + 4] = {self, "lab", "forget"};
	const struct spawn s = {
		.netns = node->netns,
		.log = lab_path(lab, log, "log/%s-forget.log", node->name),
		.pid_file = lab_path(lab, pid_file, "run/%s-forget.pid", node->name),
		.argv = argv,
	};
	int r = tool_self(self, sizeof(self), err);

	for (unsigned i = 0; i < lab->config.n_servers; i++)
		argv[3 + i] = lab_path(lab, dirs[i], "%s/brick/data", lab->nodes[i].name);
	return r < 0 ? r : tool_spawn(&s, NULL, err);
}

static int moosefs_prepare(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct strbuf sb = {0};
	int r = path_make_dirs(lab_path(lab, path, "moosefs"), err);

	moosefs_master_config(lab, &sb);
	if (r == 0)
		r = daemon_configure(lab_path(lab, path, "moosefs/master.cfg"), &sb, err);
	if (r == 0)
		r = put_file(lab, "exports.cfg", "* / rw,alldirs,admin,maproot=0:0\n* . rw\n", err);
	if (r == 0)
		r = put_file(lab, "topology.cfg", "", err);
	if (r == 0)
		r = put_file(lab, "metadata.mfs", "MFSM NEW", err);
	for (unsigned i = 0; r == 0 && i < lab->config.n_servers; i++)
		r = server_prepare(lab, &lab->nodes[i], err);
	strbuf_release(&sb);
	if (r == 0)
		r = master_start(lab, err);
	return r < 0 ? r : forget_start(lab, err);
}

static int moosefs_server_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	const char *const argv[] = {"mfschunkserver", "-f", "-c",
		lab_path(lab, path, "moosefs/%s.cfg", node->name), "start", NULL};
	int r = daemon_start(lab, node, argv, err);

	if (r == 0)
		r = daemon_wait_listening(lab, node, PORT, err);
	/* Its space is not available until the master knows it. */
	return r < 0 ? r : daemon_wait_connected(lab, node, PORT_SERVERS, 1, err);
}

static int moosefs_client_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char mnt[LAB_PATH_MAX], program[PATH_MAX];
	const char *const argv[] = {"mfsmount", lab_path(lab, mnt, "%s/mnt", node->name), "-f",
		"-H", moosefs_master(lab)->address, "-o", "mfscachemode=NEVER,mfsioretries=60",
		NULL};
	int r = daemon_start(lab, node, argv, err);

	if (r == 0)
		r = daemon_wait_mounted(lab, node, err);
	/* One copy of everything, as on the other file systems; removed files free their space. */
	daemon_program(&lab->config, "mfssetgoal", program);
	if (r == 0)
		r = tool_run_in(node->netns, err, "%s -r 1 %s", program, mnt);
	daemon_program(&lab->config, "mfssettrashtime", program);
	return r < 0 ? r : tool_run_in(node->netns, err, "%s -r 0 %s", program, mnt);
}

const struct fs fs_moosefs = {
	.name = "moosefs",
	.summary = "MooseFS: chunks of 64 MB, each on one server (Debian's moosefs-*)",
	.port = PORT,
	.check = moosefs_check,
	.prepare = moosefs_prepare,
	.server_start = moosefs_server_start,
	.client_start = moosefs_client_start,
	.client_stop = daemon_unmount,
	.server_stop = daemon_stop,
};
