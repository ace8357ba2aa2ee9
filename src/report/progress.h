/* The progress of long work: a line on a terminal, which is removed at the end. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Times come from a steady clock; tests can use their own. */
struct progress {
	FILE *out; /* NULL: prints nothing */
	unsigned width;
	int64_t (*now_us)(void);
	int64_t begun_us, drawn_us;
	bool drawn; /* there is a line to clear */
};

/* Draw progress on `out` if it is a terminal; otherwise do nothing. */
void progress_begin(struct progress *p, FILE *out);

/* Report that the fraction `done`, 0 .. 1, of the work `what` ("reading") is done. Draws at most
 * ten times per second, and only after half a second of work. `ctx` is a struct progress, or NULL,
 * so that this can be a callback. Only one thread may call it. */
void progress_tell(void *ctx, const char *what, double done);

/* Clear the line, before other output or at the end. More progress may follow. */
void progress_clear(struct progress *p);

#endif
