/* Metrics of hosts: context for reports, but for a lack of CPU, which makes a server slow. */
#include "model/metric_def.h"

#define CPU_ALL                                                                                    \
	"cpu_user+cpu_nice?+cpu_system+cpu_idle+cpu_iowait?+cpu_irq?+cpu_softirq?+cpu_steal?"

static double share(const double *in, double dt_s)
{
	(void)dt_s;
	return 100 * metric_ratio(in[0], in[1]);
}

/* Microseconds of stall in each second, as a percentage. */
static double stall_share(const double *in, double dt_s)
{
	return in[0] / (1e4 * dt_s);
}

static double hundredth(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 100;
}

extern const struct lp_metric metrics_host[];
const struct lp_metric metrics_host[] = {
	{"%user", "%", "CPU time in user space (nice included)", "host", "host", true,
		{"cpu_user+cpu_nice?", CPU_ALL}, share},
	{"%system", "%", "CPU time in the kernel (interrupts included)", "host", "host", true,
		{"cpu_system+cpu_irq?+cpu_softirq?", CPU_ALL}, share},
	{"%iowait", "%", "CPU time idle while I/O was outstanding", "host", "host", true,
		{"cpu_iowait", CPU_ALL}, share},
	{"%steal", "%", "CPU time taken by the hypervisor", "host", "host", false,
		{"cpu_steal", CPU_ALL}, share},
	{"%idle", "%", "CPU time idle", "host", "host", false, {"cpu_idle", CPU_ALL}, share},
	{"cswch", "1/s", "context switches per second", "host", "host", false, {"ctxt"},
		metric_rate},
	{"runq", "tasks", "runnable tasks", "host", "host", false, {"procs_running"}, metric_value},
	{"blocked", "tasks", "tasks blocked on I/O", "host", "host", false, {"procs_blocked"},
		metric_value},
	{"load1", "tasks", "load average over a minute", "host", "host", true, {"load1_x100"},
		hundredth},
	{"memavail", "kB", "memory available", "host", "host", false, {"mem_available_kb"},
		metric_value},
	{"memfree", "kB", "memory free", "host", "host", false, {"mem_free_kb"}, metric_value},
	{"dirty", "kB", "page cache waiting to be written", "host", "host", false, {"mem_dirty_kb"},
		metric_value},
	{"writeback", "kB", "page cache being written", "host", "host", false, {"mem_writeback_kb"},
		metric_value},
	{"psi_cpu", "%", "time in which some task waited for a CPU", "host", "host", false,
		{"psi_cpu_some_us"}, stall_share, LP_ROLE_TROUBLE, 10, true},
	{"psi_io", "%", "time in which some task waited for I/O", "host", "host", true,
		{"psi_io_some_us"}, stall_share},
	{"psi_mem", "%", "time in which some task waited for memory", "host", "host", false,
		{"psi_mem_some_us"}, stall_share},
	{NULL},
};
