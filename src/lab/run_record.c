/* Recordings of experiments: `limpet record` in every namespace. */
#include "lab/run_state.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "collect/collector.h"
#include "lab/tool.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limpet/archive.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STOP_WAIT_MS 20000
#define ARGS_MAX 32
#define SAMPLES_SHARE_MIN 0.8
/* For samples of functions: a server has a fraction of a CPU, so the usual 199 per second are too
 * few. */
#define FREQUENCY "997"

/* The collectors of a server. */
static void server_collects(
	const struct lab_node *node, enum plan_functions functions, char *buf, size_t size)
{
	static const char *const instruments[] = {[PLAN_FUNCTIONS_NONE] = "",
		[PLAN_SAMPLES] = ",profile",
		[PLAN_CALLS] = ",calls,kernel",
		[PLAN_SAMPLES_AND_CALLS] = ",profile,calls,kernel"};
	bool cgroup = *node->cgroup && collector_find("cgroup");

	snprintf(buf, size, "diskstats,netdev,tcp%s%s", cgroup ? ",cgroup" : "",
		instruments[functions]);
}

static int record_one(const struct plan_run *run, const struct lab_node *node,
	enum plan_functions functions, const char *dir, struct lp_err *err)
{
	char collect[64], ports[8], disk[32], log[LAB_PATH_MAX], pid_file[LAB_PATH_MAX];
	const char *argv[ARGS_MAX] = {run->limpet, "record", "-q", "-o", dir, "-n", node->name,
		"--interval", "1s", "--nets", "eth0", "--ports", ports, "--collect"};
	unsigned n = 14;
	struct spawn s = {.netns = node->netns,
		.log = lab_path(&run->lab, log, "log/%s-record.log", node->name),
		.pid_file = lab_path(&run->lab, pid_file, "run/%s-record.pid", node->name),
		.argv = argv};
	bool cgroup = *node->cgroup && collector_find("cgroup");
	pid_t pid;

	snprintf(ports, sizeof(ports), "%u", run->fs->port);
	if (node->role == LAB_SERVER) {
		/* The whole disk: a hog reads from its other partition. */
		snprintf(disk, sizeof(disk), "%s", path_basename(node->loop));
		server_collects(node, functions, collect, sizeof(collect));
		argv[n++] = collect;
		argv[n++] = "--disks";
		argv[n++] = disk;
		argv[n++] = "--loops";
		if (cgroup) {
			argv[n++] = "--cgroup";
			argv[n++] = node->cgroup;
		}
		if (functions) {
			/* All nodes share this machine's CPUs. */
			argv[n++] = "--own-network";
			argv[n++] = "--frequency";
			argv[n++] = FREQUENCY;
		}
	} else {
		argv[n++] = "netdev,tcp";
	}
	if (run->flush) {
		argv[n++] = "--flush";
		argv[n++] = run->flush;
	}
	argv[n] = NULL;
	return tool_spawn(&s, &pid, err);
}

int run_record_start(const struct plan_run *run, enum plan_functions functions, const char *dir,
	struct lp_err *err)
{
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return lp_err_sys(err, -errno, "cannot make %s", dir);
	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];
		int r = node->role == LAB_OTHER ? 0 : record_one(run, node, functions, dir, err);

		if (r < 0)
			return lp_err_prefix(err, "cannot record %s", node->name);
	}
	return 0;
}

int run_record_verify(const struct plan_run *run, struct lp_err *err)
{
	char path[LAB_PATH_MAX], log[LAB_PATH_MAX];

	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];

		if (node->role == LAB_OTHER ||
			tool_pid(lab_path(&run->lab, path, "run/%s-record.pid", node->name)))
			continue;
		return lp_err_set(err, -EIO, "the recorder of %s has ended (see %s)", node->name,
			lab_path(&run->lab, log, "log/%s-record.log", node->name));
	}
	return 0;
}

