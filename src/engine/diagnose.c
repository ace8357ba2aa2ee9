#include <limpet/diagnose.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "engine/engine.h"
#include "explain/semantic_read.h"
#include "import/dataset_team.h"
#include <errno.h>

DEFINE_CLEANUP(struct lp_engine *, lp_engine_free);

/* The step of the grid if the user chose how to compare, but not the step: that of the data, or 15
 * s for hours of finer data. */
static int step_choose(struct lp_dataset *ds, int64_t interval_us, struct lp_diagnose_options *o,
	struct lp_err *err)
{
	int64_t first = 0, last = 0;
	int r;

	if (!options_are_plain(o) || o->params.step_us || o->thresholds)
		return 0;
	r = lp_dataset_span(ds, &first, &last, err);
	if (r < 0)
		return r;
	if (o->from_us > first)
		first = o->from_us;
	if (o->to_us && o->to_us < last)
		last = o->to_us;
	o->params.step_us = detect_step(interval_us, last > first ? last - first : 0);
	return 0;
}

/* Are there neither samples nor logs? */
static bool engine_is_empty(const struct lp_engine *e)
{
	return e->watermark_us == INT64_MIN && !(e->logs && semantic_reader_any(e->logs));
}

/* The fast horizon reads at most the last FAST_SAMPLES_MAX samples of each metric, but never less
 * than its span: a day of a large site at 1 s would take minutes. */
#define FAST_SAMPLES_MAX INT64_C(5000000)

/* The beginning of a finer lane, once a coarser one has shown how much data there is. */
static int64_t lane_from(const struct lane *l, const struct lane *coarser)
{
	_cleanup_(table_grid_release) struct table_grid grid = {0};
	struct table_part part = {.align = 1};
	int64_t rows = 1, least = l->horizon->span_us / l->params.step_us, slots;

	if (!table_builder_span(coarser->builder, &part.first, &part.end) ||
		table_grid_make(coarser->builder, &part, &grid) < 0)
		return 0;
	for (size_t s = 0; s < coarser->builder->n_sets; s++) {
		if ((int64_t)coarser->builder->sets[s].n_rows > rows)
			rows = (int64_t)coarser->builder->sets[s].n_rows;
	}
	if (FAST_SAMPLES_MAX / rows > least)
		least = FAST_SAMPLES_MAX / rows;
	least *= l->params.step_us;
	slots = -floor_div(-least, coarser->params.step_us);
	if ((int64_t)grid.n_slots <= slots)
		return 0;
	return (table_grid_slot(&grid, (int64_t)grid.n_slots - slots) + slots) *
		coarser->params.step_us -
		least;
}

/* Feed everything. The coarsest lane comes first: it decides how far back the finer ones reach. */
static int engine_read(struct lp_engine *e, struct lp_dataset *ds, struct lp_err *err)
{
	struct lp_table_builder *builders[ENGINE_LANES_MAX];
	uint32_t n = engine_builders(e, builders);
	struct lp_warn *warn = ds->warn;
	int r = dataset_build(ds, &builders[n - 1], 1, err);

	for (uint32_t i = n - 1; (r == 0 || r == -EBADMSG) && i-- > 0;) {
		struct lane *l = &e->lanes[i];
		int64_t from = lane_from(l, &e->lanes[i + 1]);
		struct lp_err again = {0};
		int got;

		if (from > l->table.from_us)
			l->table.from_us = e->fast_from_us = from;
		l->builder->select.from_us = l->table.from_us;
		/* Damage was already reported. */
		ds->warn = NULL;
		got = dataset_build(ds, &builders[i], 1, &again);
		ds->warn = warn;
		if (got < 0 && got != -EBADMSG) {
			*err = again;
			r = got;
		}
	}
	return r;
}

/* Feed everything, and advance to the end of most of it. */
static int engine_fill(struct lp_engine *e, struct lp_dataset *ds, struct lp_err *err)
{
	struct lp_err here = {0};
	int64_t end_us;
	int read = engine_read(e, ds, err), r;

	if (read < 0 && read != -EBADMSG)
		return read;
	for (uint32_t i = 0; i < e->n_lanes; i++)
		e->lanes[i].team = ds->team;
	r = engine_end(e, &end_us, &here);
	/* The last samples are complete at the time when the next ones would have come. */
	if (r == 0 && end_us > INT64_MIN)
		r = lp_engine_advance(e, end_us + e->interval_us, &here);
	if (r < 0)
		*err = here;
	return r < 0 ? r : read;
}

