#include "serve/push_series.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "base/time.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 12
#define COLUMN_BITS 8 /* a schema has LP_COLUMNS_MAX columns */
#define COLUMN_MASK ((1u << COLUMN_BITS) - 1)

static int column_key(struct strbuf *key, const char *kind, const char *column)
{
	strbuf_reset(key);
	strbuf_printf(key, "%s\x1f%s", kind, column);
	return key->failed ? -ENOMEM : 0;
}

int push_names_load(struct push_names *n, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf key = {0};
	int r = mapping_load_own(&n->own, err);

	if (r < 0)
		return r;
	for (uint32_t g = 0; r == 0 && g < n->own.n_groups; g++) {
		const struct mapping_group *group = &n->own.groups[g];

		for (uint32_t c = 0; r == 0 && c < group->n_columns; c++) {
			r = column_key(&key, group->kind, group->columns[c].column);
			if (r == 0)
				r = strmap_put(&n->by_column, key.text, g << COLUMN_BITS | c);
		}
	}
	return r < 0 ? lp_err_sys(err, r, "cannot send samples") : 0;
}

void push_names_release(struct push_names *n)
{
	mapping_release(&n->own);
	strmap_release(&n->by_column);
}

int push_names_find(const struct push_names *n, const struct lp_schema *schema,
	const struct mapping_column *ret[LP_COLUMNS_MAX])
{
	_cleanup_(strbuf_release) struct strbuf key = {0};

	for (uint32_t i = 0; i < schema->n_columns; i++) {
		uint32_t at;

		if (column_key(&key, schema->kind, schema->columns[i].name) < 0)
			return -ENOMEM;
		ret[i] = strmap_get(&n->by_column, key.text, &at)
			? &n->own.groups[at >> COLUMN_BITS].columns[at & COLUMN_MASK]
			: NULL;
	}
	return 0;
}

void push_series_reset(struct push_series *s)
{
	strbuf_reset(&s->labels);
	s->n = s->n_runs = 0;
}

void push_series_release(struct push_series *s)
{
	strbuf_release(&s->labels);
	strbuf_release(&s->tail);
	free(s->samples);
	free(s->runs);
	*s = (struct push_series){0};
}

struct label {
	const char *name, *value;
};

