/* Plans of experiments: a text file of lines, '#' begins a comment.
 *
 *   servers 6                                 else the lab's defaults; these five come before
 *   clients 6                                 the first experiment
 *   fs gluster
 *   seed 1
 *   disk 512M                                 of a server, for the file system; the fifth
 *   phases WARMUP CLEAN FAULT RECOVERY        spans ("60s"), for the lines that follow
 *   trace none|summary|records                system calls, too; for the lines that follow
 *   functions none|samples|calls|both         of servers, too; for the lines that follow
 *   repeat N                                  each line that follows N times, other servers
 *   run WORKLOAD none                         a control
 *   run WORKLOAD FAULT[:STRENGTH][@SERVER][+FAULT...]
 *   train WORKLOAD                            fault-free, for training
 *
 * WORKLOAD and FAULT may be lists, "ddw,ddr": each workload is run with each fault. Experiments
 * with the same workload are grouped, in the order in which workloads first appear, so that its
 * files are prepared once. */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include "lab/fault.h"
#include "lab/workload.h"
#include <stddef.h>

#define PLAN_FAULTS_MAX 4
#define PLAN_NAME_MAX 64
#define PLAN_EXPERIMENTS_MAX 10000

/* The recorded system calls of servers and clients ('limpet trace syscalls'). */
enum plan_trace { PLAN_TRACE_NONE, PLAN_TRACE_SUMMARY, PLAN_TRACE_RECORDS };
extern const char *const plan_trace_names[]; /* NULL-terminated */
int plan_trace_parse(const char *text, enum plan_trace *ret, struct lp_err *err);

/* The recorded functions of servers ('limpet record --collect profile,calls'). */
enum plan_functions { PLAN_FUNCTIONS_NONE, PLAN_SAMPLES, PLAN_CALLS, PLAN_SAMPLES_AND_CALLS };
extern const char *const plan_functions_names[]; /* NULL-terminated */

struct experiment {
	char name[PLAN_NAME_MAX]; /* "ddw-disk-hog-1": the directory of the recording */
	const struct workload *workload;
	struct fault_spec faults[PLAN_FAULTS_MAX]; /* with servers after the plan is placed */
	unsigned n_faults;			   /* 0: a control or training */
	unsigned number;			   /* among equal ones, from 1: the end of the
						    * name */
	bool train;
	enum plan_trace trace;
	enum plan_functions functions;
	int64_t warmup_us, clean_us, fault_us, recovery_us;
};

struct plan {
	struct lab_config lab;
	struct experiment *experiments;
	unsigned n_experiments;
};

void plan_release(struct plan *p);

/* Parse the `text` of a plan; `source` is its name in errors ("source:3: ..."). */
int plan_parse(const char *source, const char *text, struct plan *ret, struct lp_err *err);

/* A built-in plan ("quick", "paper", ...) or a file. */
int plan_load(const char *name, struct plan *ret, struct lp_err *err);

/* Choose the server of each fault that names none, by the seed in `p->lab`. Each server is used
 * before one is repeated, equal experiments have different servers if possible, and no two faults
 * of an experiment have the same server. */
void plan_place(struct plan *p);

/* Keep the experiments for which `wanted` returns true. */
void plan_keep(struct plan *p, bool (*wanted)(void *ctx, const struct experiment *e, unsigned i),
	void *ctx);

/* Does it have a fault that causes errors for clients, and may end a server? */
bool experiment_fatal(const struct experiment *e);
/* Does it have a fault that requires a restart of its server when the workload begins? */
bool experiment_fresh(const struct experiment *e);

/* The duration of an experiment with all four phases. */
int64_t experiment_us(const struct experiment *e);

/* The faults and servers: "disk-hog@s3 + slow-disk:4@s1", "none", "train". Returns `buf`. */
const char *experiment_faults(const struct experiment *e, char *buf, size_t size);

/* The built-in plans, ended by one without a name. */
struct plan_text {
	const char *name, *summary, *text;
};
extern const struct plan_text plan_texts[];

#endif
