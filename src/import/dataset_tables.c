/* Tables from many files: they are read in parallel, each into a separate builder, and joined in
 * order. The result, including warnings and errors, does not depend on the number of threads.
 */
#include "base/cleanup.h"
#include "import/dataset_team.h"
#include "model/table_view.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of files that may wait to be joined. The memory for tables is divided by it. It does
 * not depend on threads: the same files must be handled in the same way on every machine. */
#define PARTS_MAX 32

/* Warnings of one file that are kept until it is joined. */
#define WARNINGS_MAX 1000

/* All files. */
struct whole {
	const struct lp_table_options *opt; /* of the first builder */
	struct lp_dataset *ds;
	struct lp_table_builder *const *builders;
	uint32_t n_builders;
	struct data_clock *clock; /* the clock of the current file */
	struct lp_err first;	  /* failure, see dataset_note() */
	bool direct;		  /* one file was too large: read the rest directly */
};

static void part_release(struct file_part *p)
{
	for (size_t i = 0; i < p->n_warnings; i++)
		free(p->warnings[i]);
	free(p->warnings);
	for (uint32_t i = 0; i < p->n_builders; i++)
		lp_table_builder_free(p->builders[i]);
	*p = (struct file_part){0};
}

/* Keep a warning until the file is joined. */
static void part_warn(void *ctx, const char *text)
{
	struct file_part *p = ctx;

	if (p->n_warnings == WARNINGS_MAX || (!p->overflow && part_keep_warning(p, text) < 0))
		p->overflow = true;
}

static int builders_take(struct lp_table_builder *const *builders, uint32_t n,
	struct data_clock *clock, const struct lp_source *source, const struct lp_batch *batch,
	struct lp_err *err)
{
	_cleanup_free_ int64_t *walls = NULL;
	struct lp_batch ordered;
	int r = 0;

	/* Users who print values want the recorded times. */
	if (batch && clock && builders[0]->opt->judged) {
		walls = calloc((size_t)batch->n_samples + 1, sizeof(*walls));
		if (!walls || clock_follow(clock, batch, walls) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read data");
		ordered = *batch;
		ordered.wall_us = walls;
		batch = &ordered;
	}
	for (uint32_t i = 0; batch && r == 0 && i < n; i++)
		r = lp_table_builder_add(builders[i], source, batch, err);
	return r;
}

static int part_take(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct file_part *p = ctx;

	return builders_take(p->builders, p->n_builders, p->clock, source, batch, err);
}

static int whole_take(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct whole *w = ctx;

	return builders_take(w->builders, w->n_builders, w->clock, source, batch, err);
}

/* Builders like those of the result, with a share of the memory. */
static int part_open(struct file_part *p, const struct whole *w)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->n_builders; i++) {
		p->opt[i] = *w->builders[i]->opt;
		p->opt[i].bytes_max = w->builders[i]->budget.max / PARTS_MAX;
		if (!p->opt[i].bytes_max)
			p->opt[i].bytes_max = 1;
		r = lp_table_builder_new(&p->opt[i], &p->builders[i], &p->err);
		p->n_builders += r == 0;
	}
	return r;
}

/* Read a file into a separate builder. */
static void part_read(struct file_part *p, const struct whole *w, struct data_file *f)
{
	struct lp_warn warn = {.warn = part_warn, .ctx = p};
	int stop = 0;

	p->clock = f->importer ? NULL : &f->clock;
	p->r = part_open(p, w);
	if (p->r < 0)
		return;
	p->r = data_file_read(w->ds, f, lp_table_builder_select(p->builders[0]), &warn, part_take,
		p, &stop, &p->err);
	if (stop)
		p->r = stop;
	p->overflow |= stop == -EFBIG;
}

/* Report impossible values and times. */
static int file_tell(struct whole *w, const struct data_file *f, uint64_t absurd, uint64_t beyond)
{
	if (w->ds->looked)
		return 0;
	if (beyond &&
		dataset_tell(w->ds, "%s: %" PRIu64 " sample%s left out: their times are impossible",
			f->path, beyond, beyond == 1 ? " was" : "s were") < 0)
		return -ENOMEM;
	if (!absurd)
		return 0;
	return dataset_tell(w->ds,
		"%s: %" PRIu64 " value%s negative, infinite or absurdly large, and count%s as "
		"missing",
		f->path, absurd, absurd == 1 ? " is" : "s are", absurd == 1 ? "s" : "");
}