static int label_compare(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

/* The labels of a component, and those that distinguish columns of the same metric. */
static void tail_make(struct strbuf *tail, const struct lp_component *component, const char *kind,
	const struct mapping_conditions *more)
{
	struct label labels[LABELS_MAX] = {{"job", PUSH_JOB}, {"instance", component->observer},
		{"kind", kind}, {"name", component->name}};
	size_t n = 4;

	for (size_t i = 0; i < more->n && n < LABELS_MAX; i++)
		labels[n++] = (struct label){more->items[i].label, more->items[i].text};
	qsort(labels, n, sizeof(*labels), label_compare);
	strbuf_reset(tail);
	for (size_t i = 0; i < n; i++) {
		char text[512];

		snprintf(text, sizeof(text), "%s", labels[i].value);
		safe_text_make(text);
		write_label_add(tail, labels[i].name, text);
	}
}

static double stale(void)
{
	uint64_t bits = WRITE_STALE;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The value of a cell in the unit of its series; false: it was not measured. */
static bool cell_value(
	const struct mapping_column *column, enum lp_column_type type, int64_t cell, double *ret)
{
	double value = type == LP_REAL ? lp_cell_to_real(cell) : (double)cell;

	*ret = value / column->scale;
	return type == LP_REAL ? !isnan(value) : cell != LP_MISSING;
}

/* The cells of one column of a component, and their states. */
struct cells {
	const struct mapping_column *column;
	enum lp_column_type type;
	const int64_t *values;
	const uint8_t *state;
};

/* The value to send for a sample: a value, or the mark that the series ended. */
static bool cells_at(const struct cells *c, uint32_t i, double *ret)
{
	double before;

	if (c->state[i] & LP_PRESENT)
		return cell_value(c->column, c->type, c->values[i], ret);
	*ret = stale();
	return i && (c->state[i - 1] & LP_PRESENT) &&
		cell_value(c->column, c->type, c->values[i - 1], &before);
}

/* Add the samples of a column after `after_us`. Returns their number, or -ENOMEM. */
static int cells_add(struct push_series *s, const struct cells *c, const struct lp_batch *b,
	int64_t after_us, int64_t oldest_us)
{
	int64_t last_ms = INT64_MIN;
	int n = 0;

	for (uint32_t i = b->carry ? 1 : 0; i < b->n_samples; i++) {
		int64_t ms = floor_div(b->wall_us[i], 1000);
		double value;

		/* Receivers have one value per millisecond. */
		if (b->wall_us[i] <= after_us || ms <= last_ms || !cells_at(c, i, &value))
			continue;
		if (b->wall_us[i] <= oldest_us) {
			s->n_expired++;
			continue;
		}
		if (array_reserve(&s->samples, &s->cap, s->n + 1, sizeof(*s->samples)) < 0)
			return -ENOMEM;
		s->samples[s->n++] = (struct write_sample){ms, value};
		last_ms = ms;
		n++;
	}
	return n;
}

/* Add a column of a component. `s->tail` has its labels, except for the metric. */
static int column_add(struct push_series *s, const struct cells *c, const struct lp_batch *b,
	int64_t after_us, int64_t oldest_us)
{
	struct push_run run = {.labels = s->labels.len, .first = s->n};
	int n = cells_add(s, c, b, after_us, oldest_us);

	if (n <= 0)
		return n;
	write_label_add(&s->labels, "__name__", c->column->metric); /* it comes before all others */
	strbuf_add(&s->labels, s->tail.text, s->tail.len);
	run.n = (size_t)n;
	run.labels_len = s->labels.len - run.labels;
	if (s->labels.failed || s->tail.failed ||
		array_reserve(&s->runs, &s->cap_runs, s->n_runs + 1, sizeof(*s->runs)) < 0)
		return -ENOMEM;
	s->runs[s->n_runs++] = run;
	return 0;
}

int push_series_add(struct push_series *s, const struct mapping_column *const *names,
	const struct lp_catalogue *catalogue, const struct lp_batch *b, uint32_t kind, uint32_t row,
	int64_t after_us, int64_t oldest_us)
{
	const struct lp_batch_kind *k = &b->kinds[kind];
	const struct lp_schema *schema = &catalogue->schemas[k->schema];
	size_t first = (size_t)row * b->cap_samples;
	const struct mapping_column *before = NULL;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < k->n_columns; i++) {
		struct cells c = {.column = names[i],
			.type = schema->columns[i].type,
			.state = k->state + first};

		if (!c.column || !k->columns[i])
			continue;
		/* Most columns of a component have the same labels. */
		if (!before || before->where.n || c.column->where.n)
			tail_make(&s->tail, &catalogue->components[k->ids[row]], schema->kind,
				&c.column->where);
		before = c.column;
		c.values = k->columns[i] + first;
		r = column_add(s, &c, b, after_us, oldest_us);
	}
	return r;
}

bool push_series_span(const struct push_series *s, int64_t *ret_first_ms, int64_t *ret_last_ms)
{
	*ret_first_ms = INT64_MAX;
	*ret_last_ms = INT64_MIN;
	for (size_t i = 0; i < s->n; i++) {
		int64_t ms = s->samples[i].ms;

		*ret_first_ms = ms < *ret_first_ms ? ms : *ret_first_ms;
		*ret_last_ms = ms > *ret_last_ms ? ms : *ret_last_ms;
	}
	return s->n > 0;
}

size_t push_series_message(
	const struct push_series *s, const struct push_part *part, struct strbuf *message)
{
	size_t total = 0;

	strbuf_reset(message);
	for (size_t i = part->first_run; i < part->end_run; i++) {
		const struct push_run *run = &s->runs[i];
		const struct write_sample *samples = s->samples + run->first;
		size_t first = 0, end;

		while (first < run->n && samples[first].ms < part->from_ms)
			first++;
		for (end = first; end < run->n && samples[end].ms < part->to_ms;)
			end++;
		if (end > first)
			write_series_add(message, s->labels.text + run->labels, run->labels_len,
				samples + first, end - first);
		total += end - first;
	}
	return total;
}
