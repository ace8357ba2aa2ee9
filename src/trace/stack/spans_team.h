/* Reading a dataset by several processes together: each reads a part of its files, and the first
 * one gets the spans of all, in the order in which one process alone would have read them.
 */
#ifndef TRACE_STACK_SPANS_TEAM_H
#define TRACE_STACK_SPANS_TEAM_H

#include "base/team.h"
#include "trace/stack/spans.h"

/* The spans that were read from one file: those from `first` on. */
struct spans_part {
	uint64_t file; /* how manieth of the dataset */
	size_t first, end;
};

/* Pack the parts for other processes. `error`: the error of this one; 0: none. */
int spans_team_pack(const struct spans *s, const struct spans_part *parts, size_t n_parts,
	int error, struct strbuf *ret);

/* Add the parts that all have packed to an empty `s`, file by file. Returns the first error of any
 * of them; -EBADMSG: the packed data makes no sense. */
int spans_team_unpack(struct spans *s, const char *data, const uint64_t *sizes, int n);

/* Like spans_read(); processes other than the first get nothing. NULL: this process is alone. */
int spans_read_together(
	struct spans *s, struct lp_dataset *ds, const struct team *team, struct lp_err *err);

#endif