/* Note the time range of a file's data. */
static void file_span(struct data_file *f, const struct lp_table_builder *b)
{
	int64_t first, end;

	if (!table_builder_span(b, &first, &end))
		return;
	f->read_first_us = first * b->opt->step_us;
	f->read_last_us = (end - 1) * b->opt->step_us;
}

/* Read a file directly into the result. Non-zero: reading cannot continue; `err` says why. */
static int whole_read(struct whole *w, size_t file, struct lp_err *err)
{
	const struct data_file *f = &w->ds->files[file];
	struct data_clock *clock = &w->ds->files[file].clock;
	uint64_t absurd = w->builders[0]->n_absurd, beyond = w->builders[0]->n_beyond;
	struct lp_err here = {0};
	int stop = 0;
	int r;

	/* A part of the file may have been read before. */
	if (!clock->known)
		clock_release(clock);
	w->clock = f->importer ? NULL : clock;
	r = data_file_read(w->ds, f, lp_table_builder_select(w->builders[0]), w->ds->warn,
		whole_take, w, &stop, &here);

	if (!stop &&
		file_tell(w, f, w->builders[0]->n_absurd - absurd,
			w->builders[0]->n_beyond - beyond) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read data");
	if (!stop && dataset_note(w->ds, &here, r, &w->first))
		return 0;
	*err = stop ? here : w->first;
	return stop ? stop : w->first.code;
}

/* Join the next file to the result. Non-zero as above. */
static int whole_join(struct whole *w, struct file_part *p, size_t file, struct lp_err *err)
{
	struct data_file *f = &w->ds->files[file];
	int r = 0;

	if (p->overflow) {
		w->direct = true;
		part_release(p);
		return whole_read(w, file, err);
	}
	for (size_t i = 0; i < p->n_warnings; i++)
		lp_warn_raise(w->ds->warn, "%s", p->warnings[i]);
	if (!dataset_note(w->ds, &p->err, p->r, &w->first)) {
		*err = w->first;
		return w->first.code;
	}
	if (p->n_builders)
		file_span(f, p->builders[0]);
	if (p->n_builders &&
		file_tell(w, f, p->builders[0]->n_absurd, p->builders[0]->n_beyond) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read data");
	for (uint32_t i = 0; r == 0 && i < p->n_builders; i++)
		r = table_builder_join(w->builders[i], p->builders[i], f->path, err);
	part_release(p);
	return r;
}

/* Files that are read at the same time, by this process and the others of its team. */
struct parts {
	struct file_part *items;
	size_t first, n;	    /* which files */
	struct team *team;	    /* NULL: this process reads all */
	struct team_parcels others; /* packed data that the others have read */
};

static void parts_release(struct parts *p)
{
	for (size_t i = 0; p->items && i < p->n; i++)
		part_release(&p->items[i]);
	free(p->items);
	team_parcels_release(&p->others);
}

/* Share what this process has read, and get the rest. */
static int parts_share(const struct whole *w, struct parts *p, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf mine = {0};

	parcel_begin(&mine);
	for (size_t i = 0; i < p->n; i++) {
		if (dataset_mine(w->ds, p->first + i))
			part_pack(&p->items[i], &w->ds->files[p->first + i].clock, &mine);
	}
	return team_share(p->team, &mine, &p->others, err);
}

/* Unpack a file if another process has read it. */
static int part_receive(const struct whole *w, struct parts *p, size_t i, struct lp_err *err)
{
	struct data_file *f = &w->ds->files[p->first + i];
	int owner = p->team ? dataset_owner(w->ds, p->team, p->first + i) : 0, r;

	if (!p->team || owner == p->team->rank)
		return 0;
	r = part_open(&p->items[i], w);
	if (r == 0)
		r = part_unpack(&p->items[i], &f->clock, &p->others.of[owner]);
	return r < 0 ? lp_err_sys(err, r, "cannot take over %s", f->path) : 0;
}

/* A file is too large to be shared: the first process reads it and continues alone. */
static int parts_disband(const struct whole *w, const struct parts *p)
{
	if (w->ds->team && p->team->rank)
		return -ECANCELED;
	dataset_leave(w->ds);
	return 0;
}

static int parts_join(struct whole *w, struct parts *p, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		r = part_receive(w, p, i, err);
		if (r == 0 && p->items[i].overflow)
			r = parts_disband(w, p);
		if (r == 0)
			r = whole_join(w, &p->items[i], p->first + i, err);
		part_release(&p->items[i]);
	}
	return r;
}

/* Read some files at the same time. */
static int whole_read_parts(struct whole *w, size_t first, size_t n, struct lp_err *err)
{
	_cleanup_(parts_release) struct parts parts = {.items = calloc(n, sizeof(*parts.items)),
		.first = first,
		.n = n,
		.team = w->ds->team};
	int r = 0;

	if (!parts.items)
		return lp_err_sys(err, -ENOMEM, "cannot read data");
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
	for (size_t i = 0; i < n; i++) {
		if (dataset_mine(w->ds, first + i))
			part_read(&parts.items[i], w, &w->ds->files[first + i]);
	}
	if (parts.team)
		r = parts_share(w, &parts, err);
	return r < 0 ? r : parts_join(w, &parts, err);
}

static int whole_read_all(struct whole *w, struct lp_err *err)
{
	size_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->ds->n; i += n) {
		if (w->opt->progress)
			w->opt->progress(w->opt->progress_ctx, (double)i / (double)w->ds->n);
		n = w->ds->n - i < PARTS_MAX ? w->ds->n - i : PARTS_MAX;
		if (w->direct)
			n = 1;
		r = w->direct ? whole_read(w, i, err) : whole_read_parts(w, i, n, err);
	}
	return r;
}

