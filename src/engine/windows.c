#include "engine/windows.h"

#include "base/cleanup.h"
#include "base/slices.h"
#include "detect/compare/timeseries.h"
#include "detect/weigh.h"
#include "engine/together.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The time-series method averages over at most this many samples. */
#define CUT_SAMPLES 32

/* With this many members or more, threads share the work. */
#define MEMBERS_MANY 4096

void window_view_release(struct window_view *f)
{
	for (size_t i = 0; f->tracks && i < f->n_tracks; i++)
		free(f->tracks[i]);
	free(f->tracks);
	view_release(&f->view);
	*f = (struct window_view){0};
}

uint32_t windows_context(const struct lane *l)
{
	return (uint32_t)(VIEW_LATENESS_US / l->params.step_us) + l->params.smooth + 1;
}

/* The first sample of a stretch of windows, for metrics that are compared by sample: windows
 * overlap, and a sample belongs to the last window that has it. */
static int64_t first_sample(const struct lane *l, int64_t window)
{
	return window * l->params.win_shift + l->params.win_size - l->params.win_shift;
}

/* One metric of one group in a stretch of windows. */
struct stretch_of_pair {
	struct lane *l;
	const struct lp_verdict *v;
	const struct comparison_look *look;
	struct tracks *tracks;
	const uint32_t *numbers; /* [member] of its track */
	int64_t slot;		 /* of the first slot of the tables */
	int64_t number;		 /* of the first window or sample */
};

/* Keep the result of a member. */
static int member_keep(const struct stretch_of_pair *p, const struct comparison *c, uint32_t member)
{
	const struct lp_series *s = c->series;
	struct track *t = &p->tracks->items[p->numbers[member]];
	int r = 0;

	if (t->first_slot == INT64_MAX && c->first_slot[member] < INT64_MAX)
		t->first_slot = c->first_slot[member] + c->context + p->slot;
	for (uint32_t w = 0; r == 0 && w < s->n_windows; w++) {
		size_t at = (size_t)member * s->n_windows + w;
		struct kept k = {.own = c->own[at],
			.peers = c->peers[at],
			.ratio = s->ratios[at],
			.distance = s->distances[at],
			.mark = s->marks[at]};

		r = track_put(t, p->number + w, &k);
	}
	return r;
}

/* Each member has a track of its own, so threads can divide the members. */
static int members_keep(const struct stretch_of_pair *p, const struct comparison *c)
{
	uint32_t n = p->v->groups[c->series->group].n_members;
	int failed = 0;

#pragma omp parallel for schedule(static) reduction(min : failed) if (n >= MEMBERS_MANY)
	for (uint32_t i = 0; i < n; i++) {
		int r;

		slices_rest_at(i);
		r = member_keep(p, c, i);

		failed = r < failed ? r : failed;
	}
	return failed;
}

/* The numbers of the members' tracks. */
static const uint32_t *pair_tracks(
	struct window_view *f, struct tracks *tracks, uint32_t group, uint32_t table)
{
	const struct lp_verdict *v = f->view.v;
	const struct lp_peer_group *g = &v->groups[group];
	size_t at = (size_t)group * v->n_tables + table;
	uint32_t *numbers;

	if (f->tracks[at])
		return f->tracks[at];
	numbers = calloc((size_t)g->n_members + 1, sizeof(*numbers));
	for (uint32_t i = 0; numbers && i < g->n_members; i++) {
		slices_rest_at(i);
		if (tracks_get(tracks, v->components[g->members[i]]->text, &numbers[i]) < 0) {
			free(numbers);
			return NULL;
		}
	}
	f->tracks[at] = numbers;
	return numbers;
}

static void first_slots(const struct stretch_of_pair *p, uint32_t n, int64_t *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t first = p->tracks->items[p->numbers[i]].first_slot;

		ret[i] = first < INT64_MAX ? first - p->slot : INT64_MAX;
	}
}

