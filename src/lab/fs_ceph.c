/* Ceph: one OSD per server, monitor and metadata server on the third party, clients by ceph-fuse.
 *
 * Monitor and metadata server have no data and no peers, so they do not run on the servers. Files
 * are cut into objects of 4 MB, each on one OSD (one copy), as on the other file systems of the
 * lab. */
#include "lab/fs_ceph.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/daemon.h"
#include "lab/fs.h"
#include "lab/tool.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORT_MONITOR 3300
#define PORT 6800 /* the first port of an OSD */
#define CONFIG "ceph/ceph.conf"
#define METADATA_TRIES 120 /* half a second each, plus the time of the request */

static const struct lab_node *ceph_beside(const struct lab *lab)
{
	return &lab->nodes[lab->n_nodes - 1];
}

/* No keys, one copy, no background moves or checks of data, and little memory: caches would hide
 * the disks. A paused server counts as slow, not as gone. */
void ceph_config(const struct lab *lab, const char *fsid, struct strbuf *out)
{
	char path[LAB_PATH_MAX];

	strbuf_printf(out,
		"[global]\nfsid = %s\nmon_host = v2:%s:%d\n"
		"auth_cluster_required = none\nauth_service_required = none\n"
		"auth_client_required = none\nauth_allow_insecure_global_id_reclaim = true\n"
		"osd_pool_default_size = 1\nosd_pool_default_min_size = 1\n"
		"mon_allow_pool_size_one = true\nosd_pool_default_pg_autoscale_mode = off\n"
		"osd_crush_chooseleaf_type = 0\nosd_scrub_begin_hour = 0\nosd_scrub_end_hour = 0\n"
		"osd_scrub_min_interval = 864000\nosd_deep_scrub_interval = 8640000\n"
		"mon_osd_down_out_interval = 0\nosd_heartbeat_grace = 600\n"
		"mon_osd_report_timeout = 900\nms_bind_msgr1 = false\n",
		fsid, ceph_beside(lab)->address, PORT_MONITOR);
	strbuf_printf(out,
		"osd_objectstore = bluestore\nbluestore_block_size = %" PRIu64 "\n"
		"bluestore_cache_size = 16777216\nosd_memory_target = 939524096\n"
		"client_oc = false\nfuse_default_permissions = false\n",
		lab->config.disk_bytes / 4 * 3);
	strbuf_printf(out, "mon_data = %s\n", lab_path(lab, path, "ceph/mon"));
	strbuf_printf(out, "mds_data = %s\n", lab_path(lab, path, "ceph/mds"));
	strbuf_printf(out, "run_dir = %s\n", lab_path(lab, path, "ceph"));
	strbuf_printf(out, "admin_socket = %s/$name.asok\n", lab_path(lab, path, "ceph"));
	strbuf_printf(out, "log_file = %s/$name.log\n", lab_path(lab, path, "log"));
	for (unsigned i = 0; i < lab->config.n_servers; i++) {
		const struct lab_node *node = &lab->nodes[i];

		strbuf_printf(out, "[osd.%u]\nosd_data = %s\npublic_addr = %s\n", i,
			lab_path(lab, path, "%s/brick/osd", node->name), node->address);
	}
	strbuf_printf(out, "[mon.a]\npublic_addr = %s\n[mds.a]\npublic_addr = %s\n",
		ceph_beside(lab)->address, ceph_beside(lab)->address);
}

static int ceph_check(const struct lab_config *c, struct lp_err *err)
{
	static const char *const programs[] = {
		"ceph-mon", "ceph-osd", "ceph-mds", "ceph-fuse", "ceph", "monmaptool", NULL};

	for (const char *const *p = programs; *p; p++) {
		if (!daemon_exists(c, *p))
			return *c->prefix
				? daemon_missing(c, "Ceph", err)
				: lp_err_set(err, -ENOENT,
					  "Ceph is not installed (no %s): apt-get install "
					  "ceph-mon ceph-osd ceph-mds ceph-fuse",
					  *p);
	}
	return 0;
}

/* A UUID from the kernel. */
static int make_uuid(char ret[40], struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r = file_slurp("/proc/sys/kernel/random/uuid", 64, &text, &size, err);

	if (r == 0)
		snprintf(ret, 40, "%.*s", (int)strcspn(text, "\n"), text);
	return r;
}

/* Send a request to the monitor, which may not be ready at first. */
#define ASK "timeout 60 ceph --conf %s "

static int osd_prepare(const struct lab *lab, unsigned i, struct lp_err *err)
{
	const struct lab_node *node = &lab->nodes[i];
	char conf[LAB_PATH_MAX], path[LAB_PATH_MAX], uuid[40];
	int r = make_uuid(uuid, err);

	lab_path(lab, conf, CONFIG);
	if (r == 0)
		r = path_make_dirs(lab_path(lab, path, "%s/brick/osd", node->name), err);
	if (r == 0)
		r = tool_run_in(ceph_beside(lab)->netns, err, ASK "osd new %s %u", conf, uuid, i);
	if (r == 0)
		r = tool_run_in(ceph_beside(lab)->netns, err,
			ASK "osd crush add osd.%u 1 host=%s root=default", conf, i, node->name);
	if (r == 0)
		r = tool_run_in(node->netns, err, "ceph-osd --conf %s -i %u --mkfs --osd-uuid %s",
			conf, i, uuid);
	return r;
}

