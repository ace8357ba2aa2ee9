/* The beginning of a verdict: tables become its own, and every component gets a number. */
#ifndef DETECT_GROUP_VERDICT_TABLES_H
#define DETECT_GROUP_VERDICT_TABLES_H

#include <limpet/verdict.h>

/* Take over the tables (also the array, also after a failure) and fill in components, in the order
 * of their first appearance, and row_of. */
int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err);

#endif
