/* Many that become slow together. The distance of two members is measured in terms of the spread of
 * all values of the group. Where a quarter of the members or more are slow, these are part of that
 * spread, and hardly stand out of it: the group falls into two classes instead. */
#ifndef DETECT_CROWD_H
#define DETECT_CROWD_H

#include "detect/weigh.h"

/* Add findings about the members of a class that became at least twice as slow as the others of its
 * group, if it has a fifth of the members or more, but fewer than half. The verdict has its tables,
 * groups, parameters and series. 0 or -ENOMEM. */
int crowd_find(const struct lp_verdict *v, struct findings *f);

#endif
