/* Opens the kernel's sampling events, one per CPU. */
#ifndef TRACE_PERF_EVENT_H
#define TRACE_PERF_EVENT_H

#include "trace/profile/sampler.h"
#include <linux/perf_event.h>

/* Zero-initialise it. */
struct perf_events {
	int *fds;
	unsigned n;
	enum sampler_clock clock; /* what ticks */
};

void perf_events_close(struct perf_events *p);

/* Open an event on every CPU, not yet enabled. `attr` selects what is delivered; clock and
 * frequency are filled in from `config`. CPUs that go offline are skipped. The error of a failure
 * says what to do. */
int perf_events_open(const struct sampler_config *config, const struct perf_event_attr *attr,
	struct perf_events *ret, struct lp_err *err);

#endif
