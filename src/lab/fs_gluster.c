/* GlusterFS without its management daemon: one glusterfsd per server, one FUSE client per client,
 * from volume files written here. Files are distributed by the hash of their names, in pieces of 4
 * MB.
 *
 * A client's O_DIRECT reaches the disk (filter-O_DIRECT off, and the mount itself does not cache).
 * storage/posix can open everything that way (o-direct on), but then a write that is not aligned
 * fails with EINVAL, so programs without O_DIRECT go through the servers' page cache.
 */
#include "lab/fs_gluster.h"

#include "base/cleanup.h"
#include "lab/daemon.h"
#include "lab/fs.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define PORT 24007
#define SERVER_VOLFILE "%s/fs.vol"
#define CLIENT_VOLFILE "client.vol"
/* What a server offers: the last volume before the protocol. */
#define TOP "threads"

/* Switch off everything that uses the disk without a request (a file written every 30 s as a health
 * check, counting free space), and everything that is written in addition to the data. */
static const char posix_options[] = "  option health-check-interval 0\n"
				    "  option janitor-sleep-duration 86400\n"
				    "  option reserve 0\n"
				    "  option gfid2path off\n";

void gluster_server_volfile(
	const struct lab *lab, const struct lab_node *server, struct strbuf *out)
{
	char brick[LAB_PATH_MAX];
	strbuf_printf(out,
		"volume posix\n"
		"  type storage/posix\n"
		"  option directory %s\n"
		"%s"
		"end-volume\n"
		"volume access\n"
		"  type features/access-control\n"
		"  subvolumes posix\n"
		"end-volume\n"
		"volume locks\n"
		"  type features/locks\n"
		"  subvolumes access\n"
		"end-volume\n"
		"volume " TOP "\n"
		"  type performance/io-threads\n"
		"  option thread-count 16\n"
		"  subvolumes locks\n"
		"end-volume\n",
		lab_path(lab, brick, "%s/brick", server->name), posix_options);
	strbuf_printf(out,
		"volume server\n"
		"  type protocol/server\n"
		"  option transport-type tcp\n"
		"  option transport.socket.bind-address %s\n"
		"  option transport.socket.listen-port %d\n"
		"  option auth.addr." TOP ".allow *\n"
		"  subvolumes " TOP "\n"
		"end-volume\n",
		server->address, PORT);
}

static void put_connection(const struct lab_node *server, struct strbuf *out)
{
	/* A long time-out: a paused server counts as slow, not as gone. */
	strbuf_printf(out,
		"volume %s\n"
		"  type protocol/client\n"
		"  option transport-type tcp\n"
		"  option remote-host %s\n"
		"  option remote-port %d\n"
		"  option remote-subvolume " TOP "\n"
		"  option ping-timeout 600\n"
		"  option filter-O_DIRECT off\n"
		"end-volume\n",
		server->name, server->address, PORT);
}

void gluster_client_volfile(const struct lab *lab, struct strbuf *out)
{
	for (unsigned i = 0; i < lab->config.n_servers; i++)
		put_connection(&lab->nodes[i], out);
	strbuf_puts(out,
		"volume distribute\n"
		"  type cluster/distribute\n"
		"  option lookup-unhashed off\n"
		"  subvolumes");
	for (unsigned i = 0; i < lab->config.n_servers; i++)
		strbuf_printf(out, " %s", lab->nodes[i].name);
	strbuf_puts(out,
		"\nend-volume\n"
		"volume shard\n"
		"  type features/shard\n"
		"  option shard-block-size 4MB\n"
		"  subvolumes distribute\n"
		"end-volume\n");
}

static int gluster_check(const struct lab_config *c, struct lp_err *err)
{
	if (!daemon_exists(c, "glusterfsd") || !daemon_exists(c, "glusterfs"))
		return *c->prefix
			? daemon_missing(c, "GlusterFS", err)
			: lp_err_set(err, -ENOENT,
				  "GlusterFS is not installed: no glusterfsd and glusterfs "
				  "(Debian's packages glusterfs-server and glusterfs-client)");
	return 0;
}

