/* Groups in which many members are slow. Members that became slow together are accused. If the slow
 * ones may be the normal ones, no member is.
 *
 * The distance of two members is relative to the spread of all values of the group. If a quarter of
 * the members or more are slow, they widen that spread and hardly stand out. Instead, the group has
 * two classes. */
#ifndef DETECT_CROWD_H
#define DETECT_CROWD_H

#include "detect/weigh.h"

/* Add findings about the members of a class that became at least twice as slow as the others of its
 * group, if the class has at least a fifth, but less than half, of the members. The verdict must
 * have its tables, groups, parameters and series. 0 or -ENOMEM. */
int crowd_find(const struct lp_verdict *v, struct findings *f);

/* Find groups with two classes of latency, each with at least 40% of the members, one at least 1.5
 * times as slow as the other. limpet cannot decide which class is normal: it accuses no member of
 * such a group of slowness, and adds a reason to the verdict that lists both classes. If the slower
 * members are fewer, and became slow within the data, they are suspects all the same, because their
 * own past shows it. 0 or -ENOMEM. */
int crowd_judge(struct lp_verdict *v);

#endif
