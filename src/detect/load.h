/* Load: how much work a component did beside its peers, and what that explains. */
#ifndef DETECT_LOAD_H
#define DETECT_LOAD_H

#include <limpet/verdict.h>

/* Fill in load_ratio of the findings and decide what their load, or their peers' idleness,
 * explains: `explained_by_load`, `explained_by_idle`, and
 * `culprit` of those that merely work more. */
int load_judge(struct lp_verdict *v);

#endif
