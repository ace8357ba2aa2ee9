/* From marks to findings: who is out of step so long, or so far, that it counts. */
#ifndef DETECT_WEIGH_H
#define DETECT_WEIGH_H

#include "detect/compare/compare.h"
#include "detect/steady.h"

/* Findings while they are gathered. */
struct findings {
	struct lp_finding *items;
	size_t n, cap;
	/* Step 6 fired, but it did not weigh enough: it was over before the end of the data, or was
	 * still so then. */
	uint32_t n_passed, n_slight;
};

/* Add the findings of a comparison, which is series number `series`. */
int weigh_comparison(const struct comparison *c, uint32_t series, struct findings *f);

/* Is this the side of the peers that makes a culprit? */
bool weigh_culprit(enum lp_role role, enum lp_mark direction);

/* What must be reached when there are `n_windows`, of a span of so many: one per window, as much as
 * being 1.8 times off all the time, half of it where that is steady, and twice as much where it is
 * not; and never more than what a whole span takes, since chance does not add up. */
double weigh_bar(double n_windows, double span, enum steadiness steady);

#endif
