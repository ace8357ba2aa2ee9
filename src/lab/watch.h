/* Was this machine itself too busy for what was measured on it to mean anything? A thread sleeps
 * for short times and looks how late it is woken. */
#ifndef LAB_WATCH_H
#define LAB_WATCH_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

struct watch;

struct watch_report {
	uint64_t wakes;
	double late_share; /* of wake-ups more than 20 ms late */
	double late_max_ms;
	double cpu_share; /* of all CPUs' time that was used */
	bool saturated;	  /* so late so often that disks and links of the lab were late, too */
};

int watch_start(struct watch **ret, struct lp_err *err);
/* What was seen since the start or the last report. */
void watch_report(struct watch *w, struct watch_report *ret);
void watch_free(struct watch *w);

#endif
