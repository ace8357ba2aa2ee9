/* Was this machine itself too busy for what was measured on it to mean anything? A thread sleeps
 * for short times and looks how late it is woken.
 *
 * The disks of a lab are sleeps of a few milliseconds, its links hold back packets for up to 20 ms.
 * A process that is ready to run and is not let for longer than that makes a sound disk slow and a
 * sound link lossy. So a sleep of 10 ms that ends more than 20 ms late is counted, and a run is
 * saturated if such sleeps were more than a twentieth of its time: a twentieth of what was sampled
 * may then be the machine's doing, which is what detection takes for noise; beyond it may not be.
 *
 * And a lab whose machines have no CPU left to wait for is no lab of machines: it is saturated,
 * too, if all CPUs were used for more than WATCH_CPU_SHARE_MAX of the time, by anybody who does not
 * give way (what runs at low priority does). */
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
	double late_share; /* of the time, in sleeps that ended more than 20 ms late */
	double late_max_ms;
	double late_mean_ms;
	double cpu_share; /* of all CPUs' time that was used, but at low priority; 0 if not known */
	bool saturated;	  /* so late so often that disks and links of the lab were late, too */
};

/* What it looks at; the system's, or a test's own. */
struct watch_io {
	/* Sleep for `us`; how long it really took. */
	int64_t (*sleep)(void *ctx, int64_t us);
	/* CPU time so far, used and in all, of /proc/stat; a negative errno if there is none. */
	int (*cpu)(void *ctx, uint64_t *ret_used, uint64_t *ret_all);
	void *ctx;
};

/* A watch without a thread: watch_step() sleeps once. NULL: the system's clock and /proc/stat. */
int watch_new(const struct watch_io *io, struct watch **ret, struct lp_err *err);
void watch_step(struct watch *w);

/* A watch that steps in a thread until it is freed. */
int watch_start(struct watch **ret, struct lp_err *err);

/* What was seen since the start or the last report. */
void watch_report(struct watch *w, struct watch_report *ret);
void watch_free(struct watch *w);

/* The line "cpu ..." of /proc/stat: used and all time. -EINVAL if it is none. */
int watch_cpu_parse(const char *text, uint64_t *ret_used, uint64_t *ret_all);

#endif
