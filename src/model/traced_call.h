/* Lists of the system calls behind a suspect (limpet/verdict.h). */
#ifndef MODEL_TRACED_CALL_H
#define MODEL_TRACED_CALL_H

#include <limpet/verdict.h>

/* More would not be read. */
#define TRACED_CALLS_MAX 20

/* Add a copy of a call, unless it is there or the list is full. 0 or -ENOMEM. */
int traced_calls_add(struct lp_traced_call **list, uint32_t *n, const struct lp_traced_call *call);

/* Add copies of all calls of another list. */
int traced_calls_add_all(struct lp_traced_call **list, uint32_t *n,
	const struct lp_traced_call *from, uint32_t n_from);

void traced_calls_free(struct lp_traced_call *list, uint32_t n);

#endif
