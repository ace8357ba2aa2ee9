/* Stragglers: components that continue to work alone when their peers have finished. Peers share a
 * job. A component with the same share that needs many times as long is slow, although at any
 * moment it does at least as much work as its peers. */
#ifndef DETECT_STRAGGLE_H
#define DETECT_STRAGGLE_H

#include "detect/weigh.h"

/* Add a finding for each component of a verdict that straggled, for the last job in which it did.
 * The verdict must have its tables, groups and series. 0 or -ENOMEM. */
int straggle_find(const struct lp_verdict *v, struct findings *f);

#endif
