/* Does something for all nodes of a role, several at a time. */
#ifndef LAB_PARALLEL_H
#define LAB_PARALLEL_H

#include "lab/lab.h"

typedef int parallel_fn(struct lab *lab, struct lab_node *node, struct lp_err *err);

/* Call `fn` for every node of this role. After a failure it starts no further calls, and returns
 * the first failure when all calls have ended. The calling thread calls `done` after each; if that
 * returns false, it starts no further calls: -EINTR. */
typedef bool parallel_done(void *ctx, const struct lab_node *node, unsigned n_done, unsigned n);
int parallel_nodes(struct lab *lab, enum lab_role role, parallel_fn *fn, parallel_done *done,
	void *ctx, struct lp_err *err);

#endif
