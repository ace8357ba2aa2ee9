/* Which functions are to blame for findings about vectors. */
#ifndef DETECT_BLAME_H
#define DETECT_BLAME_H

#include "detect/detect.h"

/* Give every finding about a vector its dimensions: those that are farthest from the median peer,
 * summed over its anomalous windows. Series and tables must be there. `whole`: all windows of the
 * series were compared at once. 0 or -ENOMEM. */
int blame_functions(struct lp_verdict *v, const struct detect_options *opt, bool whole);

#endif
