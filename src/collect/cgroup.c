/* The processor time of one control group. It replaces `host` for a server that runs in a
 * container. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/parse.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define TIME "us", LP_COUNTER, 64

/* The same names as in `host`, so that the same metrics apply. */
enum { CPU_USER, CPU_SYSTEM, CPU_IDLE, PSI_CPU_SOME, PSI_IO_SOME, N_CPUS, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[CPU_USER] = {"cpu_user", TIME},
	[CPU_SYSTEM] = {"cpu_system", TIME},
	[CPU_IDLE] = {"cpu_idle", TIME},
	[PSI_CPU_SOME] = {"psi_cpu_some_us", TIME},
	[PSI_IO_SOME] = {"psi_io_some_us", TIME},
	[N_CPUS] = {"n_cpus", "processors", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"host", columns, ARRAY_SIZE(columns)};

/* Version 1 has the first three files, version 2 the first and the last two. */
enum { FILE_STAT, FILE_USER, FILE_SYSTEM, FILE_CPU_PRESSURE, FILE_IO_PRESSURE, N_FILES };

struct cgroup {
	const char *observer;
	char paths[N_FILES][PATH_MAX];
	struct procfile files[N_FILES]; /* fd -1: this version does not have it */
	struct collect_row row;
	bool known;
	int64_t n_cpus;
	/* From the previous sample. */
	int64_t mono_us, used_us, stalled_us;
	/* Counters: idle time and stalled time. */
	int64_t idle_us, stall_us;
};

static void cgroup_close(void *state)
{
	struct cgroup *g = state;

	if (!g)
		return;
	for (size_t i = 0; i < N_FILES; i++)
		procfile_close(&g->files[i]);
	free(g);
}

DEFINE_CLEANUP(struct cgroup *, cgroup_close);

/* Open `dir`/`name`; false if it does not exist or the path is too long. */
static bool file_open(struct cgroup *g, size_t file, const struct proc_root *root, const char *dir,
	const char *name)
{
	int len = snprintf(g->paths[file], sizeof(g->paths[file]), "%s/%s", dir, name);

	return len < (int)sizeof(g->paths[file]) &&
		procfile_open(&g->files[file], root, g->paths[file], NULL) == 0;
}

/* The hierarchy cpuacct is mounted together with cpu, or separately: /sys/fs/cgroup/cpu/NAME and
 * /sys/fs/cgroup/cpuacct/NAME. */
static void accounts_open(struct cgroup *g, const struct proc_root *root, const char *path)
{
	const char *cpu = strstr(path, "/cpu/");
	char beside[PATH_MAX];
	int len;

	if (file_open(g, FILE_USER, root, path, "cpuacct.usage_user") &&
		file_open(g, FILE_SYSTEM, root, path, "cpuacct.usage_sys"))
		return;
	if (!cpu)
		return;
	len = snprintf(beside, sizeof(beside), "%.*s/cpuacct/%s", (int)(cpu - path), path, cpu + 5);
	if (len >= (int)sizeof(beside))
		return;
	if (file_open(g, FILE_USER, root, beside, "cpuacct.usage_user"))
		file_open(g, FILE_SYSTEM, root, beside, "cpuacct.usage_sys");
}

static int64_t count_cpus(const struct proc_root *root)
{
	int64_t values[HOST_N_COLUMNS], n = 1;
	struct procfile stat = {.fd = -1};

	values[HOST_N_CPUS] = LP_MISSING;
	if (procfile_open(&stat, root, "/proc/stat", NULL) == 0 &&
		procfile_read(&stat, NULL) == 0) {
		parse_stat(stat.text, values);
		n = values[HOST_N_CPUS] == LP_MISSING ? 1 : values[HOST_N_CPUS];
	}
	procfile_close(&stat);
	return n;
}

static int cgroup_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_(cgroup_closep) struct cgroup *g = NULL;
	const char *path = config->cgroup;

	if (!path || path[0] != '/')
		return lp_err_set(err, -EINVAL,
			"name the control group: --cgroup with a path that begins with a slash");
	g = calloc(1, sizeof(*g));
	if (!g)
		return lp_err_sys(err, -ENOMEM, "cannot watch a control group");
	for (size_t i = 0; i < N_FILES; i++)
		g->files[i].fd = -1;
	g->observer = config->observer;
	if (!file_open(g, FILE_STAT, config->root, path, "cpu.stat"))
		return lp_err_set(err, -EINVAL,
			"%s%.512s/cpu.stat is not there: no control group with the controller cpu",
			config->root->dir, path);
	accounts_open(g, config->root, path);
	file_open(g, FILE_CPU_PRESSURE, config->root, path, "cpu.pressure");
	file_open(g, FILE_IO_PRESSURE, config->root, path, "io.pressure");
	g->n_cpus = count_cpus(config->root);
	*ret_state = TAKE_PTR(g);
	return 0;
}

