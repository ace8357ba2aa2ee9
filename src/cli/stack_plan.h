/* What `limpet stack run --dry-run` prints about a configuration. */
#ifndef CLI_STACK_PLAN_H
#define CLI_STACK_PLAN_H

#include "trace/stack/stack_config.h"

/* Print regions, operations and functions, one sentence each. If there is a command (not NULL),
 * look for the regions in its program. */
int stack_plan_limits(const struct stack_config *c, char *const *command, struct lp_err *err);

#endif
