#include "model/bind.h"

#include <math.h>
#include <string.h>

/* Find the columns of one alternative, "rd_ios+wr_ios+dc_ios?". */
static bool input_bind(
	const struct lp_schema *schema, const char *spec, size_t len, struct bind_input *ret)
{
	const char *end = spec + len;

	*ret = (struct bind_input){0};
	while (spec < end) {
		size_t term = strcspn(spec, "+|");
		bool optional = spec[term - 1] == '?';
		char name[64];
		int column;

		if (term - optional >= sizeof(name) || ret->n == BIND_TERMS_MAX)
			return false;
		memcpy(name, spec, term - optional);
		name[term - optional] = '\0';
		column = lp_schema_column(schema, name);
		if (column >= 0)
			ret->columns[ret->n++] = (uint32_t)column;
		else if (!optional)
			return false;
		spec += term + 1;
	}
	return ret->n > 0;
}

/* The first alternative whose columns exist. */
static bool alternatives_bind(
	const struct lp_schema *schema, const char *spec, struct bind_input *ret)
{
	for (;;) {
		size_t len = strcspn(spec, "|");

		if (input_bind(schema, spec, len, ret))
			return true;
		if (!spec[len])
			return false;
		spec += len + 1;
	}
}

bool bind_metric(const struct lp_schema *schema, const char *name, bool raw, struct bind *ret)
{
	struct bind b = {0};
	int column = lp_schema_column(schema, name);

	if (column >= 0 && (raw || schema->columns[column].type == LP_REAL)) {
		b.column = (uint32_t)column;
		*ret = b;
		return true;
	}
	b.metric = raw ? NULL : lp_metric_find(schema->kind, name);
	if (!b.metric)
		return false;
	for (; b.metric->inputs[b.n_inputs]; b.n_inputs++) {
		struct bind_input *in = &b.inputs[b.n_inputs];

		if (!alternatives_bind(schema, b.metric->inputs[b.n_inputs], in))
			return false;
		for (uint32_t i = 0; i < in->n; i++)
			b.has_counters |= schema->columns[in->columns[i]].type == LP_COUNTER;
	}
	*ret = b;
	return true;
}

bool bind_uses(const struct bind *b, uint32_t column)
{
	if (!b->metric)
		return b->column == column;
	for (uint32_t i = 0; i < b->n_inputs; i++) {
		for (uint32_t k = 0; k < b->inputs[i].n; k++) {
			if (b->inputs[i].columns[k] == column)
				return true;
		}
	}
	return false;
}

/* One term of an input at one sample. A column that this kernel lacks counts as 0 only where others
 * are summed with it. */
static bool term_value(
	const struct lp_column *column, const int64_t *cells, size_t cell, bool alone, double *ret)
{
	int64_t growth;

	*ret = 0;
	if (cells[cell] == LP_MISSING)
		return !alone;
	if (column->type == LP_COUNTER) {
		if (!lp_counter_growth(cells[cell - 1], cells[cell], column->bits, &growth))
			return !alone && cells[cell - 1] == LP_MISSING;
		*ret = (double)growth;
	} else {
		*ret = (double)cells[cell];
	}
	return true;
}

static bool direct_add(const struct bind *b, const struct lp_schema *schema,
	const struct lp_batch_kind *kind, size_t cell, struct bind_acc *acc)
{
	int64_t value = kind->columns[b->column][cell];
	bool real = schema->columns[b->column].type == LP_REAL;

	if (real ? isnan(lp_cell_to_real(value)) : value == LP_MISSING)
		return false;
	/* Raw counters and gauges are shown as they are: the last of several. */
	acc->in[0] = real ? acc->in[0] + lp_cell_to_real(value) : (double)value;
	acc->n++;
	return true;
}

bool bind_add(const struct bind *b, const struct lp_schema *schema,
	const struct lp_batch_kind *kind, size_t cell, double dt_s, struct bind_acc *acc)
{
	double sums[LP_METRIC_INPUTS_MAX] = {0};

	if (!b->metric)
		return direct_add(b, schema, kind, cell, acc);
	for (uint32_t i = 0; i < b->n_inputs; i++) {
		const struct bind_input *in = &b->inputs[i];

		for (uint32_t k = 0; k < in->n; k++) {
			const struct lp_column *column = &schema->columns[in->columns[k]];
			double value;

			if (!term_value(column, kind->columns[in->columns[k]], cell, in->n == 1,
				    &value))
				return false;
			sums[i] += value;
		}
	}
	for (uint32_t i = 0; i < b->n_inputs; i++)
		acc->in[i] += sums[i];
	acc->dt_s += dt_s;
	acc->n++;
	return true;
}

double bind_value(const struct bind *b, const struct lp_schema *schema, const struct bind_acc *acc)
{
	double in[LP_METRIC_INPUTS_MAX];

	if (!acc->n)
		return NAN;
	if (!b->metric)
		return schema->columns[b->column].type == LP_REAL ? acc->in[0] / acc->n
								  : acc->in[0];
	if (b->has_counters && !(acc->dt_s > 0))
		return NAN;
	for (uint32_t i = 0; i < b->n_inputs; i++) {
		bool gauge = schema->columns[b->inputs[i].columns[0]].type != LP_COUNTER;

		in[i] = gauge ? acc->in[i] / acc->n : acc->in[i];
	}
	return b->metric->eval(in, acc->dt_s);
}
