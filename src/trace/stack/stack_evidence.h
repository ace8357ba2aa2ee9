/* Calls of a program as evidence: the verdict about a suspected server quotes the call that waited
 * for it longest, "call 16 of rank 2 waited 11.2 of 12.0 s for s3's disk". */
#ifndef TRACE_STACK_EVIDENCE_H
#define TRACE_STACK_EVIDENCE_H

#include "trace/stack/stack_metrics.h"

#include <limpet/dataset.h>
#include <limpet/verdict.h>

/* May the verdict be about data of `limpet stack`? */
bool stack_evidence_applies(const struct lp_verdict *v);

/* Add a sentence to each suspect whose host is a server of these calls, and a note about the
 * slowest call of all. 0 or -ENOMEM. */
int stack_evidence_add(struct lp_verdict *v, const struct stack_metrics *m);

/* The same with the calls of a dataset; nothing if stack_evidence_applies() returns false or if it
 * has no calls. Damaged parts are left out. */
int stack_evidence_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err);

#endif
