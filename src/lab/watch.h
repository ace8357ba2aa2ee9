/* Was this machine itself too busy for valid measurements? A thread sleeps for short times and
 * checks how late it is woken.
 *
 * The disks of a lab are sleeps of a few milliseconds, its links delay packets for up to 20 ms. A
 * process that is ready but does not run for longer than that makes a healthy disk slow and a
 * healthy link lossy. So it counts sleeps of 10 ms that end more than 20 ms late. A run is
 * saturated if such sleeps were more than a twentieth of its time. Below that, at most a twentieth
 * of the samples are affected by the machine, which detection treats as noise.
 *
 * It is also saturated if all CPUs were used for more than WATCH_CPU_SHARE_MAX of the time, by
 * processes at normal priority: servers without spare CPU do not behave like separate machines. */
#ifndef LAB_WATCH_H
#define LAB_WATCH_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

#define WATCH_SLEEP_US 10000
#define WATCH_LATE_US 20000
#define WATCH_LATE_SHARE_MAX 0.05
#define WATCH_CPU_SHARE_MAX 0.95

struct watch;

struct watch_report {
	uint64_t wakes;
	double late_share; /* share of the time in sleeps that ended more than 20 ms late */
	double late_max_ms;
	double late_mean_ms;
	double cpu_share; /* used share of the time of all CPUs, without low priority; 0: unknown */
	bool saturated;	  /* so often late that disks and links of the lab were late, too */
};

/* Its inputs: those of the system, or of a test. */
struct watch_io {
	/* Sleep for `us`; returns the actual time. */
	int64_t (*sleep)(void *ctx, int64_t us);
	/* CPU time so far, used and total, from /proc/stat; a negative errno if unknown. */
	int (*cpu)(void *ctx, uint64_t *ret_used, uint64_t *ret_all);
	void *ctx;
};

/* A watch without a thread: watch_step() sleeps once. NULL: the system's clock and /proc/stat. */
int watch_new(const struct watch_io *io, struct watch **ret, struct lp_err *err);
void watch_step(struct watch *w);

/* A watch that steps in a thread until it is freed. */
int watch_start(struct watch **ret, struct lp_err *err);

/* The results since the start or the last report. */
void watch_report(struct watch *w, struct watch_report *ret);
void watch_free(struct watch *w);

/* The line "cpu ..." of /proc/stat: used and total time. -EINVAL if it is invalid. */
int watch_cpu_parse(const char *text, uint64_t *ret_used, uint64_t *ret_all);

#endif
