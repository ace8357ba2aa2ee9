/* Opening the kernel's ticks, one event for each CPU. */
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

/* Open an event on every CPU that is there, not yet enabled. `attr` says what is delivered; what
 * ticks, and how often, is filled in from `config`. CPUs that go offline are left out. A failure is
 * a sentence that says what to do. */
int perf_events_open(const struct sampler_config *config, const struct perf_event_attr *attr,
	struct perf_events *ret, struct lp_err *err);

#endif
