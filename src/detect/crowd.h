/* Many that are slow: those that became so together are accused all the same; of those that are as
 * likely the usual ones nobody is.
 *
 * The distance of two members is measured in terms of the spread of
 * all values of the group. Where a quarter of the members or more are slow, these are part of that
 * spread, and hardly stand out of it: the group falls into two classes instead. */
#ifndef DETECT_CROWD_H
#define DETECT_CROWD_H

#include "detect/weigh.h"

/* Add findings about the members of a class that became at least twice as slow as the others of its
 * group, if it has a fifth of the members or more, but fewer than half. The verdict has its tables,
 * groups, parameters and series. 0 or -ENOMEM. */
int crowd_find(const struct lp_verdict *v, struct findings *f);

/* Groups whose members fall into two classes of latency, each of 40% of them or more, one of which
 * is 1.5 times as slow as the other or more: nobody can say which of them is right. Nobody is
 * accused of being slow there, and the verdict has a reason for not being able to tell, in which
 * both are listed. If the slower ones are fewer, and became so while they were looked at, they are
 * suspects all the same: their own past shows it. 0 or -ENOMEM. */
int crowd_judge(struct lp_verdict *v);

#endif
