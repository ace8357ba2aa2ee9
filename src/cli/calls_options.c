#include "cli/calls_options.h"

#include "trace/calls/calls_budget.h"

int calls_options_apply(struct calls_choice *o, struct calls_config *config, struct lp_err *err)
{
	int r = o->budget ? calls_budget_parse(o->budget, &config->budget, err) : 0;

	if (r == 0 && o->functions) {
		r = function_list_read(o->functions, &o->list, err);
		config->list = &o->list;
	}
	return r;
}
