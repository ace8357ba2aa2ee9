/* Collectors of programs. The output of a program becomes rows, which are repeated until the next
 * output. */
#ifndef COLLECT_PROGRAM_ROWS_H
#define COLLECT_PROGRAM_ROWS_H

#include "collect/collector.h"
#include "collect/parse.h"
#include "collect/program.h"
#include <limpet/batch.h>

#define PROGRAM_ROWS_US INT64_C(10000000)
#define PROGRAM_ROWS_PROGRAMS_MAX 2
#define PROGRAM_ROWS_COLUMNS_MAX 16

struct program_rows;

struct program_rows_def {
	const char *what; /* "GPFS", for messages */
	const struct lp_schema *schema;
	struct program_def programs[PROGRAM_ROWS_PROGRAMS_MAX]; /* the first is required */
	/* Make rows from the output of each program. 0 or -ENOMEM. */
	int (*take[PROGRAM_ROWS_PROGRAMS_MAX])(struct program_rows *r, const char *text);
};

/* A collector's functions with the same names call these. */
int program_rows_open(const struct program_rows_def *def, const struct collect_config *config,
	void **ret_state, struct lp_err *err);
int program_rows_sample(void *state, struct collect_sink *sink, struct lp_err *err);
void program_rows_close(void *state); /* accepts NULL */

/* For `take`: add a component and its values, one per column. */
int program_rows_put(struct program_rows *r, const char *name, const int64_t *values);

#endif
