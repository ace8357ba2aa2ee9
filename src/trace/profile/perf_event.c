#include "trace/profile/perf_event.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"
#define RATE_PATH "/proc/sys/kernel/perf_event_max_sample_rate"

void perf_events_close(struct perf_events *p)
{
	for (unsigned i = 0; i < p->n; i++)
		close(p->fds[i]);
	free(p->fds);
	*p = (struct perf_events){0};
}

/* A number in a file, or `otherwise`. */
static long number_in(const char *path, long otherwise)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[32];

	return f && fgets(line, sizeof(line), f) ? strtol(line, NULL, 10) : otherwise;
}

static void attr_fill(const struct sampler_config *config, enum sampler_clock clock,
	const struct perf_event_attr *from, struct perf_event_attr *ret)
{
	*ret = *from;
	ret->size = sizeof(*ret);
	ret->disabled = 1;
	ret->freq = 1;
	ret->sample_freq = config->hz;
	ret->type = clock == SAMPLER_CLOCK_CYCLES ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	ret->config =
		clock == SAMPLER_CLOCK_CYCLES ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK;
}

static int refuse(const struct sampler_config *config, int code, struct lp_err *err)
{
	long rate = number_in(RATE_PATH, 0);

	switch (code) {
	case -EACCES:
	case -EPERM:
		if (geteuid() == 0)
			return lp_err_set(err, -EPERM,
				"sampling the machine is not permitted, not even to root (a "
				"container?)");
		return lp_err_set(err, -EPERM,
			"sampling the machine needs root (or CAP_PERFMON, or "
			"kernel.perf_event_paranoid at most 0; it is %ld)",
			number_in(PARANOID_PATH, 2));
	case -ENOSYS:
		return lp_err_set(
			err, -EOPNOTSUPP, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return lp_err_set(err, -EOPNOTSUPP, "this machine has no cycle counter");
	case -EINVAL:
		if (rate && (long)config->hz > rate)
			return lp_err_set(err, -EINVAL,
				"%u samples per second is more than the kernel permits (%ld, "
				"kernel.perf_event_max_sample_rate)",
				config->hz, rate);
		break;
	default:
		break;
	}
	return lp_err_sys(err, code, "cannot sample the machine");
}

static int event_open(struct perf_event_attr *attr, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_all(struct perf_event_attr *attr, struct perf_events *p)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	p->fds = calloc((size_t)(n_cpus > 0 ? n_cpus : 1), sizeof(*p->fds));
	if (!p->fds)
		return -ENOMEM;
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		int fd = event_open(attr, cpu);

		if (fd == -ENODEV && p->n) /* offline */
			continue;
		if (fd < 0)
			return fd;
		p->fds[p->n++] = fd;
	}
	return p->n ? 0 : -ENODEV;
}

int perf_events_open(const struct sampler_config *config, const struct perf_event_attr *attr,
	struct perf_events *ret, struct lp_err *err)
{
	static const enum sampler_clock clocks[] = {SAMPLER_CLOCK_CYCLES, SAMPLER_CLOCK_TIME};
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		_cleanup_(perf_events_close) struct perf_events p = {.clock = clocks[i]};
		struct perf_event_attr filled;

		if (config->clock != SAMPLER_CLOCK_AUTO && config->clock != clocks[i])
			continue;
		attr_fill(config, clocks[i], attr, &filled);
		r = open_all(&filled, &p);
		if (r == 0) {
			*ret = p;
			p = (struct perf_events){0};
			return 0;
		}
	}
	return refuse(config, r, err);
}
