/* All spans of a recording, in memory: those of all its observers, in the order in which they
 * began.
 */
#ifndef TRACE_SPANS_H
#define TRACE_SPANS_H

#include "base/hash.h"
#include "model/span.h"
#include "trace/stack/gaps.h"

#include <limpet/dataset.h>
#include <stdbool.h>
#include <stddef.h>

#define SPANS_NONE UINT32_MAX
/* More than this is refused: 120 bytes each. */
#define SPANS_MAX (UINT32_C(1) << 27)

/* How an observer's clock differs from the others', according to the messages between them. */
struct spans_clock {
	int64_t offset_ns;  /* how far its clock was ahead; its spans are moved by that */
	int64_t error_ns;   /* uncertainty of the offset */
	uint64_t messages;  /* that say it */
	bool known, drifts; /* drifts: no single offset fits all messages */
};

struct spans {
	struct span *items;  /* their texts are ours */
	uint32_t *observers; /* [span] place in observer_names */
	uint8_t *layers;     /* [span] place in layers[]; LAYERS_UNKNOWN: it is none of them */
	size_t n, cap;
	char **observer_names;
	size_t n_observers, cap_observers;
	struct spans_clock *clocks; /* [observer], NULL: spans_align() was not called */
	struct strmap texts_by_text;
	char **texts;
	size_t n_texts, cap_texts;
	struct stack_gaps gaps; /* according to the recordings */
	struct job_sums sums;	/* of recordings that have sums only */
	char *drive;		/* that the configuration of the recording named; NULL: none */
};

#define LAYERS_UNKNOWN 0xff

/* Zero-initialise it. */
void spans_release(struct spans *s);

/* Copy a span. 0, -ENOMEM, -E2BIG. */
int spans_add(struct spans *s, const char *observer, const struct span *span);

/* When all have been added: sort them by their beginning, of equal ones the longer first. */
int spans_sort(struct spans *s);

/* Align the clocks of the observers by the messages between them (spans_align.c), and sort. A
 * server cannot have a request before its client sends it, nor the client the answer before the
 * server sends that, so each request says between which two values the difference of both clocks
 * is. Where 0 is possible nothing is moved. 0 or -ENOMEM. */
int spans_align(struct spans *s);

/* Read those of a dataset, align their clocks, and sort them. For a damaged file, the intact part
 * is read, and the result is -EBADMSG. */
int spans_read(struct spans *s, struct lp_dataset *ds, struct lp_err *err);

#endif
