#include "cli/stack_plan.h"

#include "base/strbuf.h"
#include "model/span.h"
#include "trace/stack/layer.h"
#include "trace/stack/places.h"
#include <errno.h>
#include <stdio.h>

static void regions_print(const struct stack_config *c)
{
	static const char *const kinds[] = {[PLACE_MARK] = "between marks of the program",
		[PLACE_FUNCTION] = "while the function is on the stack",
		[PLACE_LINES] = "while these lines are on the stack"};

	puts("Calls are recorded only inside these regions:");
	for (size_t i = 0; i < c->n_regions; i++)
		printf("  %-24s %s\n", c->regions[i].name, kinds[c->regions[i].kind]);
	for (size_t i = 0; i < c->n_regions; i++) {
		if (c->regions[i].kind != PLACE_MARK) {
			puts("The stack is examined in each call that is not inside another one, "
			     "which "
			     "takes 1 to 5 us.");
			break;
		}
	}
}

static void operations_print(const struct stack_config *c)
{
	const char *comma = "";

	fputs("Only these operations, and the calls that they become, are recorded: ", stdout);
	for (unsigned i = 0; i < SPAN_OPS; i++) {
		if (i != SPAN_MARK && c->operations >> i & 1) {
			printf("%s%s", comma, span_op_names[i]);
			comma = ", ";
		}
	}
	if (c->operations & STACK_COLLECTIVE)
		printf("%scollective", comma);
	putchar('\n');
}

static void functions_print(const struct stack_config *c)
{
	puts("Functions of libraries are recorded where the program or a library calls them by "
	     "name:");
	for (size_t i = 0; i < c->n_functions; i++)
		printf("  %-24s %s\n", c->functions[i].name, span_op_names[c->functions[i].op]);
}

int stack_plan_limits(const struct stack_config *c, char *const *command, struct lp_err *err)
{
	struct strbuf ranges = {0};
	int r = command && command[0] ? places_find(c, command, &ranges, err) : 0;

	strbuf_release(&ranges);
	if (r < 0)
		return r;
	if (c->n_regions)
		regions_print(c);
	if ((c->operations & ((1u << SPAN_OPS) - 1)) != (1u << SPAN_OPS) - 1)
		operations_print(c);
	if (c->n_functions)
		functions_print(c);
	return 0;
}
