/* The host itself: processors, memory, load and pressure, as context for reports. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/parse.h"
#include <errno.h>

/* Times of /proc/stat are in ticks of 1/100 s, whatever the kernel's clock frequency is. */
#define TICKS "ticks", LP_COUNTER, 64
#define KB "kB", LP_GAUGE, 0
#define LOAD "tasks/100", LP_GAUGE, 0
#define STALL "us", LP_COUNTER, 64

static const struct lp_column columns[HOST_N_COLUMNS] = {
	[HOST_CPU_USER] = {"cpu_user", TICKS},
	[HOST_CPU_NICE] = {"cpu_nice", TICKS},
	[HOST_CPU_SYSTEM] = {"cpu_system", TICKS},
	[HOST_CPU_IDLE] = {"cpu_idle", TICKS},
	[HOST_CPU_IOWAIT] = {"cpu_iowait", TICKS},
	[HOST_CPU_IRQ] = {"cpu_irq", TICKS},
	[HOST_CPU_SOFTIRQ] = {"cpu_softirq", TICKS},
	[HOST_CPU_STEAL] = {"cpu_steal", TICKS},
	[HOST_CTXT] = {"ctxt", "switches", LP_COUNTER, 64},
	[HOST_PROCS_RUNNING] = {"procs_running", "tasks", LP_GAUGE, 0},
	[HOST_PROCS_BLOCKED] = {"procs_blocked", "tasks", LP_GAUGE, 0},
	[HOST_MEM_TOTAL_KB] = {"mem_total_kb", KB},
	[HOST_MEM_FREE_KB] = {"mem_free_kb", KB},
	[HOST_MEM_AVAILABLE_KB] = {"mem_available_kb", KB},
	[HOST_MEM_BUFFERS_KB] = {"mem_buffers_kb", KB},
	[HOST_MEM_CACHED_KB] = {"mem_cached_kb", KB},
	[HOST_MEM_DIRTY_KB] = {"mem_dirty_kb", KB},
	[HOST_MEM_WRITEBACK_KB] = {"mem_writeback_kb", KB},
	[HOST_SWAP_TOTAL_KB] = {"swap_total_kb", KB},
	[HOST_SWAP_FREE_KB] = {"swap_free_kb", KB},
	[HOST_LOAD1_X100] = {"load1_x100", LOAD},
	[HOST_LOAD5_X100] = {"load5_x100", LOAD},
	[HOST_LOAD15_X100] = {"load15_x100", LOAD},
	[HOST_PSI_CPU_SOME_US] = {"psi_cpu_some_us", STALL},
	[HOST_PSI_MEM_SOME_US] = {"psi_mem_some_us", STALL},
	[HOST_PSI_MEM_FULL_US] = {"psi_mem_full_us", STALL},
	[HOST_PSI_IO_SOME_US] = {"psi_io_some_us", STALL},
	[HOST_PSI_IO_FULL_US] = {"psi_io_full_us", STALL},
	[HOST_N_CPUS] = {"n_cpus", "processors", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"host", columns, ARRAY_SIZE(columns)};

static unsigned parse_pressure_cpu(const char *text, int64_t *values)
{
	return parse_pressure(text, &values[HOST_PSI_CPU_SOME_US], NULL);
}

static unsigned parse_pressure_memory(const char *text, int64_t *values)
{
	return parse_pressure(text, &values[HOST_PSI_MEM_SOME_US], &values[HOST_PSI_MEM_FULL_US]);
}

static unsigned parse_pressure_io(const char *text, int64_t *values)
{
	return parse_pressure(text, &values[HOST_PSI_IO_SOME_US], &values[HOST_PSI_IO_FULL_US]);
}

/* Any of these files may be missing (old kernels have no pressure); then its columns are missing.
 */
static const struct host_file {
	const char *path;
	unsigned (*parse)(const char *text, int64_t *values);
	bool slow; /* not read in every sample */
} files[] = {
	{"/proc/stat", parse_stat, false},
	{"/proc/meminfo", parse_meminfo, true},
	{"/proc/loadavg", parse_loadavg, true},
	{"/proc/pressure/cpu", parse_pressure_cpu, false},
	{"/proc/pressure/memory", parse_pressure_memory, false},
	{"/proc/pressure/io", parse_pressure_io, false},
};

/* The kernel itself computes load averages only every five seconds, and memory is only context. The
 * last values are repeated in between. */
#define SLOW_SPAN_US (5 * INT64_C(1000000))

struct host {
	const char *observer;
	struct procfile files[ARRAY_SIZE(files)];
	struct collect_row row;
	bool known;
	bool recorded; /* the files are from a recorded tree */
	uint64_t ctxt;
	int64_t slow_mono_us; /* when the slow files were last read; -1: never */
	int64_t values[HOST_N_COLUMNS];
};

static void host_close(void *state)
{
	struct host *h = state;

	if (!h)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		procfile_close(&h->files[i]);
	free(h);
}

static int host_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	struct host *h = calloc(1, sizeof(*h));
	unsigned opened = 0;

	if (!h)
		return lp_err_sys(err, -ENOMEM, "cannot collect host");
	h->observer = config->observer;
	h->recorded = config->root->dir[0] != '\0';
	h->slow_mono_us = -1;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		opened += procfile_open(&h->files[i], config->root, files[i].path, NULL) == 0;
	if (!opened) {
		host_close(h);
		return lp_err_set(err, -ENOENT, "none of %s/proc/stat, meminfo, loadavg is there",
			config->root->dir);
	}
	*ret_state = h;
	return 0;
}

