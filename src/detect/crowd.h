/* Groups in which many members are slow: members that became slow together are accused; if the slow
 * ones may as well be the normal ones, nobody is.
 *
 * The distance of two members is measured in terms of the spread of all values of the group. If a
 * quarter of the members or more are slow, they are part of that spread, and hardly stand out of
 * it: the group falls into two classes instead. */
#ifndef DETECT_CROWD_H
#define DETECT_CROWD_H

#include "detect/weigh.h"

/* Add findings about the members of a class that became at least twice as slow as the others of its
 * group, if it has a fifth of the members or more, but fewer than half. The verdict has its tables,
 * groups, parameters and series. 0 or -ENOMEM. */
int crowd_find(const struct lp_verdict *v, struct findings *f);

/* Find groups whose members fall into two classes of latency, each of at least 40% of them, one at
 * least 1.5 times as slow as the other: limpet cannot decide which of them is right. It accuses no
 * member of such a group of being slow, and the verdict gets a reason that lists both classes. If
 * the slower ones are fewer, and became slow during the data, they are suspects all the same: their
 * own past shows it. 0 or -ENOMEM. */
int crowd_judge(struct lp_verdict *v);

#endif
