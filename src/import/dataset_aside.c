/* What is told of the data itself, and samples that are so far from all others in time that nothing
 * can be made of them. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/dataset.h"
#include "model/table_outliers.h"
#include "model/table_view.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* More notes than these tell nobody more. */
#define NOTES_MAX 16

int dataset_tell(struct lp_dataset *ds, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	if (ds->n_notes == NOTES_MAX)
		return 0;
	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	if (array_reserve(&ds->notes, &ds->cap_notes, ds->n_notes + 1, sizeof(*ds->notes)) < 0) {
		free(text);
		return -ENOMEM;
	}
	ds->notes[ds->n_notes++] = text;
	return 0;
}

/* The files that have data of that time, "FILE: ", or nothing where none is known. */
static void files_name(const struct lp_dataset *ds, const struct data_aside *a, struct strbuf *ret)
{
	const char *path = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ds->n; i++) {
		const struct data_file *f = &ds->files[i];

		if (f->read_first_us >= a->end_us || f->read_last_us < a->first_us ||
			!f->read_last_us)
			continue;
		path = n++ ? path : f->path;
	}
	if (n == 1)
		strbuf_printf(ret, "%s: ", path);
	else if (n)
		strbuf_printf(ret, "%s and %zu more file%s: ", path, n - 1, n == 2 ? "" : "s");
}

static int aside_tell(
	struct lp_dataset *ds, const struct table_outlier *o, const struct data_aside *a)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	files_name(ds, a, &sb);
	strbuf_printf(&sb, "%" PRIu64 " sample%s of %s", o->n_values, o->n_values == 1 ? "" : "s",
		o->observer);
	if (o->n_observers > 1)
		strbuf_printf(&sb, " and %u more", o->n_observers - 1);
	strbuf_printf(&sb,
		" from %s to %s were set aside: they are far from all others in time (is a clock "
		"wrong? --since and --until look at that time)",
		time_format(a->first_us, from), time_format(a->end_us, to));
	return sb.failed ? -ENOMEM : dataset_tell(ds, "%s", sb.text);
}

/* From the first sample of an outlier to its last; it knows pages only. */
static void aside_narrow(
	const struct lp_table_builder *b, const struct table_outlier *o, struct data_aside *ret)
{
	int64_t step = b->opt->step_us, first = table_builder_next(b, o->first), end = o->end;

	while (end > first + 1 && !table_builder_any(b, end - 1, end))
		end--;
	*ret = (struct data_aside){first * step, (end - 1) * step};
}

static int aside_find(struct lp_dataset *ds, const struct lp_table_builder *b)
{
	_cleanup_free_ struct table_outlier *found = NULL;
	size_t n = 0;
	int r = table_outliers_find(b, &found, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct data_aside a;

		aside_narrow(b, &found[i], &a);
		r = aside_tell(ds, &found[i], &a);
		if (r == 0 &&
			array_reserve(&ds->aside, &ds->cap_aside, ds->n_aside + 1,
				sizeof(*ds->aside)) < 0)
			r = -ENOMEM;
		if (r == 0)
			ds->aside[ds->n_aside++] = a;
	}
	return r;
}

int dataset_set_aside(struct lp_dataset *ds, struct lp_table_builder *b)
{
	int64_t step = b->opt->step_us;
	int r = ds->looked ? 0 : aside_find(ds, b);

	for (size_t i = 0; r == 0 && i < ds->n_aside; i++) {
		const struct data_aside *a = &ds->aside[i];

		/* Grids differ by a step at most. */
		r = table_builder_drop(b, floor_div(a->first_us - US_PER_SEC, step) - 1,
			floor_div(a->end_us + US_PER_SEC, step) + 2);
	}
	return r;
}
