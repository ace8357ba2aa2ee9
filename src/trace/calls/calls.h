/* The instrument that reads the counts of programs built with `limpet cc`: calls of each function,
 * and the time in it, by program, image and function.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "collect/instrument.h"
#include "trace/calls/function_list.h"
#include "trace/named_rows.h"
#include <sys/types.h>

#define CALLS_INTERVAL_US INT64_C(1000000)
/* Functions of all programs together; further ones are counted as "other". */
#define CALLS_FUNCTIONS_MAX 8000

struct calls_config {
	const char *observer;
	const char *directory; /* NULL: the default directory for tables of programs */
	int64_t interval_us;   /* counts are read at multiples of it; 0: CALLS_INTERVAL_US */
	bool at_ends;	       /* and when it begins and ends */
	bool passive;	       /* only look (calls_watch.h) */
	bool idle;	       /* also rows for functions that are not called */
	uint64_t netns;	       /* only programs of this network namespace (netns.h); 0: all */
	pid_t pid;	       /* only this process; 0: all */
	/* Switches functions on or off when they first appear. NULL: they do not change. */
	const struct calls_list *list;
	/* The allowed cost of counting per process, as a share of a CPU; 0: no limit. If it costs
	 * more, functions are switched off permanently, the most expensive first, and reported by
	 * `warn`. */
	double budget;
	struct lp_warn *warn; /* may be NULL */
};

/* Columns of a function's row. */
enum {
	CALLS_COLUMN_N = 0,
	CALLS_COLUMN_NS,
	CALLS_COLUMN_OFF, /* the number of processes in which it is switched off */
	CALLS_COLUMNS
};

/* The schema of such rows. */
const struct lp_schema *calls_schema(void);

struct calls_totals {
	uint64_t programs;	 /* seen so far */
	uint64_t lost_functions; /* calls that were not counted, because programs have too many
				  * functions */
	uint64_t lost_threads;	 /* threads that were not counted */
	uint64_t left_out;	 /* programs that were not counted */
	uint64_t switched_off, switched_on; /* functions that limpet switched */
};

struct calls;

/* Begin to watch. The error of a failure says what to do. */
int calls_new(const struct calls_config *config, struct calls **ret, struct lp_err *err);
void calls_free(struct calls *c);

/* For the loop: loop_instrument.config is `c`, which must outlive the loop. */
const struct instrument *calls_instrument(const struct calls *c);

/* Without a loop: count the activity since the last call. */
int calls_look(struct calls *c, struct lp_err *err);

/* The approximate cost of counting a call on this machine, in ns. */
double calls_call_ns(const struct calls *c);

const struct calls_totals *calls_totals(const struct calls *c);
const struct named_rows *calls_counts(const struct calls *c);

#endif
