/* The counts so far of a program that was built with `limpet cc`: its table, read once.
 *
 * The table belongs to the program, which may write anything into it, truncate it or remove it at
 * any time. Its contents are checked here; anything invalid is an error, never a crash.
 */
#ifndef TRACE_CALLS_READING_H
#define TRACE_CALLS_READING_H

#include "runtime/calls_table.h"

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise it. It can be filled repeatedly. */
struct calls_reading {
	struct calls_header header;
	struct calls_module *modules;	  /* header.n_modules items; their paths are terminated */
	struct calls_function *functions; /* header.n_functions items; their modules exist */
	struct calls_counter *totals;	  /* of each function, over all threads */
	uint8_t *off;			  /* [function] not 0: it is switched off */
	struct calls_counter *row;	  /* of one thread, during reading */
	size_t n_known;			  /* the number of functions before the last reading */
};

void calls_reading_release(struct calls_reading *r);

/* Read everything. -EAGAIN: the program is still creating it; -EBADMSG: it is not a table of
 * calls. */
int calls_reading_fill(struct calls_reading *r, int fd, struct lp_err *err);

/* The namespace in which the program has its id (header.pid_space; 0: unknown). -EAGAIN, -EBADMSG
 * likewise. */
int calls_reading_space(int fd, uint64_t *ret);

/* Switch a function on or off, in the table and here; it takes effect at its next call. -EBADF,
 * -EACCES: the table is not writable. */
int calls_reading_switch(struct calls_reading *r, int fd, size_t function, bool off);

#endif
