#include "trace/calls/calls_budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int most_first(const void *a, const void *b)
{
	const struct calls_cost *x = a, *y = b;

	return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->name, y->name);
}

double calls_budget_choose(struct calls_cost *costs, size_t n, double calls_max)
{
	double left = 0;

	if (n)
		qsort(costs, n, sizeof(*costs), most_first);
	for (size_t i = 0; i < n; i++)
		left += costs[i].calls;
	for (size_t i = 0; i < n && left > calls_max; i++) {
		costs[i].off = !costs[i].keep && costs[i].calls > 0;
		left -= costs[i].off ? costs[i].calls : 0;
	}
	return left > 0 ? left : 0;
}

int calls_budget_parse(const char *text, double *ret, struct lp_err *err)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") != 0 || !(percent > 0) || percent > 100)
		return lp_err_set(err, -EINVAL,
			"--budget must be a share of a CPU above 0%% and up to 100%%, such as 2%%, "
			"not '%s'",
			text);
	*ret = percent / 100;
	return 0;
}
