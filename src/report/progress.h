/* The progress of long work, as one line on a terminal that is removed when the work is done. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Times are those of a steady clock, so that tests can use their own. */
struct progress {
	FILE *out; /* NULL: prints nothing */
	unsigned width;
	int64_t (*now_us)(void);
	int64_t begun_us, drawn_us;
	bool drawn; /* there is something to clear */
};

/* A progress that is drawn on `out` if that is a terminal, and not at all otherwise. */
void progress_begin(struct progress *p, FILE *out);

/* Report that the part `done`, 0 .. 1, of the work called `what` ("reading") is done. Draws at most
 * ten times per second, and only after half a second of work. `ctx` is a struct progress, or NULL,
 * so that this can be a callback. Call it from one thread. */
void progress_tell(void *ctx, const char *what, double done);

/* Clear the line, before anything else is printed or at the end. More may follow. */
void progress_clear(struct progress *p);

#endif
