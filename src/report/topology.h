/* Prints which component is in which peer group, and a topology file to start from. */
#ifndef REPORT_TOPOLOGY_H
#define REPORT_TOPOLOGY_H

#include "model/topology.h"
#include <jansson.h>
#include <stdio.h>

/* Uses only components, groups and notes of the verdict. `t` may be NULL. */
void topology_print_text(FILE *out, const struct lp_verdict *v, const struct topology *t);
json_t *topology_json(const struct lp_verdict *v, const struct topology *t); /* NULL: no memory */

/* A topology file that sorts the components into the same groups, with comments. */
int topology_print_suggestion(FILE *out, const struct lp_verdict *v); /* 0 or -ENOMEM */

#endif
