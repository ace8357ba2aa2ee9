#include "model/bind.h"

#include <math.h>
#include <string.h>

static bool input_add_term(
	struct bind_input *in, const struct lp_schema *schema, int column, bool optional)
{
	const struct lp_column *c = &schema->columns[column];

	if (in->n == BIND_TERMS_MAX)
		return false;
	in->terms[in->n++] = (struct bind_term){.column = (uint16_t)column,
		.bits = c->bits,
		.counter = c->type == LP_COUNTER,
		.optional = optional};
	return true;
}

/* Find the columns of one alternative, "rd_ios+wr_ios+dc_ios?". Inputs are integers: an LP_REAL
 * column with this name is a finished metric from another source. */
static bool input_bind(
	const struct lp_schema *schema, const char *spec, size_t len, struct bind_input *ret)
{
	const char *end = spec + len;

	*ret = (struct bind_input){0};
	while (spec < end) {
		size_t term = strcspn(spec, "+|");
		bool optional = term && spec[term - 1] == '?';
		char name[64];
		int column;

		if (term - optional >= sizeof(name))
			return false;
		memcpy(name, spec, term - optional);
		name[term - optional] = '\0';
		column = lp_schema_column(schema, name);
		if (column >= 0 && schema->columns[column].type == LP_REAL)
			column = -1;
		if (column < 0 ? !optional : !input_add_term(ret, schema, column, optional))
			return false;
		spec += term + 1;
	}
	ret->gauge = ret->n && !ret->terms[0].counter;
	return true; /* no column at all, if all are optional and missing */
}

/* The first alternative with existing columns. */
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

static bool bind_column(const struct lp_schema *schema, int column, bool raw, struct bind *ret)
{
	bool real = column >= 0 && schema->columns[column].type == LP_REAL;

	if (column < 0 || !(raw || real))
		return false;
	*ret = (struct bind){.column = (uint32_t)column,
		.real = real,
		.absolute = schema->columns[column].type == LP_COUNTER,
		.checked = real && !raw,
		.least = lp_metric_role(schema->kind, schema->columns[column].name) == LP_ROLE_OTHER
			? -BIND_VALUE_MAX
			: 0};
	return true;
}

bool bind_is_absurd(const struct bind *b, double value)
{
	return b->checked && (value < b->least || value > BIND_VALUE_MAX);
}

bool bind_metric(const struct lp_schema *schema, const char *name, bool raw, struct bind *ret)
{
	struct bind b = {0};
	bool gauges = false;

	if (bind_column(schema, lp_schema_column(schema, name), raw, ret))
		return true;
	b.metric = raw ? NULL : lp_metric_find(schema->kind, name);
	if (!b.metric)
		return false;
	for (; b.metric->inputs[b.n_inputs]; b.n_inputs++) {
		struct bind_input *in = &b.inputs[b.n_inputs];

		if (!alternatives_bind(schema, b.metric->inputs[b.n_inputs], in))
			return false;
		for (uint32_t i = 0; i < in->n; i++) {
			b.has_counters |= in->terms[i].counter;
			gauges |= !in->terms[i].counter;
		}
	}
	b.only_counters = b.has_counters && !gauges;
	*ret = b;
	return true;
}

bool bind_uses(const struct bind *b, uint32_t column)
{
	if (!b->metric)
		return b->column == column;
	for (uint32_t i = 0; i < b->n_inputs; i++) {
		for (uint32_t k = 0; k < b->inputs[i].n; k++) {
			if (b->inputs[i].terms[k].column == column)
				return true;
		}
	}
	return false;
}

