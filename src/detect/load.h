/* Load: how much work a component did beside its peers, and what that explains. */
#ifndef DETECT_LOAD_H
#define DETECT_LOAD_H

#include <limpet/verdict.h>

/* Fill in load_ratio of the findings and decide what their load explains: `explained_by_load`, and
 * `culprit` of those that merely work more. */
int load_judge(struct lp_verdict *v);

#endif
