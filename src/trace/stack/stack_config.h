/* What `limpet stack run` is to record: a YAML file, or one of those that are built in.
 *
 *     application: flash_io     # what the program is called; others that it runs are left alone
 *     regions: [checkpoint]     # marks of the program (limpet/region.h); none: all of it
 *     operations: [read, write] # none: all
 *     layers: [mpi-io, posix]
 */
#ifndef TRACE_STACK_CONFIG_H
#define TRACE_STACK_CONFIG_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

struct stack_config {
	char *application; /* NULL: whatever is run */
	char **regions;
	size_t n_regions;    /* 0: the whole program */
	uint32_t operations; /* 1 << enum span_op */
	uint32_t layers;     /* 1 << place in layers[] */
};

void stack_config_release(struct stack_config *c);

/* From a text; `name` is what messages call it. What is wrong is said with its line. Write it only
 * into a zeroed `ret`, which is released also after a failure. */
int stack_config_parse(const char *text, size_t len, const char *name, struct stack_config *ret,
	struct lp_err *err);

/* From the file, or that of the built-in ones which is called `name`. */
int stack_config_load(const char *name, struct stack_config *ret, struct lp_err *err);

/* The built-in ones, behind the last one a row without a name. */
struct stack_builtin {
	const char *name, *summary, *text;
};
extern const struct stack_builtin stack_builtins[];

#endif
