/* The traces of a dataset, read into one picture. */
#ifndef EXPLAIN_SEMANTIC_READ_H
#define EXPLAIN_SEMANTIC_READ_H

#include "explain/semantic_traces.h"
#include <limpet/dataset.h>

/* Read the logs of system calls and descriptors, and the rows `sys` and `peer`, of all archives,
 * from `from_us` up to `to_us` (0: no beginning, no end). Of data without such logs nothing is read
 * but their heads. `*ret_any`: there are such logs. On -EBADMSG (damage, told through `warn`) what
 * is good is there all the same. `t` is initialised as traces_release() says. */
int semantic_read(struct lp_dataset *ds, const struct hosts *hosts, int64_t from_us, int64_t to_us,
	struct lp_warn *warn, struct traces *t, bool *ret_any, struct lp_err *err);

#endif
