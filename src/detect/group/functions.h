/* Functions of an observer taken together: one component, "oss3/functions:all", that is compared
 * with those of the other observers by its vector, one value for each function. */
#ifndef DETECT_GROUP_FUNCTIONS_H
#define DETECT_GROUP_FUNCTIONS_H

#include <limpet/table.h>

/* The kind of the components that are its dimensions. */
#define FUNCTION_KIND "function"

/* Add to every table that has functions a row for each observer, the total of its functions. The
 * rows of the functions stay. */
int functions_join(struct lp_table **tables, uint32_t n, struct lp_err *err);

/* Is a component such a row? */
bool functions_joined(const struct lp_identity *component);

#endif
