/* Which functions are to blame for findings about vectors. */
#ifndef DETECT_BLAME_H
#define DETECT_BLAME_H

#include "detect/compare/function_weights.h"
#include <limpet/verdict.h>

/* Give every finding about a vector its dimensions: those that are farthest from the median peer,
 * summed over its anomalous windows. Series and tables must be there. `weights` may be NULL;
 * `whole`: all windows of the series were compared at once. 0 or -ENOMEM. */
int blame_functions(struct lp_verdict *v, const struct function_weights *weights, bool whole);

#endif
