/* Suspects that are one problem become one incident. */
#ifndef EXPLAIN_COALESCE_H
#define EXPLAIN_COALESCE_H

#include "explain/inquiry.h"

/* Make q->v->incidents, ranked, from the suspects (with causes and evidence). */
int coalesce_suspects(struct inquiry *q, struct lp_err *err);

#endif
