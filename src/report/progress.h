/* How far long work has come, as one line on a terminal that is gone when the work is done. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Times are of a clock that never steps, so that tests can have one of their own. */
struct progress {
	FILE *out; /* NULL: says nothing */
	unsigned width;
	int64_t (*now_us)(void);
	int64_t begun_us, drawn_us;
	bool drawn; /* there is something to clear */
};

/* A progress that is drawn on `out` if that is a terminal, and says nothing otherwise. */
void progress_begin(struct progress *p, FILE *out);

/* `done` of the work called `what` ("reading") is done, 0 .. 1. Draws at most ten times a second,
 * and only after half a second of work. `ctx` is a struct progress, or NULL: this is the shape of
 * a callback. Call it from one thread. */
void progress_tell(void *ctx, const char *what, double done);

/* Clear the line, before anything else is printed or at the end. More may follow. */
void progress_clear(struct progress *p);

#endif