/* Compare a pair, keep the result, and pack it for a team. */
static int pair_keep(const struct stretch_of_pair *p, struct comparison_past *past, uint32_t group,
	uint32_t table, struct strbuf *packed, struct lp_err *err)
{
	const struct lp_peer_group *g = &p->v->groups[group];
	_cleanup_free_ int64_t *first = calloc((size_t)g->n_members + 1, sizeof(*first));
	_cleanup_(comparison_release) struct comparison c = {0};
	_cleanup_(series_release) struct lp_series s = {0};
	int r;

	if (!first)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	first_slots(p, g->n_members, first);
	past->first_slot = first;
	past->look = p->look;
	r = comparison_make(p->l->opt, p->v, &p->l->params, group, table, past, &c, &s, err);
	if (r > 0 && members_keep(p, &c) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r >= 0 && p->l->team)
		results_pack(p->tracks, p->numbers, g->n_members, r > 0 ? s.n_windows : 0,
			p->number, packed);
	return r < 0 ? r : 0;
}

/* Sharing the pairs of a stretch of windows in a team. */
struct sharing {
	struct division division;
	struct strbuf mine;
	struct team_parcels all; /* after all processes have shared theirs */
};

static void sharing_release(struct sharing *s)
{
	division_release(&s->division);
	strbuf_release(&s->mine);
	team_parcels_release(&s->all);
}

/* The method and the tracks for a pair of a group and a table; 0: it is not compared. */
static int pair_open(struct lane *l, int64_t first, uint32_t group, uint32_t table,
	struct stretch_of_pair *p, struct lp_err *err)
{
	const char *metric = p->v->tables[table]->metric;

	p->look = peers_get(l->peers, group, metric);
	if (!p->look)
		return 0;
	if (p->look->by_sample)
		p->number = first_sample(l, first);
	p->tracks = history_metric(&l->history, metric);
	if (p->tracks)
		p->numbers = pair_tracks(&l->last_view, p->tracks, group, table);
	if (!p->numbers)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	p->tracks->by_sample = p->look->by_sample;
	return 1;
}

/* Compare a pair if it belongs to this process, or take over the result of another one. */
static int pair_do(const struct stretch_of_pair *p, struct comparison_past *past, uint32_t group,
	uint32_t table, struct sharing *s, struct lp_err *err)
{
	uint32_t n_members = p->v->groups[group].n_members;
	int owner = division_next(&s->division, n_members), r;
	bool mine = division_mine(&s->division, owner);

	if (!s->all.of)
		return mine ? pair_keep(p, past, group, table, &s->mine, err) : 0;
	if (mine)
		return 0;
	r = results_unpack(p->tracks, p->numbers, n_members, p->number, &s->all.of[owner]);
	return r < 0 ? lp_err_sys(err, r, "cannot compare") : 0;
}

/* All metrics of all groups in the windows `first` and following, which are in the view. */
static int pairs_do(
	struct lane *l, int64_t first, int64_t slot, struct sharing *s, struct lp_err *err)
{
	const struct view *view = &l->last_view.view;
	uint32_t overlap = l->params.win_size - l->params.win_shift;
	struct comparison_past past = {.context = windows_context(l),
		.context_by_sample = windows_context(l) + overlap,
		.origin = l->origin - slot,
		.presence = &view->presence,
		.always = true};
	int r = 0;

	for (uint32_t g = 0; r >= 0 && g < view->v->n_groups; g++) {
		for (uint32_t t = 0; r >= 0 && t < view->v->n_tables; t++) {
			struct stretch_of_pair p = {
				.l = l, .v = view->v, .slot = slot, .number = first};

			slices_rest();
			r = pair_open(l, first, g, t, &p, err);
			if (r > 0)
				r = pair_do(&p, &past, g, t, s, err);
		}
	}
	return r < 0 ? r : 0;
}

