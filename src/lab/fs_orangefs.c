/* OrangeFS, the PVFS of the papers: one pvfs2-server per server, for data and metadata, clients by
 * pvfs2fuse. Files are striped over all servers, 64 kB each in turn.
 *
 * The configuration is like that of pvfs2-genconfig, but data bypasses the page cache (TroveMethod
 * directio), as in the papers, 256 kB at a time: with the 4 MB of the papers a server would spend
 * most of its CPU time on zeroing buffers. Storage without direct I/O needs TroveMethod alt-aio,
 * which uses the cache. */
#include "lab/fs_orangefs.h"

#include "lab/daemon.h"
#include "lab/fs.h"
#include "lab/tool.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define PORT 3334
#define CONFIG "orangefs.conf"
#define NAME "limpet"

/* The handles of all servers, first those of metadata, then those of data. */
#define HANDLE_FIRST UINT64_C(3)
#define HANDLE_LAST UINT64_C(9223372036854775806)
#define HANDLE_ROOT 1048576

/* Long time-outs: a paused server counts as slow, not as gone. When the first server starts, it
 * requests the parts of the root directory from all others, which may start a little later. It must
 * not give up, because then it would sleep for 30 s. */
static const char defaults[] = "<Defaults>\n"
			       "\tUnexpectedRequests 50\n"
			       "\tEventLogging none\n"
			       "\tEnableTracing no\n"
			       "\tLogStamp datetime\n"
			       "\tBMIModules bmi_tcp\n"
			       "\tFlowModules flowproto_multiqueue\n"
			       "\tPerfUpdateInterval 1000\n"
			       "\tServerJobBMITimeoutSecs 600\n"
			       "\tServerJobFlowTimeoutSecs 600\n"
			       "\tClientJobBMITimeoutSecs 600\n"
			       "\tClientJobFlowTimeoutSecs 600\n"
			       "\tClientRetryLimit 60\n"
			       "\tClientRetryDelayMilliSecs 500\n"
			       "\tPrecreateBatchSize 0,32,512,32,32,32,0\n"
			       "\tPrecreateLowThreshold 0,16,256,16,16,16,0\n"
			       "\t<Security>\n"
			       "\t\tTurnOffTimeouts yes\n"
			       "\t</Security>\n"
			       "</Defaults>\n";

static void put_aliases(const struct lab *lab, struct strbuf *out)
{
	strbuf_puts(out, "<Aliases>\n");
	for (unsigned i = 0; i < lab->config.n_servers; i++)
		strbuf_printf(out, "\tAlias %s tcp://%s:%d\n", lab->nodes[i].name,
			lab->nodes[i].address, PORT);
	strbuf_puts(out, "</Aliases>\n");
}

/* An equal range for each server, beginning with the `first`-th of 2 * N. */
static void put_ranges(const struct lab *lab, const char *kind, unsigned first, struct strbuf *out)
{
	uint64_t n = lab->config.n_servers;
	uint64_t step = (HANDLE_LAST - HANDLE_FIRST + 1) / (2 * n);
	strbuf_printf(out, "\t<%sHandleRanges>\n", kind);
	for (unsigned i = 0; i < n; i++) {
		uint64_t begin = HANDLE_FIRST + (first + i) * step;
		strbuf_printf(out, "\t\tRange %s %" PRIu64 "-%" PRIu64 "\n", lab->nodes[i].name,
			begin, begin + step - 1);
	}
	strbuf_printf(out, "\t</%sHandleRanges>\n", kind);
}

