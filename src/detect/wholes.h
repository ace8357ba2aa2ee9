/* Observers that became slow as a whole. If observers differ as a whole, components are compared
 * only with others of the same observer, so slowness of all of them does not show. The past shows
 * it: each observer is compared with its own beginning, and its change since then with the changes
 * of the others. An observer that was slow from the beginning is a class of its own.
 */
#ifndef DETECT_WHOLES_H
#define DETECT_WHOLES_H

#include "detect/weigh.h"

/* Add findings about the components of observers that became slow as a whole, to be reported as
 * one. The verdict must have its tables, groups, parameters and series. 0 or -ENOMEM. */
int wholes_find(struct lp_verdict *v, struct findings *f);

#endif