int run_stop_all(const struct plan_run *run, const char *what, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int worst = 0;

	/* Signal all of them before waiting for any, so that their recordings end together. */
	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		pid_t pid = tool_pid(
			lab_path(&run->lab, path, "run/%s-%s.pid", run->lab.nodes[i].name, what));

		if (pid > 0)
			kill(pid, SIGTERM);
	}
	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];
		int r = tool_kill(lab_path(&run->lab, path, "run/%s-%s.pid", node->name, what),
			SIGTERM, STOP_WAIT_MS, err);

		worst = r < 0 ? r : worst;
	}
	return worst;
}

int run_record_stop(const struct plan_run *run, struct lp_err *err)
{
	return run_stop_all(run, "record", err);
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

/* Locks of recorders (".s1.lock") and archives that were not finished. */
static bool is_leftover(const char *name)
{
	return ends_with(name, ".tmp") || (*name == '.' && ends_with(name, ".lock"));
}

/* Seal and verify an archive, and count its samples. */
static int archive_check(const char *path, struct lp_archive_report *ret_report, struct lp_err *err)
{
	int r = lp_archive_seal(path, NULL, err);

	if (r == 0)
		r = lp_archive_check(path, NULL, NULL, ret_report, err);
	return r;
}

/* All archives of a node (there are two if the day changed). */
static int node_check(const struct lab_node *node, const char *dir, uint64_t *bytes,
	uint32_t *ret_samples, struct lp_err *err)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	size_t len = strlen(node->name);
	uint32_t samples = 0;
	struct dirent *entry;

	if (!d)
		return lp_err_sys(err, -errno, "cannot read %s", dir);
	while ((entry = readdir(d))) {
		struct lp_archive_report report = {0};
		char path[PATH_MAX];
		int r;

		if (strncmp(entry->d_name, node->name, len) || entry->d_name[len] != '-' ||
			!ends_with(entry->d_name, LP_ARCHIVE_SUFFIX))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		r = archive_check(path, &report, err);
		if (r < 0)
			return r;
		if (!strstr(entry->d_name, "-syscalls-")) /* a trace ends with its process */
			samples += report.n_samples;
		*bytes += report.size_bytes;
	}
	*ret_samples = samples;
	return 0;
}

/* Unlink the files in `dir` for which `gone` is true. -ENOENT, without a description, if there is
 * no such directory. */
static int remove_files(const char *dir, bool (*gone)(const char *name), struct lp_err *err)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	struct dirent *entry;

	if (!d)
		return errno == ENOENT ? -ENOENT : lp_err_sys(err, -errno, "cannot read %s", dir);
	while ((entry = readdir(d))) {
		if (gone(entry->d_name) && unlinkat(dirfd(d), entry->d_name, 0) < 0)
			return lp_err_sys(err, -errno, "cannot remove %s/%s", dir, entry->d_name);
	}
	return 0;
}

static bool is_ours(const char *name)
{
	return is_leftover(name) || ends_with(name, LP_ARCHIVE_SUFFIX);
}

int run_record_remove(const char *dir, struct lp_err *err)
{
	int r = remove_files(dir, is_ours, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (rmdir(dir) < 0)
		return lp_err_sys(err, -errno, "cannot remove %s", dir);
	return 0;
}

int run_record_check(const struct plan_run *run, const char *dir, int64_t span_us,
	uint64_t *ret_bytes, uint32_t *ret_samples, struct lp_err *err)
{
	double wanted = SAMPLES_SHARE_MIN * ((double)span_us / 1e6 - 2);
	uint32_t least = UINT32_MAX;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < run->lab.n_nodes; i++) {
		const struct lab_node *node = &run->lab.nodes[i];
		uint32_t samples = 0;
		int r;

		if (node->role == LAB_OTHER)
			continue;
		r = node_check(node, dir, &bytes, &samples, err);
		if (r < 0)
			return r;
		if (samples < wanted)
			return lp_err_set(err, -EIO,
				"the recording of %s has %" PRIu32 " samples, not about %.0f",
				node->name, samples, (double)span_us / 1e6);
		least = samples < least ? samples : least;
	}
	*ret_bytes = bytes;
	*ret_samples = least;
	return remove_files(dir, is_leftover, err);
}