static int pairs_keep(struct lane *l, int64_t first, int64_t slot, struct lp_err *err)
{
	_cleanup_(sharing_release) struct sharing s = {0};
	int r;

	if (division_begin(&s.division, l->team) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	if (l->team)
		parcel_begin(&s.mine);
	r = pairs_do(l, first, slot, &s, err);
	if (r < 0 || !l->team)
		return r;
	r = team_share(l->team, &s.mine, &s.all, err);
	division_release(&s.division);
	if (r == 0 && division_begin(&s.division, l->team) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	return r < 0 ? r : pairs_do(l, first, slot, &s, err);
}

/* A view of the part: the current one, moved there, or a new one. */
static int window_view_make(struct lane *l, const struct table_part *part, struct lp_err *err)
{
	struct window_view *f = &l->last_view;
	int r;

	if (view_holds(&f->view, l->builder))
		return view_move(&f->view, l->builder, part, err);
	window_view_release(f);
	r = view_make(l->builder, part, l->opt->hosts, &f->view, err);
	if (r == 0)
		r = peers_apply(l->peers, f->view.v, err);
	if (r == 0 && view_presence(&f->view) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r == 0 && view_fix(&f->view, l->builder) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	if (r < 0)
		return r;
	f->n_tracks = (size_t)f->view.v->n_groups * f->view.v->n_tables;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	f->tracks = calloc(f->n_tracks + 1, sizeof(*f->tracks));
	return f->tracks ? 0 : lp_err_sys(err, -ENOMEM, "cannot compare");
}

int windows_compare(struct lane *l, int64_t first, int64_t end, struct lp_err *err)
{
	struct table_part part = {
		.first = first * l->params.win_shift - (int64_t)windows_context(l),
		.end = (end - 1) * l->params.win_shift + l->params.win_size,
		.seen_from = l->peers->seen_from,
		.lazy = true};
	int r = window_view_make(l, &part, err);

	if (r == 0)
		r = pairs_keep(l, first, part.first, err);
	/* Free a view that is not valid for the next windows. */
	if (r < 0 || !view_holds(&l->last_view.view, l->builder))
		window_view_release(&l->last_view);
	return r;
}

/* The kept results of one metric of a group, in the form of a comparison. */
struct recalled {
	int64_t first;	   /* window */
	uint32_t n;	   /* windows, or samples */
	uint32_t n_before; /* windows with data before the first */
	int64_t *numbers;  /* their numbers; tables may leave some out */
	bool settled;
	struct comparison c;
	struct lp_series series;
};

static int recall_alloc(struct recalled *k, uint32_t n_members)
{
	size_t n = (size_t)n_members * k->n;

	k->series.n_windows = k->n;
	k->c.own = calloc(n + 1, sizeof(*k->c.own));
	k->c.peers = calloc(n + 1, sizeof(*k->c.peers));
	k->numbers = calloc((size_t)k->n + 1, sizeof(*k->numbers));
	return series_alloc(&k->series, n_members) < 0 || !k->c.own || !k->c.peers || !k->numbers
		? -ENOMEM
		: 0;
}

static void recall_member(struct recalled *k, const struct track *t, uint32_t member)
{
	for (uint32_t w = 0; w < k->n; w++) {
		size_t at = (size_t)member * k->n + w;
		struct kept kept = track_get(t, k->numbers[w]);

		k->series.marks[at] = kept.mark;
		k->series.ratios[at] = kept.ratio;
		k->series.distances[at] = kept.distance;
		k->c.own[at] = kept.own;
		k->c.peers[at] = kept.peers;
	}
}

static void recall_params(
	struct recalled *k, const struct lane *l, const struct comparison_look *look)
{
	uint32_t n = horizon_n_windows(l->horizon, &l->params);

	k->c.opt = l->opt;
	k->c.params = l->params;
	k->c.role = look->role;
	k->c.floor = look->floor;
	k->c.timeseries = look->by_sample;
	k->c.calibrated = true;
	k->c.unit = 1;
	k->c.span = n;
	k->c.settled = k->settled;
	k->c.n_before = k->n_before;
	k->series.method = look->method;
	if (!look->by_sample)
		return;
	k->c.unit = 1.0 / l->params.win_shift;
	k->c.span = n * l->params.win_shift;
	k->c.n_before *= l->params.win_shift;
	timeseries_params(&k->c.params);
}

/* The places of the windows, or samples, in the tables, and their numbers. `begin` is the table's
 * slot at which the first of them begins, and `number` its number. */
static void recall_places(
	struct recalled *k, const struct lp_table *t, int64_t begin, int64_t number)
{
	for (uint32_t w = 0; w < k->n; w++) {
		int64_t at = begin + (int64_t)w * k->c.params.win_shift;

		k->series.first[w] = (uint32_t)at;
		k->series.last[w] = (uint32_t)at + k->c.params.win_size - 1;
		k->numbers[w] = number + w + lp_table_skipped(t, at) / k->c.params.win_shift;
	}
}

/* `slot` is the first slot of the tables. */
static int pair_recall(struct recalled *k, const struct lane *l, const struct lp_verdict *v,
	const struct comparison_look *look, uint32_t group, uint32_t table, int64_t slot)
{
	const struct lp_peer_group *g = &v->groups[group];
	const struct tracks *tracks = history_find(&l->history, v->tables[table]->metric);
	int64_t number = look->by_sample ? first_sample(l, k->first) : k->first, begin;

	recall_params(k, l, look);
	k->n = look->by_sample ? k->n * l->params.win_shift : k->n;
	k->series.group = group;
	k->series.metric = table;
	k->c.v = v;
	k->c.smoothed.n_members = g->n_members;
	if (recall_alloc(k, g->n_members) < 0)
		return -ENOMEM;
	begin = look->by_sample ? number - slot : number * l->params.win_shift - slot;
	recall_places(k, v->tables[table], begin, number);
	for (uint32_t i = 0; i < g->n_members; i++) {
		slices_rest_at(i);
		recall_member(k, tracks_find(tracks, v->components[g->members[i]]->text), i);
		k->series.thresholds[i] = look->threshold;
	}
	return 0;
}

static void recalled_release(struct recalled *k)
{
	comparison_release(&k->c);
	series_release(&k->series);
	free(k->numbers);
}

/* The number of kept windows from `first` on that are in the tables. */
static uint32_t windows_count(const struct lane *l, const struct lp_verdict *v, int64_t first)
{
	int64_t slots = (l->done - first) * l->params.win_shift;
	const struct lp_table *t = v->tables[0];

	if (!v->n_tables || slots <= 0)
		return 0;
	return (uint32_t)(lp_table_slot(t, t->start_us + (slots - 1) * t->step_us) /
			l->params.win_shift +
		1);
}

/* Weigh all results that are kept from window `first` on. The verdict takes over the series. */
static int windows_weigh(const struct lane *l, struct lp_verdict *v, int64_t first, bool settled,
	struct findings *fs)
{
	int64_t slot = first * l->params.win_shift;
	uint32_t n = windows_count(l, v, first), n_before = lane_n_before(l, first);
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		for (uint32_t t = 0; r == 0 && t < v->n_tables; t++) {
			const struct comparison_look *look =
				peers_get(l->peers, g, v->tables[t]->metric);
			_cleanup_(recalled_release) struct recalled k = {
				.first = first, .n = n, .n_before = n_before, .settled = settled};

			bool varies = false;

			if (!look || !v->groups[g].n_members)
				continue;
			r = group_varies(v, g, t, l->origin - slot, &varies);
			if (r < 0 || !varies)
				continue;
			r = pair_recall(&k, l, v, look, g, t, slot);
			if (r == 0)
				r = verdict_add_series(v, &k.series);
			if (r < 0)
				break;
			k.series = (struct lp_series){0};
			k.c.series = &v->series[v->n_series - 1];
			r = weigh_comparison(&k.c, v->n_series - 1, fs);
		}
	}
	return r;
}

/* The first window that is kept and within the span. */
static int64_t window_first(const struct lane *l)
{
	int64_t origin = lane_window_origin(l);
	int64_t first = l->done - horizon_n_windows(l->horizon, &l->params);

	return l->keeps_all || first < origin ? origin : first;
}

static int notes_copy(const struct peers *p, struct lp_verdict *v)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < p->v->n_notes; i++)
		r = verdict_note_hint(v, p->v->hints[i], "%s", p->v->notes[i]);
	return r;
}

