/* Binds a metric to the columns of a schema. */
#ifndef MODEL_BIND_H
#define MODEL_BIND_H

#include <limpet/batch.h>
#include <limpet/metric.h>

#define BIND_TERMS_MAX 12

/* One column of a sum. */
struct bind_term {
	uint16_t column;
	uint8_t bits; /* of a counter */
	bool counter;
	bool optional; /* counts as 0 if it is missing */
};

/* One input: the sum of some columns. */
struct bind_input {
	struct bind_term terms[BIND_TERMS_MAX];
	uint32_t n;
	bool gauge; /* its mean counts, not its growth */
};

/* How one metric is computed from components of one schema. */
struct bind {
	const struct lp_metric *metric; /* NULL: the column itself is the metric */
	uint32_t column;		/* in that case: which column */
	bool real;			/* the column is LP_REAL */
	bool absolute; /* the column is an unconverted counter: not if it is relative */
	bool checked;  /* impossible values count as missing: those above */
	double least;  /* BIND_VALUE_MAX, and those below this */
	struct bind_input inputs[LP_METRIC_INPUTS_MAX];
	uint32_t n_inputs;
	bool has_counters;  /* needs the previous sample */
	bool only_counters; /* and needs only growths */
};

/* Bind metric `name` to `schema`: by an LP_REAL column with this name, else by the metric
 * catalogue. `raw`: use the column with this name, whatever its type. False: the kind does not have
 * it.
 */
bool bind_metric(const struct lp_schema *schema, const char *name, bool raw, struct bind *ret);

/* No measured value is larger than this, in any unit. */
#define BIND_VALUE_MAX 1e18

/* Is this value impossible: infinite, absurdly large, or negative although the metric is a time, an
 * amount or a number? NaN does not count as a value. */
bool bind_is_absurd(const struct bind *b, double value);

/* Does the binding read this column? */
bool bind_uses(const struct bind *b, uint32_t column);

/* The sums of a component until a value is due. */
struct bind_acc {
	double in[LP_METRIC_INPUTS_MAX]; /* growths, and sums of gauges */
	double dt_s;
	uint32_t n; /* samples */
};

/* Add sample `cell` of a kind's `columns` (the previous sample is cell - 1, `dt_s` seconds
 * earlier). False: the sample has no value for this metric. */
bool bind_add(const struct bind *b, int64_t *const *columns, size_t cell, double dt_s,
	struct bind_acc *acc);

/* The value of the sums; NaN if there are none. */
double bind_value(const struct bind *b, const struct bind_acc *acc);

/* The same if only the metric and the shape of the binding are known. */
double bind_shape_value(const struct lp_metric *metric, uint32_t shape, const struct bind_acc *acc);

/* Add the later sums of a binding with the same metric and shape to `acc`. */
void bind_acc_join(struct bind_acc *acc, const struct bind_acc *later, uint32_t shape);

/* A number for the meaning of the members of bind_acc. Another binding (of a later file, or of a
 * schema with more columns) can continue the sums of a binding only if both have the same shape. */
uint32_t bind_shape(const struct bind *b);

#endif
