/* Running experiments: warm-up, clean, fault, recovery, recorded in every namespace.
 *
 *   OUT/NAME/              the recording: s1-*.lpa, ..., c1-*.lpa; what `limpet diagnose` reads
 *   OUT/NAME.json          what was done and when, throughput of each phase, how busy this machine
 *                          was; written last, so it says that the experiment is whole
 *   OUT/truth.csv          for `limpet score`: a row a fault, or an empty one for none
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "lab/plan.h"

struct run_config {
	const char *out;
	unsigned tries; /* how often a disturbed experiment is repeated */
	bool keep_lab;	/* leave the cluster up at the end */
	/* What is going on, and how long the rest will take. */
	void (*tell)(void *ctx, const char *experiment, const char *phase, unsigned done,
		unsigned of, int64_t left_us);
	/* A sentence that must not be lost: an experiment was disturbed and is repeated. */
	void (*note)(void *ctx, const char *text);
	void *ctx;
	const volatile int *stop; /* set by a signal: heal, tidy up and return -EINTR */
};

struct run_result {
	unsigned done, skipped, disturbed, failed; /* skipped: they were there already */
};

int run_plan(const struct plan *plan, const struct run_config *config, struct run_result *ret,
	struct lp_err *err);

#endif
