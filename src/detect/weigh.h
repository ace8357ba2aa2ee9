/* From marks to findings: members that differ for long enough, or by enough, to matter. */
#ifndef DETECT_WEIGH_H
#define DETECT_WEIGH_H

#include "detect/compare/compare.h"
#include "detect/steady.h"

/* A list of findings in the making. */
struct findings {
	struct lp_finding *items;
	size_t n, cap;
	/* Step 6 fired, but the weight was too small; n_passed: it ended before the data, n_slight:
	 * it continued. */
	uint32_t n_passed, n_slight;
};

/* Add the findings of a comparison. It is series number `series`. */
int weigh_comparison(const struct comparison *c, uint32_t series, struct findings *f);

/* Does this side of the peers make a culprit? */
bool weigh_culprit(enum lp_role role, enum lp_mark direction);

/* The weight that `n_windows` windows must reach, in a span of `span` windows: 1 per window, which
 * is the weight of a constant factor of 1.8; half of it for steady differences, twice as much for
 * unsteady ones. It never exceeds that of a whole span, because chance does not add up. */
double weigh_bar(double n_windows, double span, enum steadiness steady);

#endif
