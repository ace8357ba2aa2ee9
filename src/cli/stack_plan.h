/* What `limpet stack run --dry-run` says of a configuration. */
#ifndef CLI_STACK_PLAN_H
#define CLI_STACK_PLAN_H

#include "trace/stack/stack_config.h"

/* Regions, operations and functions, one sentence each; with a command (NULL: none) regions are
 * looked for in its program. */
int stack_plan_limits(const struct stack_config *c, char *const *command, struct lp_err *err);

#endif