int dataset_build(struct lp_dataset *ds, struct lp_table_builder *const *builders, uint32_t n,
	struct lp_err *err)
{
	struct whole whole = {
		.ds = ds, .opt = builders[0]->opt, .builders = builders, .n_builders = n};
	int r = dataset_fetch(ds, err);

	if (r == 0)
		r = whole_read_all(&whole, err);
	if (r == 0 && !ds->looked && builders[0]->opt->judged &&
		dataset_settle_clocks(ds, builders[0]) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot read data");
	/* Users who print values want all of them; a comparison does not. */
	for (uint32_t i = 0; r == 0 && i < n && builders[i]->opt->judged; i++)
		r = dataset_set_aside(ds, builders[i]) < 0
			? lp_err_sys(err, -ENOMEM, "cannot read data")
			: 0;
	for (uint32_t i = 0; r == 0 && i < n && builders[i]->opt->judged; i++)
		r = dataset_align(ds, builders[i]) < 0
			? lp_err_sys(err, -ENOMEM, "cannot read data")
			: 0;
	ds->looked = true;
	if (r != 0)
		return r;
	return dataset_end(ds, &whole.first, err) < 0 ? -EBADMSG : 0;
}

DEFINE_CLEANUP(struct lp_table_builder *, lp_table_builder_free);

/* Read everything into a new builder. On -EBADMSG (damage) there is a builder, too. */
static int builder_read(struct lp_dataset *ds, struct lp_table_options *opt,
	struct lp_table_builder **ret, struct lp_err *err)
{
	_cleanup_(lp_table_builder_freep) struct lp_table_builder *builder = NULL;
	int r = 0;

	if (!opt->step_us)
		r = lp_dataset_interval(ds, &opt->step_us, err);
	if (r == 0)
		r = lp_table_builder_new(opt, &builder, err);
	if (r == 0)
		r = dataset_build(ds, &builder, 1, err);
	if (r != 0 && r != -EBADMSG)
		return r;
	for (size_t i = 0; i < ds->n_notes; i++)
		lp_warn_raise(ds->warn, "%s", ds->notes[i]);
	*ret = TAKE_PTR(builder);
	return r;
}

int lp_dataset_tables(struct lp_dataset *ds, const struct lp_table_options *options,
	struct lp_table ***ret_tables, uint32_t *ret_n, struct lp_err *err)
{
	_cleanup_(lp_table_builder_freep) struct lp_table_builder *builder = NULL;
	struct lp_table_options opt = *options;
	struct lp_err finish_err = {0};
	int r = builder_read(ds, &opt, &builder, err);

	if (r != 0 && r != -EBADMSG)
		return r;
	if (lp_table_builder_finish(builder, ret_tables, ret_n, &finish_err) < 0) {
		*err = finish_err;
		return finish_err.code;
	}
	return r;
}

int dataset_pieces(struct lp_dataset *ds, const struct lp_table_options *options, table_piece_fn fn,
	void *ctx, struct lp_err *err)
{
	_cleanup_(lp_table_builder_freep) struct lp_table_builder *builder = NULL;
	struct lp_table_options opt = *options;
	struct lp_err piece_err = {0};
	int r = builder_read(ds, &opt, &builder, err), given;

	if (r != 0 && r != -EBADMSG)
		return r;
	given = table_builder_pieces(builder, fn, ctx, &piece_err);
	if (given == 0 || (r != 0 && given != -EFBIG))
		return r;
	*err = piece_err;
	return given;
}
