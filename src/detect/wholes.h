/* Whole observers that became slow. Where observers differ as wholes, their components are compared
 * with those of the same observer only, and slowness that all of these share does not show. It does
 * beside the past: each observer is compared with itself as it was at the beginning, and how much
 * it changed since then with how much the others did. Who was slow from the beginning is a class.
 */
#ifndef DETECT_WHOLES_H
#define DETECT_WHOLES_H

#include "detect/weigh.h"

/* Add findings about the components of observers that became slow as wholes, to be reported as one.
 * The verdict has its tables, groups, parameters and series. 0 or -ENOMEM. */
int wholes_find(struct lp_verdict *v, struct findings *f);

#endif
