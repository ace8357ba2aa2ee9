/* The common state of running experiments (run*.c). */
#ifndef LAB_RUN_STATE_H
#define LAB_RUN_STATE_H

#include "lab/fs.h"
#include "lab/run.h"
#include "lab/watch.h"
#include <jansson.h>
#include <limits.h>

struct plan_run {
	const struct plan *plan;
	const struct run_config *config;
	struct run_result result;
	struct lab lab;
	bool lab_is_up;
	int lock_fd; /* held while this run uses the lab; -1: none */
	const struct fs *fs;
	struct watch *watch;
	char limpet[PATH_MAX]; /* the program that records */
	const char *flush;     /* how often recorders write data; NULL: their default */
	unsigned at;	       /* index of the experiment in the plan */
	bool worn;	       /* clients had errors since the lab was built */
	int64_t spare_us;      /* the time of an experiment in addition to its phases */
};

enum { RUN_WARMUP, RUN_CLEAN, RUN_FAULT, RUN_RECOVERY, RUN_PHASES };

struct run_phase {
	int64_t start_us, end_us; /* wall clock */
	uint64_t bytes;		  /* that clients sent and received */
};

/* The record of an experiment. */
struct run_account {
	const struct experiment *experiment;
	struct run_phase phases[RUN_PHASES];
	int64_t fault_start_us, fault_end_us;
	unsigned attempt; /* from 1 */
	struct watch_report watch;
	double disk_late_ms, cpu_wait; /* run_strain.h */
	bool disturbed;		       /* this machine was too busy */
	bool accepted;		       /* it counts nevertheless */
	uint64_t recorded_bytes;
	uint32_t samples; /* of the shortest recording */
};

extern const char *const run_phase_names[RUN_PHASES];

/* Has a signal come? */
bool run_stopped(const struct plan_run *run);
int run_stopped_err(struct lp_err *err);

int64_t run_wall_us(void);
int64_t run_monotonic_us(void);

/* Report progress; `rest_us` is the remaining time of this experiment. */
void run_tell(const struct plan_run *run, const char *phase, int64_t rest_us);

/* Run one experiment, from the preparation to sealed archives in `dir`, which is created. On
 * failure everything is stopped. -EINTR if a signal came. */
int run_experiment(struct plan_run *run, const struct experiment *e, const char *dir,
	struct run_account *ret, struct lp_err *err);

/* Start recorders in the namespaces of all servers and clients, which write to `dir`; also for
 * functions of servers. */
int run_record_start(const struct plan_run *run, enum plan_functions functions, const char *dir,
	struct lp_err *err);
/* -EIO if a recorder has ended. */
int run_record_verify(const struct plan_run *run, struct lp_err *err);
/* End them, and wait until they have ended. 0 if there are none. */
int run_record_stop(const struct plan_run *run, struct lp_err *err);
/* End the processes of run/NODE-WHAT.pid on all nodes together, and wait until they have ended. 0
 * if there are none. */
int run_stop_all(const struct plan_run *run, const char *what, struct lp_err *err);
/* Seal and verify the archives of all nodes: each must have samples for nearly all of `span_us`. */
int run_record_check(const struct plan_run *run, const char *dir, int64_t span_us,
	uint64_t *ret_bytes, uint32_t *ret_samples, struct lp_err *err);
/* Start tracers of the system calls of servers and clients (the process of the file system, and the
 * workload, which waits), which write to `dir`. */
int run_trace_start(
	const struct plan_run *run, enum plan_trace mode, const char *dir, struct lp_err *err);
/* -EIO if a tracer has ended; that of a server with a fault of `e` (may be NULL) ends with the
 * server.
 */
int run_trace_verify(const struct plan_run *run, const struct experiment *e, struct lp_err *err);
/* End them, and wait until they have ended. 0 if there are none. */
int run_trace_stop(const struct plan_run *run, struct lp_err *err);

/* Remove a recording: only archives and the directory. 0 if it does not exist. */
int run_record_remove(const char *dir, struct lp_err *err);

/* Write the account atomically. */
int run_account_write(const struct plan_run *run, const struct run_account *a, const char *path,
	struct lp_err *err);
/* Does the experiment of an account count? It does not if it was disturbed, unless that was
 * accepted. */
bool run_account_counts(const json_t *account);
/* Is there an account that counts, with its recording? */
bool run_account_whole(const char *out, const struct experiment *e);

/* Write a file atomically. */
int run_file_write(const char *path, const void *data, size_t size, struct lp_err *err);

/* Write OUT/truth.csv from all accounts in OUT. */
int run_truth_write(const char *out, struct lp_err *err);

#endif
