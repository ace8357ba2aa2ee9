/* Missing is not slow. Components that are missing, or do nothing, are separate from those that
 * limp. */
#ifndef EXPLAIN_ABSENCE_H
#define EXPLAIN_ABSENCE_H

#include "explain/context.h"

/* The missing part in an absent finding; LP_GONE_NOTHING: the finding is not about absence. */
enum lp_gone absence_of(const struct lp_verdict *v, const struct lp_finding *f);

/* May an absent finding be chance? A component with few requests has quiet times. It is gone if its
 * past shows that chance does not explain why hardly any requests came in the middle half of the
 * finding's time. */
bool absence_is_chance(const struct lp_verdict *v, const struct lp_finding *f);

/* Move the absent suspects, and those that follow from them, to a separate list of the verdict.
 * This is the last step of an explanation: the indexes of suspects change. */
int absence_set_apart(struct explain_context *ctx, struct lp_err *err);

#endif
