/* Metrics of disks, as sysstat and the thesis' Table 3.1 define them. */
#include "model/metric_def.h"

#define IOS "ios|rd_ios+wr_ios+dc_ios?"
#define SECTORS "rd_sec+wr_sec+dc_sec?"
#define TICKS "rd_ticks+wr_ticks+dc_ticks?"

/* A wait, a size: the first input for each of the second. */
static double per_request(const double *in, double dt_s)
{
	(void)dt_s;
	return metric_ratio(in[0], in[1]);
}

/* Milliseconds of waiting gathered in each second: requests that wait on average. */
static double queue_length(const double *in, double dt_s)
{
	return in[0] / (1000 * dt_s);
}

static double utilisation(const double *in, double dt_s)
{
	return in[0] / (10 * dt_s);
}

extern const struct lp_metric metrics_disk[];
const struct lp_metric metrics_disk[] = {
	{"tps", "1/s", "I/O requests completed per second", "storage", "disk", true, {IOS},
		metric_rate, LP_ROLE_WORK, 1, false},
	{"rd_sec", "sectors/s", "sectors (512 bytes) read per second", "storage", "disk", true,
		{"rd_sec"}, metric_rate, LP_ROLE_WORK, 256, true},
	{"wr_sec", "sectors/s", "sectors (512 bytes) written per second", "storage", "disk", true,
		{"wr_sec"}, metric_rate, LP_ROLE_WORK, 256, true},
	{"avgrq-sz", "sectors", "average size of a request", "storage", "disk", false,
		{SECTORS, IOS}, per_request},
	{"avgqu-sz", "requests", "average number of requests queued or in service", "storage",
		"disk", false, {"rq_ticks"}, queue_length, LP_ROLE_BUSY, 0.5, false},
	{"await", "ms", "average time a request takes, waiting included", "storage", "disk", true,
		{TICKS, IOS}, per_request, LP_ROLE_LATENCY, 1, true},
	{"await-peak", "ms", "longest await of the last 15 seconds, on grids of up to 3 s",
		"storage", "disk", false, {TICKS, IOS}, per_request, LP_ROLE_LATENCY, 20, true,
		NULL, 15},
	{"r_await", "ms", "average time a read takes, waiting included", "storage", "disk", false,
		{"rd_ticks", "rd_ios"}, per_request, LP_ROLE_LATENCY, 1, false},
	{"w_await", "ms", "average time a write takes, waiting included", "storage", "disk", false,
		{"wr_ticks", "wr_ios"}, per_request, LP_ROLE_LATENCY, 1, false},
	{"f_await", "ms", "average time a flush takes", "storage", "disk", false,
		{"fl_ticks", "fl_ios"}, per_request, LP_ROLE_LATENCY, 1, false},
	{"svctm", "ms", "average service time of a request (busy time per request)", "storage",
		"disk", false, {"tot_ticks", IOS}, per_request, LP_ROLE_LATENCY, 1, false},
	{"%util", "%", "share of time with requests under way", "storage", "disk", true,
		{"tot_ticks"}, utilisation, LP_ROLE_BUSY, 5, false},
	{"dc_sec", "sectors/s", "sectors discarded per second", "storage", "disk", false,
		{"dc_sec"}, metric_rate, LP_ROLE_WORK, 256, false},
	{"inflight", "requests", "requests under way at the instant of the sample", "storage",
		"disk", false, {"in_flight"}, metric_value, LP_ROLE_BUSY, 1, false},
	{NULL},
};
