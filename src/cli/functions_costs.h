/* What functions cost to be counted: gathered from recordings or from running programs. */
#ifndef CLI_FUNCTIONS_COSTS_H
#define CLI_FUNCTIONS_COSTS_H

#include "base/hash.h"
#include "trace/calls/calls.h"
#include <limpet/dataset.h>
#include <stdio.h>

struct function_cost {
	char *name;
	double calls; /* per second; of several servers that of the one with most */
	double ms;    /* of self time per second, likewise */
	bool off;     /* it is switched off somewhere */
	bool telling; /* a finding was about it */
};

/* Zero-initialise it. */
struct function_costs {
	struct function_cost *items;
	size_t n, cap;
	struct strmap index;
	double call_ns; /* what counting a call costs */
	double calls;	/* per second, of all; of the server with most */
};

void function_costs_release(struct function_costs *c);

/* The function of that name, added if it is new; NULL: out of memory. */
struct function_cost *function_costs_get(struct function_costs *c, const char *name);

/* Add what recordings have. On -EBADMSG (damage, reported already) what is good is there. */
int function_costs_read(struct function_costs *c, struct lp_dataset *ds, struct lp_err *err);

/* Add what running programs do in this time. */
int function_costs_watch(
	struct function_costs *c, struct calls *live, int64_t span_us, struct lp_err *err);

/* The `top` dearest (0: all). */
void function_costs_print(FILE *out, const struct function_costs *c, size_t top);
int function_costs_json(FILE *out, const struct function_costs *c, size_t top);

#endif