static bool file_read(struct cgroup *g, size_t file)
{
	return g->files[file].fd >= 0 && procfile_read(&g->files[file], NULL) == 0;
}

/* Read a file with a number of nanoseconds, as microseconds. */
static void read_account(struct cgroup *g, size_t file, int64_t *ret_us)
{
	const char *p;
	uint64_t ns;

	if (!file_read(g, file))
		return;
	p = g->files[file].text;
	if (scan_u64(&p, &ns))
		*ret_us = (int64_t)(ns / 1000);
}

static int read_values(struct cgroup *g, int64_t values[N_COLUMNS], struct lp_err *err)
{
	struct cgroup_stat stat;
	int r = procfile_read(&g->files[FILE_STAT], err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < N_COLUMNS; i++)
		values[i] = LP_MISSING;
	if (!parse_cgroup_stat(g->files[FILE_STAT].text, &stat))
		return lp_err_set(err, -EBADMSG, "nothing known is in %s", g->paths[FILE_STAT]);
	values[CPU_USER] = stat.user_us;
	values[CPU_SYSTEM] = stat.system_us;
	values[PSI_CPU_SOME] = stat.stall_us;
	read_account(g, FILE_USER, &values[CPU_USER]);
	read_account(g, FILE_SYSTEM, &values[CPU_SYSTEM]);
	if (file_read(g, FILE_CPU_PRESSURE))
		parse_pressure(g->files[FILE_CPU_PRESSURE].text, &values[PSI_CPU_SOME], NULL);
	if (file_read(g, FILE_IO_PRESSURE))
		parse_pressure(g->files[FILE_IO_PRESSURE].text, &values[PSI_IO_SOME], NULL);
	values[N_CPUS] = g->n_cpus;
	return 0;
}

static int64_t grow(int64_t total, int64_t by, int64_t most)
{
	return total + (by < 0 ? 0 : by > most ? most : by);
}

/* Compute values that the kernel does not count. Idle time is the rest of the time of all
 * processors. Throttling is counted per processor, but a group cannot be stalled for longer than
 * the elapsed time. */
static void add_derived(struct cgroup *g, int64_t mono_us, bool fresh, int64_t values[N_COLUMNS])
{
	bool used = values[CPU_USER] != LP_MISSING && values[CPU_SYSTEM] != LP_MISSING;
	int64_t passed_us = fresh ? 0 : mono_us - g->mono_us;
	int64_t used_us = used ? values[CPU_USER] + values[CPU_SYSTEM] : 0;
	int64_t stalled_us = values[PSI_CPU_SOME];

	g->idle_us = grow(
		g->idle_us, passed_us * g->n_cpus - (used_us - g->used_us), passed_us * g->n_cpus);
	values[CPU_IDLE] = used ? g->idle_us : LP_MISSING;
	if (stalled_us != LP_MISSING) {
		g->stall_us = grow(g->stall_us, stalled_us - g->stalled_us, passed_us);
		values[PSI_CPU_SOME] = g->stall_us;
		g->stalled_us = stalled_us;
	}
	g->used_us = used_us;
	g->mono_us = mono_us;
}

static int cgroup_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct cgroup *g = state;
	int64_t values[N_COLUMNS];
	bool fresh = !g->known;
	int r = read_values(g, values, err);

	if (r < 0)
		return r;
	if (fresh)
		r = collect_add_component(sink, &schema, g->observer, "cgroup", "", &g->row, err);
	if (r < 0)
		return r;
	g->known = true;
	add_derived(g, sink->batch->mono_us[sink->batch->n_samples - 1], fresh, values);
	return collect_store(sink, &g->row, fresh, values, err);
}

extern const struct collector collector_cgroup;
const struct collector collector_cgroup = {
	.name = "cgroup",
	.summary = "the processor time of one control group (--cgroup): a server in a container",
	.description =
		"Records what the processes of the control group that --cgroup names took of the "
		"processors, and how long they wanted more than they got. Of version 2 it reads "
		"cpu.stat, cpu.pressure and io.pressure. Version 1 has no pressure: the time in "
		"which the group was throttled (cpu.stat) stands for it, and cpuacct.usage_user "
		"and cpuacct.usage_sys are looked for in the same directory, or in that of the "
		"same name under cpuacct. It runs only where it is asked for.",
	.schema = &schema,
	.on_request = true,
	.open = cgroup_open,
	.sample = cgroup_sample,
	.close = cgroup_close,
};
