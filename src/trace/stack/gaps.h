/* What is missing from a recording of calls: reported when it ends, kept in the archive as a
 * remark, and reported again whenever the recording is shown. */
#ifndef TRACE_STACK_GAPS_H
#define TRACE_STACK_GAPS_H

#include "trace/stack/spans_reading.h"

#include <jansson.h>
#include <stdio.h>

struct stack_gaps {
	uint64_t lost, killed, open, damaged;
	uint64_t refused, confined, rings; /* as in struct spans_totals */
	uint64_t gone, late; /* daemons that ended, and that were found later than others */
	int64_t n_ranks, ranks_seen;
	bool unentered;	   /* the regions of the configuration were never entered */
	uint32_t uncalled; /* 1 << place in layers[]: recorded, but never called */
	uint32_t
		unserved; /* ... of which the program has a library that limpet was not built for */
};

#define STACK_GAPS_TEXT 448

/* Find out from the totals what is missing. The layers `recorded` should have been recorded by
 * libraries, in all of the program or `in_regions` only. */
struct stack_gaps stack_gaps_of(const struct spans_totals *t, uint32_t recorded, bool in_regions);

bool stack_gaps_any(const struct stack_gaps *g);

/* As a remark: "kind=stack-gaps lost=3 killed=1 ...". */
void stack_gaps_format(const struct stack_gaps *g, char buf[STACK_GAPS_TEXT]);

/* Add those of a remark to `g`; any other text is none. */
void stack_gaps_add(struct stack_gaps *g, const char *remark);

/* Print how many daemons ended, how many were found later, and what is missing because of it. */
void stack_gaps_print_daemons(FILE *out, uint64_t gone, uint64_t late);

/* Print one sentence for each gap. */
void stack_gaps_print(FILE *out, const struct stack_gaps *g);
json_t *stack_gaps_json(const struct stack_gaps *g);

#endif
