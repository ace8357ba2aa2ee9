/* Plans of experiments: a text file of lines, '#' begins a comment.
 *
 *   servers 6            clients 6            fs gluster       (else the lab's defaults)
 *   phases WARMUP CLEAN FAULT RECOVERY        spans ("60s"), for the lines that follow
 *   repeat N                                  each line that follows N times, other servers
 *   run WORKLOAD none                         a control
 *   run WORKLOAD FAULT[:STRENGTH][@SERVER][+FAULT...]
 *   train WORKLOAD                            fault-free, for training
 *   WORKLOAD and FAULT may be lists: ddw,ddr
 *
 * `quick` and `paper` are built in. Servers that are not named are chosen in turn, so that each
 * repetition has another one, by the seed. */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include "lab/fault.h"
#include "lab/workload.h"

#define PLAN_FAULTS_MAX 4

struct experiment {
	char name[64]; /* "ddw-disk-hog-1": the recording's directory */
	const struct workload *workload;
	struct fault_spec faults[PLAN_FAULTS_MAX]; /* with servers */
	unsigned n_faults;			   /* 0: a control or training */
	bool train;
	int64_t warmup_us, clean_us, fault_us, recovery_us;
};

struct plan {
	struct lab_config lab;
	struct experiment *experiments;
	unsigned n_experiments;
};

void plan_release(struct plan *p);

/* `text` of a plan called `source` in errors ("source:3: ..."). */
int plan_parse(const char *source, const char *text, struct plan *ret, struct lp_err *err);

/* A built-in plan ("quick", "paper", ...) or a file. */
int plan_load(const char *name, struct plan *ret, struct lp_err *err);

/* Names of built-in plans, NULL-terminated. */
extern const char *const plan_names[];

#endif
