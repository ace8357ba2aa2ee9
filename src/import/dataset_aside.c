/* Notes about the data itself, and samples that are too far away from all others in time to be
 * useful. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/dataset.h"
#include "model/quantity.h"
#include "model/table_clocks.h"
#include "model/table_view.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More notes would not help. */
#define NOTES_MAX 16
/* On a grid of 15 s, times of samples may be off by this much. */
#define ROUNDING_US (30 * US_PER_SEC)

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

/* The names of the files with data of that time, "FILE: ", or nothing if none is known. */
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

/* The text of the note. */
static char *aside_text(const struct lp_dataset *ds, const struct data_aside *a)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	struct strbuf sb = {0};

	files_name(ds, a, &sb);
	if (!a->whole)
		strbuf_printf(
			&sb, "%" PRIu64 " sample%s of ", a->n_values, a->n_values == 1 ? "" : "s");
	strbuf_puts(&sb, a->observer);
	if (a->n_observers > 1)
		strbuf_printf(&sb, " and %u more", a->n_observers - 1);
	if (a->whole)
		strbuf_printf(&sb, " %s compared with no other: all %" PRIu64 " samples",
			a->n_observers > 1 ? "were" : "was", a->n_values);
	if (a->end_us > a->first_us)
		strbuf_printf(&sb, " from %s to %s", time_format(a->first_us, from),
			time_format(a->end_us, to));
	else
		strbuf_printf(&sb, " at %s", time_format(a->first_us, from));
	strbuf_printf(&sb,
		" %s far from all others in time (is a clock wrong? "
		"--since and --until look at that time)",
		a->whole		   ? "are"
			: a->n_values == 1 ? "was set aside: it is"
					   : "were set aside: they are");
	if (sb.failed) {
		strbuf_release(&sb);
		return NULL;
	}
	return sb.text;
}

/* The first and the last sample in the slots; false: there is none. */
static bool aside_narrow(
	const struct lp_table_builder *b, int64_t first, int64_t end, struct data_aside *ret)
{
	int64_t step = b->opt->step_us;

	first = table_builder_next(b, first);
	while (end > first + 1 && !table_builder_any(b, end - 1, end))
		end--;
	if (first >= end)
		return false;
	ret->first_us = first * step;
	ret->end_us = (end - 1) * step;
	return true;
}

static int aside_add(
	struct lp_dataset *ds, const struct lp_table_builder *b, const struct table_outlier *o)
{
	struct data_aside a = {
		.n_values = o->n_values, .n_observers = o->n_observers, .whole = o->whole};
	char *text;

	aside_narrow(b, o->first, o->end, &a);
	a.observer = strdup(o->observer);
	if (!a.observer ||
		array_reserve(&ds->aside, &ds->cap_aside, ds->n_aside + 1, sizeof(*ds->aside)) <
			0) {
		free(a.observer);
		return -ENOMEM;
	}
	a.note = ds->n_notes;
	ds->aside[ds->n_aside++] = a;
	text = aside_text(ds, &a);
	if (!text || dataset_tell(ds, "%s", text) < 0) {
		free(text);
		return -ENOMEM;
	}
	free(text);
	return 0;
}

/* A finer grid gives better times and counts. */
static int aside_refine(struct lp_dataset *ds, struct data_aside *a,
	const struct lp_table_builder *b, int64_t from, int64_t end)
{
	uint64_t n = table_builder_count(b, from, end);
	char *text;

	if (n <= a->n_values || a->note >= ds->n_notes || !aside_narrow(b, from, end, a))
		return 0;
	a->n_values = n;
	text = aside_text(ds, a);
	if (!text)
		return -ENOMEM;
	free(ds->notes[a->note]);
	ds->notes[a->note] = text;
	return 0;
}

/* Was data of that time set aside when it was read on a coarser grid? */
static bool aside_known(const struct lp_dataset *ds, int64_t first_us, int64_t end_us)
{
	for (size_t i = 0; i < ds->n_aside; i++) {
		const struct data_aside *a = &ds->aside[i];

		if (a->first_us - ROUNDING_US < end_us && first_us < a->end_us + ROUNDING_US)
			return true;
	}
	return false;
}

