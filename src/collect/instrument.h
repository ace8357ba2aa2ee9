/* The interface of an instrument: anything that produces samples. All collectors together are one
 * (recorder.c), the tracer of system calls is another (trace/session.c). One loop drives them
 * (loop.h).
 *
 * Only the loop's thread calls an instrument, one function at a time.
 */
#ifndef COLLECT_INSTRUMENT_H
#define COLLECT_INSTRUMENT_H

#include "collect/collector.h"

/* The time of a sample. */
struct instant {
	int64_t wall_us, mono_us;
	bool last; /* there will be no further sample */
};

struct instrument {
	const char *name;
	/* Also sample when recording begins and ends. Other instruments are sampled only at
	 * multiples of the interval since 1970. */
	bool at_ends;

	/* Check whether it can work here, and prepare. If this fails, no file has been written yet.
	 * `config` is specific to the instrument and outlives it. */
	int (*open)(void *config, void **ret_state, struct lp_err *err);

	/* Begin. From now on until close() it may write to sink->spool. May be NULL. */
	int (*begin)(void *state, struct collect_sink *sink, struct lp_err *err);

	/* A descriptor that becomes readable when data is available, or -1. NULL: no descriptor;
	 * serve() itself waits. */
	int (*descriptor)(void *state);

	/* Process data that has arrived since the last call. An instrument without a descriptor
	 * waits up to `timeout_ms` or until a signal comes. Called when the descriptor is readable,
	 * several times per second in any case, and once before the last sample. Returns 1 if the
	 * instrument has ended and no more data will come. NULL: it is only sampled. */
	int (*serve)(void *state, int timeout_ms, struct lp_err *err);

	/* Fill the current sample of sink->batch. Returns 1 if its data does not fit into this
	 * sample, and it needs another one immediately (possible once, at the end). An error ends
	 * the loop. */
	int (*sample)(void *state, const struct instant *at, struct collect_sink *sink,
		struct lp_err *err);

	/* Stop watching. The last samples are written afterwards. Accepts NULL. */
	void (*close)(void *state);
};

#endif
