/* Stragglers: components that work on alone while their peers have finished. Peers share a job; one
 * that has the same part of it as the others, but needs many times as long, is slow, although at
 * any moment it does as much work as its peers or more. */
#ifndef DETECT_STRAGGLE_H
#define DETECT_STRAGGLE_H

#include "detect/weigh.h"

/* Add a finding for each component of a verdict that straggled, at the last job in which it did.
 * The verdict has its tables, groups and series. 0 or -ENOMEM. */
int straggle_find(const struct lp_verdict *v, struct findings *f);

#endif
