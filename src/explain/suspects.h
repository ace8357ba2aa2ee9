/* Who is a suspect, and who merely differs. */
#ifndef EXPLAIN_SUSPECTS_H
#define EXPLAIN_SUSPECTS_H

#include "explain/inquiry.h"

/* Make q->v->suspects (components with a finding that makes a culprit) and q->v->asymmetries (the
 * others that have findings) from the fates of the findings, with ranks but without causes. Muted
 * suspects are counted and left out. */
int suspects_gather(struct inquiry *q, struct lp_err *err);

/* Bring the findings of a suspect, whose cause is known, into order: the most telling first. */
void suspects_order_findings(const struct inquiry *q, struct lp_suspect *s);

#endif
