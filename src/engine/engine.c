#include "engine/engine.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/meant.h"
#include "base/median.h"
#include "base/time.h"
#include "explain/explain.h"
#include "explain/processes.h"
#include "explain/semantic_join.h"
#include "explain/status.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);
DEFINE_CLEANUP(struct lp_engine *, lp_engine_free);

void lp_engine_free(struct lp_engine *e)
{
	if (!e)
		return;
	slices_free(e->slices);
	for (uint32_t i = 0; i < e->n_lanes; i++)
		lane_release(&e->lanes[i]);
	lp_table_builder_free(e->plain);
	semantic_reader_free(e->logs);
	noted_processes_release(&e->processes);
	surroundings_release(&e->around);
	setup_release(&e->setup);
	free(e);
}

/* Advance the lanes to the watermark. The watermark may advance while this sleeps. */
static void lanes_work(void *arg)
{
	struct lp_engine *e = arg;

	while (e->failed == 0 && e->reached_us < e->watermark_us) {
		int64_t watermark_us = e->watermark_us;

		for (uint32_t i = 0; e->failed == 0 && i < e->n_lanes; i++)
			e->failed = lane_advance(&e->lanes[i], watermark_us, &e->failure);
		e->reached_us = watermark_us;
	}
}

/* The duration of an advance. An engine that is an epoch behind works for twice as long, and so on,
 * so that work that does not fit into slices is not postponed forever. */
static int64_t lanes_budget(const struct lp_engine *e)
{
	const struct lane *finest = &e->lanes[0];
	int64_t epoch_us = HORIZON_EPOCH * finest->params.win_shift * finest->params.step_us;
	int64_t behind_us = e->reached_us == INT64_MIN ? 0 : e->watermark_us - e->reached_us;

	if (behind_us > finest->horizon->span_us)
		return SLICES_WHOLE;
	return e->setup.opt->slice_us * (1 + behind_us / epoch_us);
}

/* Let the lanes work for `budget_us`. A failure is permanent: the state is unknown afterwards. */
static int lanes_run(struct lp_engine *e, int64_t budget_us, struct lp_err *err)
{
	if (e->slices)
		slices_run(e->slices, budget_us);
	else
		lanes_work(e);
	if (e->failed < 0 && err)
		*err = e->failure;
	return e->failed;
}

static int lanes_open(struct lp_engine *e, struct lp_err *err)
{
	int r = 0;

	if (e->setup.opt->slice_us > 0) {
		e->slices = slices_new(lanes_work, e);
		if (!e->slices)
			return lp_err_sys(err, -ENOMEM, "cannot make an engine");
	}
	for (const struct horizon *h = horizons; r == 0 && h->name; h++) {
		if (!horizon_applies(h, e->interval_us))
			continue;
		r = lane_init(&e->lanes[e->n_lanes++], h, &e->setup.detect, &e->table,
			e->setup.opt->bounded, e->interval_us, err);
	}
	return r;
}

static int plain_open(struct lp_engine *e, struct lp_err *err)
{
	const struct lp_diagnose_options *o = e->setup.opt;

	e->plain_table = e->table;
	e->plain_table.step_us = o->params.step_us;
	if (!e->plain_table.step_us && e->setup.trained)
		e->plain_table.step_us = thresholds_params(e->setup.trained)->step_us;
	if (!e->plain_table.step_us)
		e->plain_table.step_us = e->interval_us;
	return lp_table_builder_new(&e->plain_table, &e->plain, err);
}

/* Errors, crashes and hangs in the logs of system calls. If metrics or groups are selected, only
 * comparisons are wanted. */
static int logs_open(struct lp_engine *e, struct lp_err *err)
{
	const struct lp_diagnose_options *o = e->setup.opt;

	if (o->n_metrics || o->n_groups)
		return 0;
	e->logs_how = (struct semantic_options){.hang_after_us = o->hang_after_us,
		.error_window_us = o->error_window_us,
		.from_us = o->from_us,
		.to_us = o->to_us,
		.trained = e->setup.trained,
		.warn = o->warn};
	e->logs = semantic_reader_new(&e->logs_how, &e->setup.hosts, false);
	return e->logs ? 0 : lp_err_sys(err, -ENOMEM, "cannot make an engine");
}

