/* Gone is not slow: what is not there, or does nothing, is kept apart from what limps. */
#ifndef EXPLAIN_ABSENCE_H
#define EXPLAIN_ABSENCE_H

#include "explain/context.h"

/* What the component of an absent finding lacks; LP_GONE_NOTHING: the finding is not about absence.
 */
enum lp_gone absence_of(const struct lp_verdict *v, const struct lp_finding *f);

/* May an absent finding be chance? A component of which little comes (a request now and then) has
 * quiet times. It is gone if, by what it had before, that hardly anything came in the middle half
 * of the finding's time is no chance. */
bool absence_is_chance(const struct lp_verdict *v, const struct lp_finding *f);

/* Move the absent suspects, and whoever follows from such, to the verdict's list of their own. The
 * last step of an explanation: positions of suspects change. */
int absence_set_apart(struct explain_context *ctx, struct lp_err *err);

#endif