static int aside_find(struct lp_dataset *ds, const struct lp_table_builder *b)
{
	_cleanup_free_ struct table_outlier *found = NULL;
	int64_t step = b->opt->step_us;
	size_t n = 0;
	int r = table_outliers_find(b, &found, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!aside_known(ds, found[i].first * step, found[i].end * step))
			r = aside_add(ds, b, &found[i]);
	}
	return r;
}

static int clock_tell(struct lp_dataset *ds, const struct data_file *f, bool moved)
{
	int r = 0;

	for (size_t i = 1; r == 0 && i < f->clock.n; i++) {
		const struct clock_segment *s = &f->clock.segments[i];
		int64_t by_us = s->stepped_us - s[-1].stepped_us;
		char at[TIME_TEXT_MAX], by[QUANTITY_TEXT_MAX];

		if (!by_us)
			continue;
		r = dataset_tell(ds, "%s: at %s the clock of %s was set %s by %s%s", f->path,
			time_format(s->first_us / US_PER_SEC * US_PER_SEC, at), f->observer,
			by_us > 0 ? "ahead" : "back", quantity_format_span(llabs(by_us), by),
			moved ? "; its samples were moved to match the other observers" : "");
	}
	return r;
}

int dataset_settle_clocks(struct lp_dataset *ds, struct lp_table_builder *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ds->n; i++) {
		struct data_file *f = &ds->files[i];
		bool moved;

		f->clock.known = true;
		if (!f->observer || !clock_stepped(&f->clock))
			continue;
		r = clock_settle(&f->clock, f->observer, b, &moved);
		if (r == 0)
			r = clock_tell(ds, f, moved);
	}
	return r;
}

static int offset_add(struct lp_dataset *ds, const char *observer, int64_t us, int64_t step_us)
{
	char text[QUANTITY_TEXT_MAX];
	char *copy = strdup(observer);

	if (!copy ||
		array_reserve(&ds->offsets, &ds->cap_offsets, ds->n_offsets + 1,
			sizeof(*ds->offsets)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	ds->offsets[ds->n_offsets++] = (struct data_offset){copy, us, step_us};
	return dataset_tell(ds,
		"the clock of %s seems to be about %s %s the others': it has the same load, but at "
		"other times. Its samples were moved to match",
		observer, quantity_format_span(llabs(us), text), us > 0 ? "ahead of" : "behind");
}

static int offsets_find(struct lp_dataset *ds, const struct lp_table_builder *b)
{
	_cleanup_free_ struct table_offset *found = NULL;
	size_t n = 0;
	int r = table_offsets_find(b, &found, &n);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = offset_add(
			ds, found[i].observer, found[i].slots * b->opt->step_us, b->opt->step_us);
	return r;
}

int dataset_align(struct lp_dataset *ds, struct lp_table_builder *b)
{
	int64_t step = b->opt->step_us;
	int r = ds->looked ? 0 : offsets_find(ds, b);

	for (size_t i = 0; r == 0 && i < ds->n_offsets; i++) {
		const struct data_offset *o = &ds->offsets[i];
		int64_t slots = floor_div(o->us + step / 2, step);

		if (step < o->step_us)
			r = table_offset_refine(b, o->observer, slots, o->step_us / step, &slots);
		if (r == 0)
			r = table_builder_move(
				b, o->observer, INT64_MIN / 2, INT64_MAX / 2, -slots);
	}
	return r;
}

int dataset_set_aside(struct lp_dataset *ds, struct lp_table_builder *b)
{
	int64_t step = b->opt->step_us;
	int r = aside_find(ds, b);

	for (size_t i = 0; r == 0 && i < ds->n_aside; i++) {
		struct data_aside *a = &ds->aside[i];
		/* Grids differ by a few steps at most. */
		int64_t from = floor_div(a->first_us - ROUNDING_US, step) - 1;
		int64_t end = floor_div(a->end_us + ROUNDING_US, step) + 2;

		if (ds->looked)
			r = aside_refine(ds, a, b, from, end);
		if (r == 0)
			r = table_builder_drop(b, from, end);
	}
	return r;
}