/* Do the slow files have this column? */
static bool host_column_is_slow(size_t column)
{
	return column >= HOST_MEM_TOTAL_KB && column <= HOST_LOAD15_X100;
}

/* Is it time to read the slow files again? Always for a recorded tree, where reading costs
 * nothing. */
static bool slow_due(struct host *h, const struct lp_batch *batch)
{
	int64_t now_us = batch->mono_us[batch->n_samples - 1];

	if (!h->recorded && h->slow_mono_us >= 0 && now_us - h->slow_mono_us < SLOW_SPAN_US)
		return false;
	h->slow_mono_us = now_us;
	return true;
}

/* Read the files that are due into h->values. Returns the number of values found. */
static unsigned host_read(struct host *h, const struct lp_batch *batch)
{
	bool slow = slow_due(h, batch);
	unsigned found = 0;

	for (size_t i = 0; i < HOST_N_COLUMNS; i++) {
		if (slow || !host_column_is_slow(i))
			h->values[i] = LP_MISSING;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (h->files[i].fd >= 0 && (slow || !files[i].slow) &&
			procfile_read(&h->files[i], NULL) == 0)
			found += files[i].parse(h->files[i].text, h->values);
	}
	return found;
}

static int host_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct host *h = state;
	const int64_t *values = h->values;
	bool fresh;

	if (!host_read(h, sink->batch))
		return lp_err_set(err, -EIO, "nothing known could be read from %s/proc/stat",
			h->files[0].root ? h->files[0].root->dir : "");
	fresh = !h->known || (uint64_t)values[HOST_CTXT] < h->ctxt; /* a reboot between two trees */
	h->ctxt = values[HOST_CTXT] == LP_MISSING ? h->ctxt : (uint64_t)values[HOST_CTXT];
	if (!h->known) {
		int r = collect_add_component(sink, &schema, h->observer, "host", "", &h->row, err);

		if (r < 0)
			return r;
		h->known = true;
	}
	return collect_store(sink, &h->row, fresh, values, err);
}

const struct collector collector_host = {
	.name = "host",
	.summary = "this host: processor time, memory, load and pressure stall",
	.description =
		"Records the sums over all processors of /proc/stat, the main lines of "
		"/proc/meminfo, /proc/loadavg, and the stall times of /proc/pressure where the "
		"kernel has it. It is context for reports: a slow disk on a host without free "
		"memory is a different problem from a slow disk alone. Memory and load are read "
		"every five "
		"seconds and stand until then.",
	.schema = &schema,
	.open = host_open,
	.sample = host_sample,
	.close = host_close,
};
