/* The functions worth counting, from recordings: the decision of `limpet functions --select`. */
#ifndef CLI_FUNCTIONS_SELECT_H
#define CLI_FUNCTIONS_SELECT_H

#include "cli/functions_costs.h"
#include <limpet/options.h>
#include <stdio.h>

struct functions_choice {
	size_t n_on, n_off, n_telling;
	double calls; /* remaining calls per second, of the server with the most */
};

/* Mark the functions that a diagnosis of the data accuses. Data that cannot be judged (of a single
 * server) accuses none. */
int functions_find_telling(struct function_costs *c, struct lp_dataset *ds,
	const struct lp_diagnose_options *how, struct lp_err *err);

/* Set `off` of each function: switch off those that were never accused, the most expensive ones
 * first, until the rest costs at most `budget` of a CPU; with `few`, switch off all of them. 0 or
 * -ENOMEM. */
int functions_choose(
	struct function_costs *c, double budget, bool few, struct functions_choice *ret);

/* Write the choice as a list (runtime/calls_list.h). 0 or a negative errno. */
int functions_write(FILE *out, const struct function_costs *c, const struct functions_choice *how);

#endif
