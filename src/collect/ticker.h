/* Decides when to sample. The recorder uses a ticker instead of the system's clock, so that a
 * recorded tree can be replayed with its own times, and tests can make clocks jump.
 */
#ifndef COLLECT_TICKER_H
#define COLLECT_TICKER_H

#include "collect/procfile.h"
#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

enum ticker_event {
	TICKER_DUE = 0,	  /* the time has come */
	TICKER_AGAIN = 1, /* the clock was set: check the time and wait again */
	TICKER_STOP = 2,  /* no more samples: a signal came, or the recording is over */
};

struct ticker {
	bool patient;	     /* its time waits for the recorder, like that of a recorded tree */
	int64_t interval_us; /* between its instants, 0: any interval */
	/* The wall clock, and a clock that never steps. */
	void (*now)(struct ticker *t, int64_t *ret_wall_us, int64_t *ret_mono_us);
	/* Wait until a time of the wall clock. Returns an enum ticker_event, or a negative
	 * errno. */
	int (*wait)(struct ticker *t, int64_t until_wall_us, struct lp_err *err);
	/* For callers that also wait for other descriptors: after arm(), `fd` becomes readable when
	 * wait() for that time would return immediately. -1: wait() never waits. */
	int fd;
	int (*arm)(struct ticker *t, int64_t until_wall_us, struct lp_err *err);
	void (*free)(struct ticker *t);
};

/* The system's clock; SIGTERM, SIGINT and SIGHUP stop it. It blocks them in the calling thread,
 * except those that are ignored (nohup). */
int ticker_system(struct ticker **ret, struct lp_err *err);

/* The times of a tree of several moments, DIR/20240301T120000Z/proc and so on. `root` moves from
 * one moment to the next. -ENOENT: DIR has no such directories. */
int ticker_replay(const char *dir, struct proc_root *root, struct ticker **ret, struct lp_err *err);

void ticker_free(struct ticker *t); /* accepts NULL */

#endif
