/* Reads what traced programs leave in a directory: files of spans (runtime/spans_file.h), one per
 * process, which grow while they are read. The programs may write anything into them.
 */
#ifndef TRACE_SPANS_READING_H
#define TRACE_SPANS_READING_H

#include "model/span.h"
#include "trace/stack/job_sums.h"

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

struct spans_totals {
	uint64_t processes, spans;
	uint64_t visits; /* of regions of the program; not counted in `spans` */
	uint64_t lost;	 /* calls for which programs had no room */
	uint64_t open;	 /* spans that never ended */
	uint64_t
		killed; /* processes that did not end by themselves, though they called something */
	uint64_t refused;     /* processes that had no room for a file */
	uint64_t confined;    /* processes that were not recorded any more, because they gave up
			       * system calls */
	uint64_t rings;	      /* processes that used io_uring */
	uint64_t damaged;     /* records, or files, that make no sense */
	uint32_t called;      /* 1 << place in layers[]: layers that were called */
	uint32_t unserved;    /* ... that were not built for the program's library */
	int32_t n_ranks;      /* of the MPI job, 0: it is none */
	uint32_t ranks_seen;  /* processes that reported their rank */
	struct job_sums sums; /* if no spans were requested */
};

struct spans_reading;

/* Begin with a directory. Times are converted by adding `wall_offset_ns`. `fn` gets each span once;
 * the span's texts are valid during the call only. */
int spans_reading_new(const char *dir, int64_t wall_offset_ns,
	int (*fn)(void *ctx, const struct span *s), void *ctx, struct spans_reading **ret,
	struct lp_err *err);
void spans_reading_free(struct spans_reading *r);

/* Take complete spans; at the end, all. Files of processes that have ended are removed. */
int spans_reading_look(struct spans_reading *r, bool at_end, struct lp_err *err);

const struct spans_totals *spans_reading_totals(const struct spans_reading *r);

/* Did the last look find so much that the next one should come soon? Programs can reuse only a
 * limited amount of memory between two looks. */
bool spans_reading_is_busy(const struct spans_reading *r);

#endif
