/* Tables as values: aligned text, CSV that `limpet import csv` can read, or JSON. */
#ifndef REPORT_VALUES_H
#define REPORT_VALUES_H

#include <limpet/table.h>
#include <stdio.h>

/* The position of a piece of time, if there are several. */
#define VALUES_FIRST 1u
#define VALUES_LAST 2u
#define VALUES_WHOLE (VALUES_FIRST | VALUES_LAST)

/* One line per time and component, one column per metric. Lines without any value are left out. */
int values_print_text(
	FILE *out, struct lp_table *const *tables, uint32_t n, bool colour, struct lp_err *err);

/* time,component,metric,value; missing values are left out. */
int values_print_csv(
	FILE *out, struct lp_table *const *tables, uint32_t n, unsigned which, struct lp_err *err);

/* {"tables":[{"metric","unit","start","step_s","components":[..],"values":[[..],..]}]}; missing
 * values are null. Each piece of time has separate tables. */
void values_print_json(FILE *out, struct lp_table *const *tables, uint32_t n, unsigned which);

/* A name as a CSV field, quoted if necessary, and safe for terminals and spreadsheets. The caller
 * frees it; NULL: out of memory. */
char *values_csv_field(const char *text);

#endif
