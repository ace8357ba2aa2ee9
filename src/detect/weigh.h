/* From marks to findings: members that differ for long enough, or by enough, to count. */
#ifndef DETECT_WEIGH_H
#define DETECT_WEIGH_H

#include "detect/compare/compare.h"
#include "detect/steady.h"

/* Findings while they are gathered. */
struct findings {
	struct lp_finding *items;
	size_t n, cap;
	/* Step 6 fired, but the weight was too small: it was over before the end of the data, or
	 * still lasted. */
	uint32_t n_passed, n_slight;
};

/* Add the findings of a comparison, which is series number `series`. */
int weigh_comparison(const struct comparison *c, uint32_t series, struct findings *f);

/* Does this side of the peers make a culprit? */
bool weigh_culprit(enum lp_role role, enum lp_mark direction);

/* The weight that must be reached with `n_windows` out of a span of that many: one per window,
 * which is the weight of being 1.8 times off all the time; half of it for steady differences, twice
 * as much for unsteady ones; and never more than a whole span takes, since chance does not add
 * up. */
double weigh_bar(double n_windows, double span, enum steadiness steady);

#endif
