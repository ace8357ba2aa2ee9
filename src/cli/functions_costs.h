/* The cost of counting functions: from recordings or from running programs. */
#ifndef CLI_FUNCTIONS_COSTS_H
#define CLI_FUNCTIONS_COSTS_H

#include "base/hash.h"
#include "trace/calls/calls.h"
#include <limpet/dataset.h>
#include <stdio.h>

struct function_cost {
	char *name;
	double calls; /* per second; the maximum of several servers */
	double ms;    /* self time per second; the same */
	bool off;     /* it is switched off on some server */
	bool telling; /* a finding named it */
};

/* Zero-initialise it. */
struct function_costs {
	struct function_cost *items;
	size_t n, cap;
	struct strmap index;
	double call_ns; /* the cost of counting a call */
	double calls;	/* total per second; of the server with the most */
};

void function_costs_release(struct function_costs *c);

/* The function with this name, added if it is new; NULL: out of memory. */
struct function_cost *function_costs_get(struct function_costs *c, const char *name);

/* Add the functions of recordings. On -EBADMSG (damage, already reported) those of the intact data
 * were added. */
int function_costs_read(struct function_costs *c, struct lp_dataset *ds, struct lp_err *err);

/* Add the activity of running programs during this time. */
int function_costs_watch(
	struct function_costs *c, struct calls *live, int64_t span_us, struct lp_err *err);

/* Print the `top` most expensive ones (0: all). */
void function_costs_print(FILE *out, const struct function_costs *c, size_t top);
int function_costs_json(FILE *out, const struct function_costs *c, size_t top);

#endif