/* The meaning of metrics in archives applies, unless the training or the user overrides it.
 */
static int meanings_take(struct lp_dataset *ds, struct setup *s, struct lp_err *err)
{
	struct meanings all = {0};
	int r = dataset_meanings(ds, &all, err);

	if (r == 0)
		r = meanings_copy(&all, &s->meanings, err);
	if (r < 0) {
		meanings_release(&all);
		return r;
	}
	meanings_release(&s->meanings);
	s->meanings = all;
	return 0;
}

/* An engine for the dataset, without its samples. Logs of system calls were read if `*ret_logs` is
 * 0, or -EBADMSG (damage); in a team, the first process reads them, because it judges them. */
static int engine_open(struct lp_dataset *ds, struct lp_diagnose_options *o, struct lp_engine **ret,
	int *ret_logs, struct lp_err *err)
{
	_cleanup_(lp_engine_freep) struct lp_engine *e = NULL;
	int64_t interval_us;
	int r = lp_dataset_interval(ds, &interval_us, err);

	if (r == 0)
		r = step_choose(ds, interval_us, o, err);
	if (r == 0)
		r = lp_engine_new(o, interval_us, &e, err);
	if (r < 0 || !e)
		return r;
	r = dataset_hosts(ds, &e->setup.hosts, err);
	if (r == 0)
		r = meanings_take(ds, &e->setup, err);
	if (r == 0 && e->logs && !(ds->team && ds->team->rank))
		*ret_logs = semantic_read(ds, &e->logs_how, e->logs, err);
	if (r == 0 && *ret_logs < 0 && *ret_logs != -EBADMSG)
		r = *ret_logs;
	if (r == 0)
		*ret = TAKE_PTR(e);
	return r;
}

/* Machines have different amounts of memory, but all processes of a team must refuse the same. */
static int budgets_agree(struct lp_engine *e, struct team *team, struct lp_err *err)
{
	struct lp_table_builder *builders[ENGINE_LANES_MAX];
	uint32_t n = engine_builders(e, builders);
	uint64_t max = builders[0]->budget.max;
	int r = team_follow(team, &max, sizeof(max), err);

	for (uint32_t i = 0; r == 0 && i < n; i++)
		builders[i]->budget.max = max;
	return r;
}

/* In a team all processes have done their work; the first one continues alone. */
static int engine_part(struct lp_engine *e, struct lp_dataset *ds, int r, struct lp_err *err)
{
	bool first = !ds->team || !ds->team->rank;
	int agreed = r == -EBADMSG ? 0 : r;

	if (r == -ECANCELED)
		return r;
	agreed = team_agree(ds->team, agreed, err);
	dataset_leave(ds);
	for (uint32_t i = 0; i < e->n_lanes; i++)
		e->lanes[i].team = NULL;
	return agreed < 0 ? agreed : first ? r : -ECANCELED;
}

int lp_diagnose(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(lp_engine_freep) struct lp_engine *e = NULL;
	struct lp_diagnose_options o = *options;
	struct lp_err here = {0};
	int r, logs = 0, said;

	lp_dataset_limit(ds, o.from_us, o.to_us);
	lp_dataset_progress(ds, o.progress, o.progress_ctx);
	r = engine_open(ds, &o, &e, &logs, err);
	r = team_agree(ds->team, r, err);
	if (r < 0 || !e)
		return r;
	r = budgets_agree(e, ds->team, &here);
	if (r == 0)
		r = engine_fill(e, ds, &here);
	r = engine_part(e, ds, r, &here);
	if (r < 0)
		*err = here;
	/* If limpet could read nothing at all, the error is enough. */
	if (r < 0 && (r != -EBADMSG || engine_is_empty(e)))
		return r == -EBADMSG ? err->code : r;
	e->data = ds;
	here = (struct lp_err){0};
	said = lp_engine_verdict(e, ret, &here);
	if (said < 0)
		*err = here;
	return said < 0 ? said : r < 0 ? r : logs;
}
