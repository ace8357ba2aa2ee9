/* The budget for counting: which functions to switch off so that the rest stays within it.
 */
#ifndef TRACE_CALLS_BUDGET_H
#define TRACE_CALLS_BUDGET_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

struct calls_cost {
	const char *name;
	double calls; /* per second */
	size_t at;    /* an identifier for the caller */
	bool keep;    /* do not switch it off, whatever its cost */
	bool off;     /* chosen */
};

/* Choose the most expensive functions, one after the other, until the calls of the others are at
 * most `calls_max` per second; never those to keep. Sorts them by calls, the largest first. Returns
 * the remaining calls per second. */
double calls_budget_choose(struct calls_cost *costs, size_t n, double calls_max);

/* "2%" or "0.5%" of a CPU, as 0.02 or 0.005; more than 0, at most 100%. */
int calls_budget_parse(const char *text, double *ret, struct lp_err *err);

#endif