int lp_engine_new(const struct lp_diagnose_options *options, int64_t interval_us,
	struct lp_engine **ret, struct lp_err *err)
{
	_cleanup_(lp_engine_freep) struct lp_engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return lp_err_sys(err, -ENOMEM, "cannot make an engine");
	if (interval_us <= 0)
		return lp_err_set(err, -EINVAL, "an engine needs the interval of its samples");
	e->interval_us = interval_us;
	e->watermark_us = e->reached_us = INT64_MIN;
	r = setup_open(&e->setup, options, err);
	if (r < 0)
		return r;
	e->table = setup_table(&e->setup);
	r = options_are_plain(options) ? plain_open(e, err) : lanes_open(e, err);
	if (r == 0)
		r = logs_open(e, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

int lp_engine_add_host(
	struct lp_engine *e, const char *observer, const char *addresses, struct lp_err *err)
{
	int r = hosts_add(&e->setup.hosts, observer, addresses);

	return r < 0 ? lp_err_sys(err, r, "cannot note the addresses of %s", observer) : 0;
}

uint32_t engine_builders(struct lp_engine *e, struct lp_table_builder *ret[ENGINE_LANES_MAX])
{
	for (uint32_t i = 0; i < e->n_lanes; i++)
		ret[i] = e->lanes[i].builder;
	if (!e->n_lanes)
		ret[0] = e->plain;
	return e->n_lanes ? e->n_lanes : 1;
}

const struct lp_select *lp_engine_select(const struct lp_engine *e)
{
	return lp_table_builder_select(e->n_lanes ? e->lanes[0].builder : e->plain);
}

/* Samples up to the watermark come too late. */
static void late_count(struct lp_engine *e, const struct lp_batch *batch)
{
	for (uint32_t s = batch->carry ? 1 : 0; s < batch->n_samples; s++)
		e->n_late += batch->wall_us[s] <= e->watermark_us;
}

int lp_engine_feed(struct lp_engine *e, const struct lp_source *source,
	const struct lp_batch *batch, struct lp_err *err)
{
	struct lp_table_builder *builders[ENGINE_LANES_MAX];
	uint32_t n = engine_builders(e, builders);
	int r = 0;

	late_count(e, batch);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = lp_table_builder_add(builders[i], source, batch, err);
	if (r == 0 &&
		((e->logs && semantic_reader_batch(e->logs, source->catalogue, batch) < 0) ||
			surroundings_batch(&e->around, source->catalogue, batch) < 0))
		r = lp_err_sys(err, -ENOMEM, "cannot take over samples");
	return r;
}

int lp_engine_feed_log(
	struct lp_engine *e, const char *observer, const struct lp_log *log, struct lp_err *err)
{
	return e->logs ? semantic_reader_log(e->logs, observer, log, err) : 0;
}

int lp_engine_feed_remark(struct lp_engine *e, const char *observer, int64_t wall_us,
	const char *text, struct lp_err *err)
{
	int r = noted_processes_add(&e->processes, observer, wall_us, text);

	return r < 0 ? lp_err_sys(err, r, "cannot take over a remark") : 0;
}

uint64_t lp_engine_n_late(const struct lp_engine *e)
{
	return e->n_late;
}

/* When each observer last delivered data. */
struct lasts {
	struct strmap index;
	double *last_us; /* exact: times are below 2^53 */
	size_t n, cap;
	bool failed;
};

static void lasts_release(struct lasts *l)
{
	strmap_release(&l->index);
	free(l->last_us);
}

static void lasts_note(void *ctx, const struct lp_identity *component, int64_t last_us)
{
	struct lasts *l = ctx;
	const char *observer = component->observer;
	uint32_t at;

	if (strmap_get(&l->index, observer, &at)) {
		l->last_us[at] =
			(double)last_us > l->last_us[at] ? (double)last_us : l->last_us[at];
	} else if (array_reserve(&l->last_us, &l->cap, l->n + 1, sizeof(*l->last_us)) < 0 ||
		strmap_put(&l->index, observer, (uint32_t)l->n) < 0) {
		l->failed = true;
	} else {
		l->last_us[l->n++] = (double)last_us;
	}
}

static int lasts_get(const struct lp_engine *e, struct lasts *ret)
{
	table_builder_last(
		e->n_lanes ? e->lanes[e->n_lanes - 1].builder : e->plain, lasts_note, ret);
	return ret->failed ? -ENOMEM : 0;
}

int64_t lp_engine_ready(const struct lp_engine *e, int64_t lateness_us)
{
	_cleanup_(lasts_release) struct lasts l = {0};
	double latest = -INFINITY, ready = INFINITY;

	if (lasts_get(e, &l) < 0 || !l.n)
		return INT64_MIN;
	for (size_t i = 0; i < l.n; i++)
		latest = fmax(latest, l.last_us[i]);
	for (size_t i = 0; i < l.n; i++) {
		if (l.last_us[i] >= latest - (double)lateness_us)
			ready = fmin(ready, l.last_us[i]);
	}
	return (int64_t)ready;
}

/* Collecting files does not take longer than this. */
#define COLLECTING_US (INT64_C(600) * US_PER_SEC)

int engine_end(const struct lp_engine *e, int64_t *ret_us, struct lp_err *err)
{
	_cleanup_(lasts_release) struct lasts l = {0};

	if (lasts_get(e, &l) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	*ret_us = INT64_MIN;
	if (l.n) {
		double most, last;

		median_sort(l.last_us, l.n);
		most = l.last_us[(l.n - 1) / 2];
		last = l.last_us[l.n - 1];
		*ret_us = (int64_t)(last - most > COLLECTING_US ? last : most);
	}
	return 0;
}

int lp_engine_advance(struct lp_engine *e, int64_t watermark_us, struct lp_err *err)
{
	int r;

	if (watermark_us <= e->watermark_us)
		return 0;
	e->watermark_us = watermark_us;
	r = lanes_run(e, e->slices ? lanes_budget(e) : SLICES_WHOLE, err);
	for (uint32_t i = 0; i < e->n_lanes; i++) {
		if (watermark_us >= e->lanes[i].table.from_us)
			e->lanes[i].table.from_us = watermark_us + 1;
	}
	if (e->plain && watermark_us >= e->plain_table.from_us)
		e->plain_table.from_us = watermark_us + 1;
	if (r == 0 && e->logs && semantic_reader_advance(e->logs, watermark_us) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot judge the logs of system calls");
	return r;
}

/* The windows of the methods are shifted by 30 or 32 slots. */
#define PLAIN_ALIGN 480
#define PLAIN_MARGIN 1024

static bool is_known_metric(const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (!strcmp((*m)->name, name))
			return true;
	}
	return false;
}

static bool is_compared_metric(const struct lp_verdict *v, const char *name)
{
	for (uint32_t i = 0; v && i < v->n_tables; i++) {
		if (!strcmp(v->tables[i]->metric, name))
			return true;
	}
	return false;
}

/* Without a selected metric there may be nothing to compare (`v` is NULL), and the verdict is
 * "unknown". It is an error if the user selected something that is neither in the data nor known to
 * limpet. */
static int check_metrics(
	const struct lp_diagnose_options *o, const struct lp_verdict *v, struct lp_err *err)
{
	for (uint32_t i = 0; i < o->n_metrics; i++) {
		struct meant m = {.word = o->metrics[i]};

		if (is_known_metric(o->metrics[i]) || is_compared_metric(v, o->metrics[i]))
			continue;
		for (const struct lp_metric *const *known = lp_metric_all(); *known; known++)
			meant_consider(&m, (*known)->name);
		return lp_err_set(err, -ENOENT, "%sno component has a metric '%s'%s%s",
			v ? "" : "there is nothing to compare: ", o->metrics[i],
			o->from_us || o->to_us ? " in that time" : "", meant_question(&m));
	}
	return 0;
}

/* Long times without any data, far longer than windows, may be left out if windows keep their
 * places. */
static void plain_cuts(const struct lp_params *p, struct table_part *part)
{
	uint32_t shift = p->win_shift ? p->win_shift : PLAIN_ALIGN;
	uint64_t margin = (uint64_t)p->win_size * (2 * (uint64_t)p->k + 6) + p->smooth;

	part->align = (PLAIN_ALIGN + shift - 1) / shift * shift;
	part->margin = margin < PLAIN_MARGIN ? PLAIN_MARGIN
		: margin < UINT32_MAX	     ? (uint32_t)margin
					     : UINT32_MAX;
}

/* Everything at once, as in the definitions. */
static int plain_verdict(const struct lp_engine *e, struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(view_release) struct view view = {0};
	int64_t step = e->plain_table.step_us;
	int64_t final = floor_div(e->watermark_us - step / 2, step);
	struct table_part part = {0};
	int r;

	if (!table_builder_span(e->plain, &part.first, &part.end) || part.first > final)
		return -ENODATA;
	part.end = part.end > final + 1 ? final + 1 : part.end;
	part.seen_from = part.first;
	plain_cuts(e->setup.trained ? thresholds_params(e->setup.trained) : &e->setup.opt->params,
		&part);
	r = view_make(e->plain, &part, e->setup.detect.hosts, &view, err);
	if (r == 0 && view_note_left_out(view.v, view.left_out) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r == 0)
		r = detect_verdict(view.v, &e->setup.detect, err);
	if (r == 0)
		*ret = TAKE_PTR(view.v);
	return r;
}

/* The most significant horizon: the coarsest one for which the data is longer than the span of the
 * next finer one. */
static uint32_t lane_choose(const struct lp_engine *e)
{
	uint32_t at = 0;

	while (at + 1 < e->n_lanes && lane_age_us(&e->lanes[at]) > e->lanes[at].horizon->span_us)
		at++;
	return at;
}

/* Note if not everything was examined. */
static int fast_note(const struct lp_engine *e, struct lp_verdict *v, struct lp_err *err)
{
	char from[TIME_TEXT_MAX];

	if (!e->fast_from_us ||
		verdict_note_hint(v, "--since and --until choose a time",
			"faults of a few minutes were looked for from %s on only: there is too "
			"much data before that",
			time_format(e->fast_from_us, from)) == 0)
		return 0;
	return lp_err_sys(err, -ENOMEM, "cannot compare");
}

/* Add the findings of a finer horizon to a verdict. */
static int finer_join(const struct lane *l, struct lp_verdict *v, struct lp_err *err)
{
	_cleanup_(episodes_release) struct episodes found = {0};
	_cleanup_(lp_verdict_freep) struct lp_verdict *own = NULL;
	int r = lane_episodes(l, &found, err), joined = 0;

	if (r < 0)
		return r;
	joined = episodes_join(&found, lane_since_us(l), NULL, v);
	/* Only new components have no group yet, and few of these are found to limp. */
	if (joined > 0) {
		r = lane_verdict(l, true, &own, err);
		joined = r < 0 ? 0 : episodes_join(&found, lane_since_us(l), own, v);
	}
	return joined < 0 ? lp_err_sys(err, joined, "cannot compare") : r;
}

/* Add the findings of the finer horizons to the verdict of the most significant one. */
static int horizons_verdict(
	const struct lp_engine *e, bool lazy, struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	_cleanup_(episodes_release) struct episodes found = {0};
	uint32_t at = lane_choose(e);
	int r = lane_verdict(&e->lanes[at], lazy, &v, err);

	for (uint32_t i = 0; r == 0 && i < at; i++)
		r = finer_join(&e->lanes[i], v, err);
	/* Findings that have left the span of the chosen horizon are among its episodes. */
	if (r == 0)
		r = lane_past(&e->lanes[at], &found, err);
	if (r == 0 && episodes_join(&found, INT64_MIN, NULL, v) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r == 0)
		r = fast_note(e, v, err);
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}

/* The comparison. The verdict is empty if there is no data. */
static int verdict_compared(const struct lp_engine *e, const struct semantic *semantic, bool lazy,
	struct lp_verdict **ret, struct lp_err *err)
{
	int r = e->n_lanes ? horizons_verdict(e, lazy, ret, err) : plain_verdict(e, ret, err);

	if (r == 0 && e->data) {
		r = check_metrics(e->setup.opt, *ret, err);
		if (r < 0) {
			lp_verdict_free(*ret);
			*ret = NULL;
		}
		return r;
	}
	if (r != -ENODATA)
		return r;
	r = semantic->any ? 0 : check_metrics(e->setup.opt, NULL, err);
	if (r < 0)
		return r;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	(*ret)->method = e->setup.detect.measure->name;
	(*ret)->params = e->setup.detect.measure->defaults;
	return 0;
}

/* Facts around the reported components: from the dataset, or from the data that was fed. */
static int verdict_surround(const struct lp_engine *e, struct lp_verdict *v, struct lp_err *err)
{
	_cleanup_(surroundings_release) struct surroundings read = {0};
	int r = 0;

	if (!v->n_suspects && !v->n_warnings && !v->n_absent)
		return 0;
	if (e->data)
		r = surroundings_read(&read, e->data, err);
	if (r == 0 && surroundings_tell(e->data ? &read : &e->around, v) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot tell what is around the suspects");
	return r;
}

/* Suspects, incidents, and the status. */
static int verdict_explain(const struct lp_engine *e, const struct semantic *semantic,
	struct lp_verdict *v, struct lp_err *err)
{
	const struct setup *s = &e->setup;
	const struct status_grounds grounds = {.options = s->opt,
		.data = e->data,
		.meanings = &s->meanings,
		.inventories = {
			s->expected.n ? &s->expected : NULL, topology_observers(s->topology)}};
	struct operator_state *state = NULL;
	int r = s->opt->state ? state_open(s->opt->state, true, &state, err) : 0;

	if (r == 0 && e->data)
		r = noted_processes_read(v, e->data, err);
	if (r == 0 && noted_processes_give(v, &e->processes) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot read the notes about processes");
	if (r == 0)
		r = explain_verdict(v, s->topology, &s->hosts, state, semantic, err);
	if (r == 0)
		r = verdict_surround(e, v, err);
	if (r == 0)
		r = status_judge(v, &grounds, err);
	state_close(state);
	return r;
}

static int engine_judge(struct lp_engine *e, bool lazy, struct lp_verdict **ret, struct lp_err *err)
{
	const struct lp_diagnose_options *o = e->setup.opt;
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	_cleanup_(semantic_release) struct semantic semantic = {0};
	int r = e->reached_us < e->watermark_us ? lanes_run(e, SLICES_WHOLE, err) : 0;

	if (r < 0)
		return r;
	if (e->logs && semantic_reader_verdict(e->logs, &semantic) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot judge the logs of system calls");
	r = verdict_compared(e, &semantic, lazy, &v, err);
	if (r == 0)
		r = semantic_join_components(v, &semantic, o->components, o->n_components, err);
	if (r == 0)
		r = verdict_explain(e, &semantic, v, err);
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}

int lp_engine_verdict(struct lp_engine *e, struct lp_verdict **ret, struct lp_err *err)
{
	return engine_judge(e, false, ret, err);
}

int engine_verdict_lazy(struct lp_engine *e, struct lp_verdict **ret, struct lp_err *err)
{
	return engine_judge(e, true, ret, err);
}
