/* Idle moments: a wait of nothing is 0, so who has something to do in every second looks slow
 * beside peers that wait for work half of the time. */
#ifndef DETECT_IDLE_H
#define DETECT_IDLE_H

#include <limpet/verdict.h>

/* Is a finding's latency above that of its peers only because they were idle: is it, in the moments
 * when there was something to do, like theirs? False where that cannot be told. */
bool idle_explains(const struct lp_verdict *v, const struct lp_finding *f);

#endif
