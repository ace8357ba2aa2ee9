/* Sums of the calls of each layer, as samples: how many, how long, bytes, errors. */
#ifndef TRACE_LAYER_ROWS_H
#define TRACE_LAYER_ROWS_H

#include "model/span.h"
#include "trace/named_rows.h"

/* The columns. */
const struct lp_schema *layer_rows_schema(void);

/* NULL: out of memory. */
struct named_rows *layer_rows_new(const char *observer);

/* Count a span, unless it is a mark. 0 or -ENOMEM. */
int layer_rows_add(struct named_rows *rows, const struct span *s);

#endif
