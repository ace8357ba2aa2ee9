/* The cost of counting functions: from recordings or from running programs. */
#ifndef CLI_FUNCTIONS_COSTS_H
#define CLI_FUNCTIONS_COSTS_H

#include "base/hash.h"
#include "trace/calls/calls.h"
#include <limpet/dataset.h>
#include <stdio.h>

struct function_cost {
	char *name;
	double calls; /* per second; of several servers the largest */
	double ms;    /* of self time per second, likewise */
	bool off;     /* it is switched off somewhere */
	bool telling; /* a finding named it */
};

/* Zero-initialise it. */
struct function_costs {
	struct function_cost *items;
	size_t n, cap;
	struct strmap index;
	double call_ns; /* the cost of counting a call */
	double calls;	/* per second, in total; of the server with most */
};

void function_costs_release(struct function_costs *c);

/* The function of that name, added if it is new; NULL: out of memory. */
struct function_cost *function_costs_get(struct function_costs *c, const char *name);

/* Add the functions of recordings. On -EBADMSG (damage, already reported) those of the intact data
 * are there. */
int function_costs_read(struct function_costs *c, struct lp_dataset *ds, struct lp_err *err);

/* Add the activity of running programs in this time. */
int function_costs_watch(
	struct function_costs *c, struct calls *live, int64_t span_us, struct lp_err *err);

/* The `top` most expensive ones (0: all). */
void function_costs_print(FILE *out, const struct function_costs *c, size_t top);
int function_costs_json(FILE *out, const struct function_costs *c, size_t top);

#endif