static void put_file_system(const struct lab *lab, struct strbuf *out)
{
	unsigned n = lab->config.n_servers;
	strbuf_printf(out,
		"<FileSystem>\n"
		"\tName " NAME "\n"
		"\tID 353983656\n"
		"\tRootHandle %d\n"
		"\tFileStuffing yes\n"
		"\tDistrDirServersInitial %u\n"
		"\tDistrDirServersMax %u\n"
		"\tDistrDirSplitSize 100\n",
		HANDLE_ROOT, n, n);
	put_ranges(lab, "Meta", 0, out);
	put_ranges(lab, "Data", n, out);
	strbuf_puts(out,
		"\t<StorageHints>\n"
		"\t\tTroveSyncMeta yes\n"
		"\t\tTroveSyncData no\n"
		"\t\tTroveMethod directio\n"
		"\t</StorageHints>\n"
		"\tFlowBufferSizeBytes 262144\n"
		"</FileSystem>\n");
}

static void put_server(const struct lab *lab, const struct lab_node *server, struct strbuf *out)
{
	char data[LAB_PATH_MAX], meta[LAB_PATH_MAX], log[LAB_PATH_MAX];
	strbuf_printf(out,
		"<ServerOptions>\n"
		"\tServer %s\n"
		"\tDataStorageSpace %s\n"
		"\tMetadataStorageSpace %s\n"
		"\tLogFile %s\n"
		"</ServerOptions>\n",
		server->name, lab_path(lab, data, "%s/brick/data", server->name),
		lab_path(lab, meta, "%s/brick/meta", server->name),
		lab_path(lab, log, "log/%s-fs.log", server->name));
}

void orangefs_config(const struct lab *lab, struct strbuf *out)
{
	strbuf_puts(out, defaults);
	put_aliases(lab, out);
	put_file_system(lab, out);
	for (unsigned i = 0; i < lab->config.n_servers; i++)
		put_server(lab, &lab->nodes[i], out);
}

static int orangefs_check(const struct lab_config *c, struct lp_err *err)
{
	if (!daemon_exists(c, "pvfs2-server") || !daemon_exists(c, "pvfs2fuse"))
		return *c->prefix
			? daemon_missing(c, "OrangeFS", err)
			: lp_err_set(err, -ENOENT,
				  "OrangeFS is not installed: no pvfs2-server and pvfs2fuse "
				  "(build it from https://github.com/waltligon/orangefs with "
				  "--enable-fuse; Debian has no package of its servers)");
	return 0;
}

static int orangefs_prepare(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX], program[PATH_MAX];
	struct strbuf text = {0};
	daemon_program(&lab->config, "pvfs2-server", program);
	orangefs_config(lab, &text);
	int r = daemon_configure(lab_path(lab, path, CONFIG), &text, err);
	for (unsigned i = 0; r == 0 && i < lab->config.n_servers; i++) {
		const struct lab_node *server = &lab->nodes[i];
		r = tool_run_in(server->netns, err, "%s -f -a %s %s", program, server->name, path);
	}
	return r;
}

static int orangefs_server_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	const char *const argv[] = {
		"pvfs2-server", "-d", "-a", node->name, lab_path(lab, path, CONFIG), NULL};
	int r = daemon_start(lab, node, argv, err);
	return r < 0 ? r : daemon_wait_listening(lab, node, PORT, err);
}

static int orangefs_client_start(
	const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char mnt[LAB_PATH_MAX], spec[96];
	const char *const argv[] = {
		"pvfs2fuse", lab_path(lab, mnt, "%s/mnt", node->name), "-o", spec, "-f", NULL};
	snprintf(spec, sizeof(spec), "fs_spec=tcp://%s:%d/" NAME, lab->nodes[0].address, PORT);
	int r = daemon_start(lab, node, argv, err);
	if (r == 0)
		r = daemon_wait_mounted(lab, node, err);
	/* Nothing can be created in the root directory until it is complete; this comes last. */
	return r < 0 ? r : daemon_wait_file(lab, node, "lost+found", err);
}

const struct fs fs_orangefs = {
	.name = "orangefs",
	.summary = "OrangeFS (PVFS): files striped over all servers; built from source",
	.port = PORT,
	.check = orangefs_check,
	.prepare = orangefs_prepare,
	.server_start = orangefs_server_start,
	.client_start = orangefs_client_start,
	.client_stop = daemon_unmount,
	.server_stop = daemon_stop,
};
