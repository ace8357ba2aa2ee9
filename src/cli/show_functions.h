/* `limpet show --functions`: busy functions. */
#ifndef CLI_SHOW_FUNCTIONS_H
#define CLI_SHOW_FUNCTIONS_H

#include "base/option.h"
#include <limpet/dataset.h>

struct show_functions {
	uint64_t top;
	const char *diff;  /* "oss1,oss3" */
	int64_t split_us;  /* before and after this time */
	const char *flame; /* a file to write */
};

/* Print what the options select from the data in `range`. */
int show_functions(struct lp_dataset *ds, const struct show_functions *o,
	const struct lp_table_options *range, bool json, struct lp_err *err);

#endif