/* Add one term at one sample. A column that this kernel lacks counts as 0 if it is optional. */
static inline bool term_add(
	const struct bind_term *t, const int64_t *column, size_t cell, double *sum)
{
	int64_t now = column[cell], before, growth;

	if (!t->counter) {
		*sum += now == LP_MISSING ? 0 : (double)now;
		return now != LP_MISSING || t->optional;
	}
	before = column[cell - 1];
	if (before >= 0 && now >= before) { /* nearly always */
		*sum += (double)(now - before);
		return true;
	}
	if (lp_counter_growth(before, now, t->bits, &growth)) {
		*sum += (double)growth;
		return true;
	}
	return t->optional && (now == LP_MISSING || before == LP_MISSING);
}

static bool direct_add(
	const struct bind *b, int64_t *const *columns, size_t cell, struct bind_acc *acc)
{
	int64_t value = columns[b->column][cell];

	if (b->real ? isnan(lp_cell_to_real(value)) : value == LP_MISSING)
		return false;
	if (b->real && bind_is_absurd(b, lp_cell_to_real(value)))
		return false;
	/* Raw counters and gauges are not converted: the last of several samples counts. */
	acc->in[0] = b->real ? acc->in[0] + lp_cell_to_real(value) : (double)value;
	acc->n++;
	return true;
}

bool bind_add(const struct bind *b, int64_t *const *columns, size_t cell, double dt_s,
	struct bind_acc *acc)
{
	double sums[LP_METRIC_INPUTS_MAX];

	if (!b->metric)
		return direct_add(b, columns, cell, acc);
	for (uint32_t i = 0; i < b->n_inputs; i++) {
		const struct bind_input *in = &b->inputs[i];

		sums[i] = 0;
		for (uint32_t k = 0; k < in->n; k++) {
			const struct bind_term *t = &in->terms[k];

			if (!term_add(t, columns[t->column], cell, &sums[i]))
				return false;
		}
	}
	for (uint32_t i = 0; i < b->n_inputs; i++)
		acc->in[i] += sums[i];
	acc->dt_s += dt_s;
	acc->n++;
	return true;
}

/* The bits of a shape. */
enum {
	SHAPE_METRIC = 1,
	SHAPE_REAL = 2,
	SHAPE_RAW = 4,
	SHAPE_COUNTERS = 8,
	SHAPE_GAUGES = 16, /* and one bit per input */
};

uint32_t bind_shape(const struct bind *b)
{
	uint32_t shape = b->metric ? SHAPE_METRIC : b->real ? SHAPE_REAL : SHAPE_RAW;

	if (b->has_counters)
		shape |= SHAPE_COUNTERS;
	for (uint32_t i = 0; i < b->n_inputs; i++)
		shape |= b->inputs[i].gauge ? (uint32_t)SHAPE_GAUGES << i : 0;
	return shape;
}

double bind_shape_value(const struct lp_metric *metric, uint32_t shape, const struct bind_acc *acc)
{
	double in[LP_METRIC_INPUTS_MAX];

	if (!acc->n)
		return NAN;
	if (!metric)
		return shape & SHAPE_REAL ? acc->in[0] / acc->n : acc->in[0];
	if (shape & SHAPE_COUNTERS && !(acc->dt_s > 0))
		return NAN;
	for (uint32_t i = 0; i < LP_METRIC_INPUTS_MAX; i++)
		in[i] = shape & (uint32_t)SHAPE_GAUGES << i ? acc->in[i] / acc->n : acc->in[i];
	return metric->eval(in, acc->dt_s);
}

double bind_value(const struct bind *b, const struct bind_acc *acc)
{
	return bind_shape_value(b->metric, bind_shape(b), acc);
}

void bind_acc_join(struct bind_acc *acc, const struct bind_acc *later, uint32_t shape)
{
	if (!later->n)
		return;
	if (shape & SHAPE_RAW) /* the last of several */
		acc->in[0] = later->in[0];
	for (uint32_t i = 0; !(shape & SHAPE_RAW) && i < LP_METRIC_INPUTS_MAX; i++)
		acc->in[i] += later->in[i];
	acc->dt_s += later->dt_s;
	acc->n += later->n;
}
