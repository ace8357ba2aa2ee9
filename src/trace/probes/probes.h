/* The instrument that counts calls without a rebuild: of functions of running programs, of
 * functions of the kernel, and hits of its tracepoints. Its rows have the same form as those of
 * programs that count their own calls (trace/calls), so that all are part of the same vectors.
 */
#ifndef TRACE_PROBES_H
#define TRACE_PROBES_H

#include "collect/instrument.h"
#include "trace/named_rows.h"
#include "trace/probes/probe_places.h"

#define PROBES_INTERVAL_US INT64_C(1000000)
/* Calls per second at which the probe of a function is removed by default: 2% of a CPU and more. */
#define PROBES_LIMIT 20000

struct probes_config {
	const char *observer;
	const struct probe_places *places; /* functions to count; must outlive the instrument */
	bool tracepoints;
	uint64_t netns;	      /* hits of tracepoints in this network namespace only; 0: all */
	uint64_t limit;	      /* calls per second at which a probe is removed; 0: PROBES_LIMIT */
	int64_t interval_us;  /* counts are read at multiples of it; 0: PROBES_INTERVAL_US */
	bool at_ends;	      /* and when it begins and ends */
	struct lp_warn *warn; /* may be NULL */
};

struct probes_totals {
	size_t functions;   /* counted functions */
	size_t refused;	    /* functions that the kernel refuses */
	size_t trampolines; /* kernel functions that are counted at a fraction of the cost of a
			     * probe */
	size_t let_go;	    /* functions that were called too often */
	size_t tracepoints; /* tracepoints that this kernel has */
};

struct probes;

/* Begin to count. -EPERM, -EOPNOTSUPP with a message: nothing can be counted here. */
int probes_new(const struct probes_config *config, struct probes **ret, struct lp_err *err);
void probes_free(struct probes *p);

/* For the loop: loop_instrument.config is the probes, which outlive the loop. */
const struct instrument *probes_instrument(const struct probes *p);

const struct probes_totals *probes_totals(const struct probes *p);
const struct named_rows *probes_counts(const struct probes *p);

#endif
