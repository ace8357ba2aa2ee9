/* The interface of an instrument: anything that produces samples. All collectors together are one
 * (recorder.c), the tracer of system calls is another (trace/session.c). One loop drives them
 * (loop.h).
 *
 * Only the loop's thread calls an instrument, one function at a time.
 */
#ifndef COLLECT_INSTRUMENT_H
#define COLLECT_INSTRUMENT_H

#include "collect/collector.h"

/* When a sample is taken. */
struct instant {
	int64_t wall_us, mono_us;
	bool last; /* there will be no further sample */
};

struct instrument {
	const char *name;
	/* Also sampled when recording begins and ends. Other instruments are sampled only at
	 * instants that are a whole number of intervals since 1970. */
	bool at_ends;

	/* Check whether it can work here, and prepare. If this fails, nothing has been written yet.
	 * `config` belongs to the instrument and outlives it. */
	int (*open)(void *config, void **ret_state, struct lp_err *err);

	/* Begin: there is a spool to write to, sink->spool, until close(). May be NULL. */
	int (*begin)(void *state, struct collect_sink *sink, struct lp_err *err);

	/* A descriptor that is readable when there is something to serve, or -1. NULL: none, and
	 * serve() itself waits. */
	int (*descriptor)(void *state);

	/* Process what has arrived since the last call. An instrument without a descriptor waits up
	 * to `timeout_ms` or until a signal comes. Called when the descriptor is readable, several
	 * times per second in any case, and once before the last sample. 1: it has ended, and
	 * nothing more will come. NULL: it is only sampled. */
	int (*serve)(void *state, int timeout_ms, struct lp_err *err);

	/* Fill the current sample of sink->batch. 1: its data does not fit into this sample, and it
	 * needs another one immediately (asked for once, at the end). An error ends the loop. */
	int (*sample)(void *state, const struct instant *at, struct collect_sink *sink,
		struct lp_err *err);

	/* Stop watching. The last samples are written after that. Accepts NULL. */
	void (*close)(void *state);
};

#endif