static int monitor_start(const struct lab *lab, const char *fsid, struct lp_err *err)
{
	const struct lab_node *beside = ceph_beside(lab);
	char conf[LAB_PATH_MAX], map[LAB_PATH_MAX], path[LAB_PATH_MAX];
	const char *const argv[] = {"ceph-mon", "-f", "-i", "a", "--conf", conf, NULL};
	int r;

	lab_path(lab, conf, CONFIG);
	lab_path(lab, map, "ceph/monmap");
	r = path_make_dirs(lab_path(lab, path, "ceph/mds"), err);
	if (r == 0)
		r = tool_run(err, "monmaptool --create --fsid %s --addv a [v2:%s:%d] %s", fsid,
			beside->address, PORT_MONITOR, map);
	if (r == 0)
		r = tool_run_in(beside->netns, err, "ceph-mon --conf %s --mkfs -i a --monmap %s",
			conf, map);
	if (r == 0)
		r = daemon_start(lab, beside, argv, err);
	return r < 0 ? r : daemon_wait_listening(lab, beside, PORT_MONITOR, err);
}

/* The metadata server itself waits for OSDs. */
static int metadata_start(const struct lab *lab, struct lp_err *err)
{
	char conf[LAB_PATH_MAX], log[LAB_PATH_MAX], pid[LAB_PATH_MAX];
	const char *const argv[] = {
		"ceph-mds", "-f", "-i", "a", "--conf", lab_path(lab, conf, CONFIG), NULL};
	const struct spawn spawn = {.netns = ceph_beside(lab)->netns,
		.log = lab_path(lab, log, "log/%s-mds.log", ceph_beside(lab)->name),
		.pid_file = lab_path(lab, pid, "run/%s-mds.pid", ceph_beside(lab)->name),
		.argv = argv};
	pid_t child;

	return tool_spawn(&spawn, &child, err);
}

static int pools_make(const struct lab *lab, struct lp_err *err)
{
	const char *netns = ceph_beside(lab)->netns;
	char conf[LAB_PATH_MAX];
	int r;

	lab_path(lab, conf, CONFIG);
	r = tool_run_in(netns, err, ASK "osd pool create meta 8", conf);
	if (r == 0)
		r = tool_run_in(netns, err, ASK "osd pool create data 64", conf);
	return r < 0 ? r : tool_run_in(netns, err, ASK "fs new limpet meta data", conf);
}

static int ceph_prepare(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX], fsid[40];
	struct strbuf sb = {0};
	int r = make_uuid(fsid, err);

	if (r == 0)
		r = path_make_dirs(lab_path(lab, path, "ceph/mon"), err);
	if (r < 0)
		return r;
	ceph_config(lab, fsid, &sb);
	r = daemon_configure(lab_path(lab, path, CONFIG), &sb, err);
	if (r == 0)
		r = monitor_start(lab, fsid, err);
	for (unsigned i = 0; r == 0 && i < lab->config.n_servers; i++)
		r = osd_prepare(lab, i, err);
	if (r == 0)
		r = pools_make(lab, err);
	return r < 0 ? r : metadata_start(lab, err);
}

static int ceph_server_start(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char conf[LAB_PATH_MAX], number[16];
	const char *const argv[] = {
		"ceph-osd", "-f", "-i", number, "--conf", lab_path(lab, conf, CONFIG), NULL};
	int r;

	snprintf(number, sizeof(number), "%d", (int)(node - lab->nodes));
	r = daemon_start(lab, node, argv, err);
	return r < 0 ? r : daemon_wait_listening(lab, node, PORT, err);
}

/* Wait until a metadata server answers, because clients fail immediately without one. */
static int metadata_wait(const struct lab *lab, struct lp_err *err)
{
	char conf[LAB_PATH_MAX];

	lab_path(lab, conf, CONFIG);
	for (int i = 0; i < METADATA_TRIES; i++) {
		_cleanup_free_ char *text = NULL;
		int r = tool_output(&text, err, "ip netns exec %s " ASK "mds stat",
			ceph_beside(lab)->netns, conf);

		if (r < 0)
			return r;
		if (strstr(text, "up:active"))
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = 500000000L}, NULL);
	}
	return lp_err_set(err, -ETIMEDOUT, "the metadata server of Ceph did not become active");
}

static int ceph_client_start(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char conf[LAB_PATH_MAX], mnt[LAB_PATH_MAX];
	const char *const argv[] = {"ceph-fuse", "-f", "--conf", lab_path(lab, conf, CONFIG),
		"--id", node->name, lab_path(lab, mnt, "%s/mnt", node->name), NULL};
	int r = metadata_wait(lab, err);

	if (r == 0)
		r = daemon_start(lab, node, argv, err);
	return r < 0 ? r : daemon_wait_mounted(lab, node, err);
}

const struct fs fs_ceph = {
	.name = "ceph",
	.summary = "CephFS: objects of 4 MB, each on one OSD (Debian's ceph-*)",
	.port = PORT,
	.check = ceph_check,
	.prepare = ceph_prepare,
	.server_start = ceph_server_start,
	.client_start = ceph_client_start,
	.client_stop = daemon_unmount,
	.server_stop = daemon_stop,
};
