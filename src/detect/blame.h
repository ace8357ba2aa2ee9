/* Which functions cause findings about vectors. */
#ifndef DETECT_BLAME_H
#define DETECT_BLAME_H

#include "detect/detect.h"

/* Give every finding about a vector its dimensions: those with the largest distances from the
 * median peer, summed over the anomalous windows. The verdict must have its series and tables.
 * `whole`: all windows of the series were compared at once. 0 or -ENOMEM. */
int blame_functions(struct lp_verdict *v, const struct detect_options *opt, bool whole);

#endif
