/* Where so many members of a group are slow that they are as likely the usual ones. */
#ifndef DETECT_CLASSES_H
#define DETECT_CLASSES_H

#include <limpet/verdict.h>

/* Groups whose members fall into two classes of latency, each of 40% of them or more, one of which
 * is 1.5 times as slow as the other or more: nobody can say which of them is right. Nobody is
 * accused of being slow there, and the verdict has a reason for not being able to tell, in which
 * both are listed. If the slower ones are fewer, and became so while they were looked at, they are
 * suspects all the same: their own past tells. 0 or -ENOMEM. */
int classes_judge(struct lp_verdict *v);

#endif