/* The number of empty slots to keep on both sides of a time that is left out. There must be so many
 * that windows across that time have no result, and that no average includes values from both sides
 * of it. */
static uint32_t cut_margin(const struct lane *l)
{
	return 2 * l->params.win_size + windows_context(l) + CUT_SAMPLES;
}

/* The kind of verdict. */
struct verdict_how {
	int64_t end;  /* tables go up to this slot */
	bool settled; /* see struct comparison */
	bool lazy;    /* see windows_verdict() */
};

/* The verdict on the windows that are kept. */
static int verdict_make(const struct lane *l, const struct verdict_how *how,
	struct lp_verdict **ret, struct lp_err *err)
{
	int64_t first = window_first(l);
	struct table_part part = {.first = first * l->params.win_shift,
		.end = how->end,
		.seen_from = l->peers->seen_from,
		.lazy = how->lazy,
		.align = l->keeps_all ? l->params.win_shift : 0,
		.margin = cut_margin(l)};
	_cleanup_(view_release) struct view view = {0};
	struct findings fs = {0};
	int r = view_make(l->builder, &part, l->opt->hosts, &view, err);

	if (r == 0)
		r = peers_apply(l->peers, view.v, err);
	if (r < 0)
		return r;
	view.v->params = l->params;
	if (notes_copy(l->peers, view.v) < 0 || view_note_left_out(view.v, view.left_out) < 0 ||
		windows_weigh(l, view.v, first, how->settled, &fs) < 0) {
		free(fs.items);
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	}
	r = detect_conclude(view.v, l->opt, false, &fs, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(view.v);
	return 0;
}

int windows_verdict(const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err)
{
	return verdict_make(l, &(struct verdict_how){.end = l->final + 1, .lazy = lazy}, ret, err);
}

/* The windows of a finding's stretch. */
static int episode_windows(const struct lp_verdict *v, const struct lp_finding *f,
	const struct lp_series *s, struct episode *ret)
{
	const struct lp_table *t = v->tables[f->metric];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	uint32_t first = 0, end = s->n_windows;

	while (first < end && lp_table_time(t, s->last[first]) <= f->first_us)
		first++;
	while (end > first && lp_table_time(t, s->last[end - 1]) > f->last_us)
		end--;
	ret->windows = calloc((size_t)(end - first) + 1, sizeof(*ret->windows));
	if (!ret->windows)
		return -ENOMEM;
	ret->n_windows = end - first;
	for (uint32_t w = first; w < end; w++) {
		size_t at = (size_t)f->member * s->n_windows + w;

		ret->windows[w - first] = (struct kept){.own = NAN,
			.peers = NAN,
			.ratio = s->ratios[at],
			.distance = s->distances[at],
			.mark = marks[w]};
	}
	if (end == first)
		return 0;
	ret->begin_us = lp_table_time(t, s->first[first]) - t->step_us;
	ret->size_us = (int64_t)(s->last[first] - s->first[first] + 1) * t->step_us;
	ret->shift_us = end - first > 1
		? (int64_t)(s->first[first + 1] - s->first[first]) * t->step_us
		: ret->size_us;
	return 0;
}

int windows_episodes(const struct lane *l, const struct lp_verdict *v, struct episodes *ret)
{
	int r = 0;

	(void)l;
	for (uint32_t i = 0; r == 0 && i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];
		const struct lp_series *s = &v->series[f->series];
		struct episode item = {.finding = *f, .method = s->method};

		if (!f->culprit || f->explained_by_load || f->mild)
			continue;
		item.component = strdup(v->components[f->component]->text);
		item.metric = strdup(v->tables[f->metric]->metric);
		item.unit = strdup(v->tables[f->metric]->unit);
		if (!item.component || !item.metric || !item.unit ||
			episode_windows(v, f, s, &item) < 0) {
			episode_release(&item);
			return -ENOMEM;
		}
		r = episodes_add(ret, &item);
	}
	return r;
}

/* Is any window of the span anomalous? Usually none is, so there is nothing to weigh. */
static bool any_anomaly(const struct lane *l, int64_t first)
{
	for (size_t m = 0; m < l->history.n; m++) {
		const struct tracks *t = &l->history.metrics[m];
		int64_t from = t->by_sample ? first_sample(l, first) : first;

		for (size_t i = 0; i < t->n; i++) {
			slices_rest_at((uint32_t)i);
			for (uint32_t w = 0; w < t->items[i].n; w++) {
				if (t->items[i].kept[w].mark > LP_MARK_NORMAL &&
					track_number(&t->items[i], w) >= from)
					return true;
			}
		}
	}
	return false;
}

int windows_note(struct lane *l, struct lp_err *err)
{
	struct verdict_how how = {.end = first_sample(l, l->done), .settled = true, .lazy = true};
	struct lp_verdict *v = NULL;
	int r;

	if (!any_anomaly(l, window_first(l)))
		return 0;
	r = verdict_make(l, &how, &v, err);
	if (r == 0 && windows_episodes(l, v, &l->episodes) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	lp_verdict_free(v);
	return r;
}
