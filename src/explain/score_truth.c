/* Reads the truth about experiments, a CSV file that docs/scoring.md describes. */
#include "explain/score.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "import/csv_parse.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT, COMPONENT, CAUSE, DIAGNOSIS, START, END, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
	"verdict", "component", "cause", "diagnosis", "start", "end"};

struct truth_reader {
	const char *path;
	struct csv_reader csv;
	size_t at[N_COLUMNS]; /* index of the field, SIZE_MAX: the file has no such column */
	struct score_truth truth;
};

static void truth_reader_release(struct truth_reader *t)
{
	csv_reader_close(&t->csv);
	score_truth_release(&t->truth);
}

static int bad(const struct truth_reader *t, struct lp_err *err, const char *what)
{
	return lp_err_set(err, -EBADMSG, "%s:%" PRIu64 ": %s", t->path, t->csv.line, what);
}

/* The next row that is not empty; -EBADMSG if it is invalid. */
static int next_row(struct truth_reader *t, struct lp_err *err)
{
	int r = csv_reader_next(&t->csv, err);

	return r == 1 && t->csv.fault ? bad(t, err, t->csv.fault) : r;
}

static int find_columns(struct truth_reader *t, struct lp_err *err)
{
	int r = next_row(t, err);

	if (r == 0)
		return lp_err_set(err, -EBADMSG, "%s: the file is empty", t->path);
	for (size_t c = 0; r == 1 && c < N_COLUMNS; c++) {
		t->at[c] = SIZE_MAX;
		for (size_t i = 0; i < t->csv.n_fields; i++) {
			const struct csv_field *f = &t->csv.fields[i];

			if (f->len != strlen(column_names[c]) ||
				memcmp(f->text, column_names[c], f->len))
				continue;
			if (t->at[c] != SIZE_MAX)
				return lp_err_set(err, -EBADMSG, "%s:%" PRIu64 ": two columns '%s'",
					t->path, t->csv.line, column_names[c]);
			t->at[c] = i;
		}
	}
	if (r == 1 && (t->at[VERDICT] == SIZE_MAX || t->at[COMPONENT] == SIZE_MAX))
		return bad(t, err,
			"the first line must name the columns verdict,component,cause,start,end");
	return r < 0 ? r : 0;
}

/* A copy of a field, "" if there is none. */
static char *field_copy(const struct truth_reader *t, unsigned column)
{
	const struct csv_field *f =
		t->at[column] < t->csv.n_fields ? &t->csv.fields[t->at[column]] : NULL;

	return f ? strndup(f->text, f->len) : strdup("");
}

static int field_time(
	const struct truth_reader *t, unsigned column, int64_t *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = field_copy(t, column);

	if (!text)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->path);
	if (!*text)
		return 0;
	if (time_parse(text, ret, err) < 0)
		return lp_err_prefix(
			err, "%s:%" PRIu64 ": %s", t->path, t->csv.line, column_names[column]);
	return 0;
}

static int fault_fill(const struct truth_reader *t, struct score_fault *f, struct lp_err *err)
{
	int r;

	*f = (struct score_fault){.start_us = INT64_MIN, .end_us = INT64_MAX};
	f->line = (unsigned long)t->csv.line;
	f->verdict = field_copy(t, VERDICT);
	f->component = field_copy(t, COMPONENT);
	f->cause = field_copy(t, CAUSE);
	f->diagnosis = field_copy(t, t->at[DIAGNOSIS] == SIZE_MAX ? CAUSE : DIAGNOSIS);
	if (!f->verdict || !f->component || !f->cause || !f->diagnosis)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->path);
	if (!*f->verdict)
		return bad(t, err, "the row names no verdict");
	r = field_time(t, START, &f->start_us, err);
	if (r == 0)
		r = field_time(t, END, &f->end_us, err);
	if (r == 0 && f->end_us < f->start_us)
		return bad(t, err, "the fault ends before it starts");
	return r;
}

static int take_row(struct truth_reader *t, struct lp_err *err)
{
	struct score_truth *truth = &t->truth;

	if (array_reserve(&truth->faults, &truth->cap, truth->n + 1, sizeof(*truth->faults)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->path);
	return fault_fill(t, &truth->faults[truth->n++], err);
}

int score_truth_read(const char *path, struct score_truth *ret, struct lp_err *err)
{
	_cleanup_(truth_reader_release) struct truth_reader t = {.path = path, .csv.fd = -1};
	int r = csv_reader_open(&t.csv, path, err);

	if (r == 0)
		r = csv_reader_detect(&t.csv, err);
	if (r == 0)
		r = find_columns(&t, err);
	while (r == 0) {
		r = next_row(&t, err);
		if (r == 0) {
			*ret = t.truth;
			t.truth = (struct score_truth){0};
			return 0;
		}
		if (r > 0)
			r = take_row(&t, err);
	}
	return r;
}

bool score_truth_names_observers(const struct score_truth *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (strchr(t->faults[i].component, '/') || strchr(t->faults[i].component, '*'))
			return false;
		n += *t->faults[i].component != '\0';
	}
	return n > 0;
}

void score_truth_release(struct score_truth *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->faults[i].verdict);
		free(t->faults[i].component);
		free(t->faults[i].cause);
		free(t->faults[i].diagnosis);
	}
	free(t->faults);
	*t = (struct score_truth){0};
}
