/* Command-line options as tables. One row per option defines parsing, `limpet help` and the manual.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_FLAG,   /* bool: set by its presence */
	OPTION_STRING, /* const char * */
	OPTION_LIST,   /* struct option_list: may be given several times */
	OPTION_PAIRS,  /* struct option_list: the same, with two words each time */
	OPTION_UINT,   /* uint64_t */
	OPTION_SPAN,   /* int64_t microseconds: "100ms", "5m" */
	OPTION_TIME,   /* int64_t microseconds since 1970 UTC: "12:34", "1h" ago, "yesterday" */
	OPTION_BYTES,  /* uint64_t: "10M", "2G" (powers of 1024) */
};

struct option_def {
	const char *name; /* "interval": the long form without dashes; NULL ends a table */
	char letter;	  /* 'i' for -i, or 0 */
	enum option_type type;
	size_t offset;	  /* of the member that receives the value */
	const char *arg;  /* "SPAN": the name of the argument in the help; NULL for flags */
	const char *help; /* what it does, with the default in brackets */
};

#define OPTION_LIST_MAX 64

struct option_list {
	const char *items[OPTION_LIST_MAX];
	unsigned n;
};

/* Parse `argv[1..argc-1]` into `values` by the given tables (`n_tables` of them, so that a
 * command's and an importer's options can be used together). Other arguments are moved to the
 * beginning of `argv` (from argv[0] on), in order, and counted in `*ret_n_args`. "--" ends options,
 * "--name=value" and "--name value" are the same, as are "-oX" and "-o X". -EINVAL: `err` says
 * why. */
struct option_table {
	const struct option_def *defs; /* may be NULL */
	void *values;
};

/* The position of options. */
enum option_order {
	OPTION_ANYWHERE,
	OPTION_IN_FRONT, /* the first argument ends them: the rest is the command line of another
			  * program
			  */
};

int option_parse(int argc, char **argv, const struct option_table *tables, size_t n_tables,
	enum option_order order, int *ret_n_args, struct lp_err *err);

/* Parse a size such as "10M". */
int bytes_parse(const char *text, uint64_t *ret_bytes, struct lp_err *err);

#endif
