#include "collect/program_rows.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* After this long without output a program is silent, and its rows are absent. */
#define SILENT_US (3 * PROGRAM_ROWS_US)
#define ROWS_MAX 4096

struct row {
	char name[PARSE_NAME_MAX + 1];
	int64_t values[PROGRAM_ROWS_COLUMNS_MAX];
	int64_t heard_us;
	struct collect_row row;
	bool known;
};

struct program_rows {
	const struct program_rows_def *def;
	const struct collect_config *config;
	struct program programs[PROGRAM_ROWS_PROGRAMS_MAX];
	unsigned n_programs;
	struct row *rows;
	size_t n, cap;
	int64_t now_us;
};

void program_rows_close(void *state)
{
	struct program_rows *r = state;

	if (!r)
		return;
	for (unsigned i = 0; i < r->n_programs; i++)
		program_close(&r->programs[i]);
	free(r->rows);
	free(r);
}

int program_rows_open(const struct program_rows_def *def, const struct collect_config *config,
	void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct program_rows *r = calloc(1, sizeof(*r));
	int got;

	if (!r)
		return lp_err_sys(err, -ENOMEM, "cannot watch %s", def->what);
	r->def = def;
	r->config = config;
	got = program_open(&r->programs[0], &def->programs[0], config->root, err);
	if (got < 0)
		return got;
	r->n_programs = 1;
	if (def->programs[1].path &&
		program_open(&r->programs[1], &def->programs[1], config->root, NULL) == 0)
		r->n_programs = 2;
	*ret_state = TAKE_PTR(r);
	return 0;
}

int program_rows_put(struct program_rows *r, const char *name, const int64_t *values)
{
	size_t i = 0;

	while (i < r->n && strcmp(r->rows[i].name, name) != 0)
		i++;
	if (i == r->n) {
		if (r->n >= ROWS_MAX)
			return 0;
		if (array_reserve(&r->rows, &r->cap, r->n + 1, sizeof(*r->rows)) < 0)
			return -ENOMEM;
		r->rows[r->n] = (struct row){0};
		snprintf(r->rows[r->n++].name, sizeof(r->rows[0].name), "%s", name);
	}
	memcpy(r->rows[i].values, values, r->def->schema->n_columns * sizeof(*values));
	r->rows[i].heard_us = r->now_us;
	return 0;
}

static int row_store(
	struct program_rows *r, struct row *row, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !row->known || !collect_holds(sink, &row->row);
	int got = 0;

	if (r->now_us - row->heard_us > SILENT_US) {
		row->known = false;
		return 0;
	}
	if (fresh)
		got = collect_add_named(
			sink, r->def->schema, r->config->observer, row->name, "", &row->row, err);
	if (got < 0)
		return got;
	row->known = true;
	return collect_store(sink, &row->row, fresh, row->values, err);
}

int program_rows_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct program_rows *r = state;
	int got = 0;

	r->now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	for (unsigned i = 0; got == 0 && i < r->n_programs; i++) {
		const char *text = program_poll(&r->programs[i], r->now_us);

		if (text)
			got = r->def->take[i](r, text);
	}
	if (got < 0)
		return lp_err_sys(err, got, "cannot watch %s", r->def->what);
	for (size_t i = 0; got == 0 && i < r->n; i++)
		got = row_store(r, &r->rows[i], sink, err);
	return got;
}
