/* Running experiments: warm-up, clean, fault, recovery, recorded in every namespace.
 *
 *   OUT/NAME/              the recording: s1-*.lpa, ..., c1-*.lpa; what `limpet diagnose` reads
 *   OUT/NAME.json          what was done and when, throughput of each phase, how busy this machine
 *                          was; written last, so its presence shows that the experiment is
 *                          complete
 *   OUT/truth.csv          for `limpet score`: a row per fault, or an empty one for none
 *   OUT/NAME.part/         an unfinished recording
 *   OUT/NAME.disturbed/    an unreliable one, with NAME.disturbed.json; not in truth.csv
 *
 * A complete experiment is not run again, so an interrupted plan continues where it was. Runs of
 * several plans, or of parts of one in several labs, may share OUT. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "lab/plan.h"

struct run_config {
	const char *out;
	unsigned tries; /* the maximum number of attempts for a disturbed experiment */
	bool accept;	/* also count disturbed ones; this is noted */
	bool keep_lab;	/* leave the cluster up at the end */
	/* Progress (`experiment` is "" between experiments), and the remaining time. Phases
	 * "recorded", "skipped", "disturbed", "failed" end an experiment. */
	void (*tell)(void *ctx, const char *experiment, const char *phase, unsigned done,
		unsigned of, int64_t left_us);
	/* A message that must stay visible: an experiment was disturbed and is repeated. */
	void (*note)(void *ctx, const char *text);
	void *ctx;
	const volatile int *stop; /* set by a signal: heal, clean up and return -EINTR */
};

struct run_result {
	unsigned done, skipped, disturbed, failed; /* skipped: they already existed */
};

/* Run the missing experiments of a placed plan. Always fills in `*ret`. An experiment that fails is
 * reported and repeated once, and the plan continues. */
int run_plan(const struct plan *plan, const struct run_config *config, struct run_result *ret,
	struct lp_err *err);

#endif