static int set_sync(const char *path, struct lp_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int flags = 0;
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return lp_err_sys(err, -errno, "%s", path);
	flags |= FS_SYNC_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0)
		return lp_err_sys(err, -errno, "%s", path);
	return 0;
}

static int make_dir(const char *path, mode_t mode, struct lp_err *err)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return lp_err_sys(err, -errno, "cannot make %s", path);
	return 0;
}

/* A server has a link to every file in .glusterfs/XX/YY. If they are in the page cache, these
 * directories are written all at once every half a minute, in hundreds of requests that are
 * unrelated to the state of the disk. So they are written synchronously. New subdirectories inherit
 * that. The server would create the first level itself, but not at a known time. */
static int make_links(const struct lab *lab, const struct lab_node *server, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int r = make_dir(lab_path(lab, path, "%s/brick/.glusterfs", server->name), 0600, err);
	for (unsigned i = 0; r == 0 && i < 256; i++) {
		lab_path(lab, path, "%s/brick/.glusterfs/%02x", server->name, i);
		r = make_dir(path, 0700, err);
		if (r == 0)
			r = set_sync(path, err);
	}
	return r;
}

static int gluster_prepare(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct strbuf text = {0};
	for (unsigned i = 0; i < lab->config.n_servers; i++) {
		const struct lab_node *server = &lab->nodes[i];
		gluster_server_volfile(lab, server, &text);
		int r = daemon_configure(
			lab_path(lab, path, SERVER_VOLFILE, server->name), &text, err);
		if (r == 0)
			r = make_links(lab, server, err);
		if (r < 0)
			return r;
	}
	gluster_client_volfile(lab, &text);
	return daemon_configure(lab_path(lab, path, CLIENT_VOLFILE), &text, err);
}

static int gluster_server_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char vol[LAB_PATH_MAX], log[LAB_PATH_MAX];
	const char *const argv[] = {"glusterfsd", "--no-daemon", "-f",
		lab_path(lab, vol, SERVER_VOLFILE, node->name), "-l",
		lab_path(lab, log, "log/%s-fs.log", node->name), "-L", "ERROR", NULL};
	int r = daemon_start(lab, node, argv, err);
	return r < 0 ? r : daemon_wait_listening(lab, node, PORT, err);
}

static int gluster_client_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char vol[LAB_PATH_MAX], log[LAB_PATH_MAX], mnt[LAB_PATH_MAX];
	const char *const argv[] = {"glusterfs", "--no-daemon", "-f",
		lab_path(lab, vol, CLIENT_VOLFILE), "-l",
		lab_path(lab, log, "log/%s-fs.log", node->name), "-L", "ERROR",
		"--direct-io-mode=enable", lab_path(lab, mnt, "%s/mnt", node->name), NULL};
	int r = daemon_start(lab, node, argv, err);
	if (r < 0)
		return r;
	r = daemon_wait_mounted(lab, node, err);
	return r < 0 ? r : daemon_wait_connected(lab, node, PORT, lab->config.n_servers, err);
}

static int gluster_client_rejoin(
	const struct lab *lab, const struct lab_node *node, unsigned n_servers, struct lp_err *err)
{
	return daemon_wait_connected(lab, node, PORT, n_servers, err);
}

const struct fs fs_gluster = {
	.name = "gluster",
	.summary = "GlusterFS: files in pieces of 4 MB, placed by hash; mounted by FUSE",
	.port = PORT,
	.check = gluster_check,
	.prepare = gluster_prepare,
	.server_start = gluster_server_start,
	.client_start = gluster_client_start,
	.client_rejoin = gluster_client_rejoin,
	.client_stop = daemon_unmount,
	.server_stop = daemon_stop,
};
