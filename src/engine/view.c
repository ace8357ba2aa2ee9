#include "engine/view.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/slices.h"
#include "detect/detect.h"
#include "engine/together.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void view_release(struct view *view)
{
	for (uint32_t t = 0; view->refills && t < view->n_refills; t++)
		table_refill_release(&view->refills[t]);
	free(view->refills);
	lp_verdict_free(view->v);
	free(view->observer);
	free(view->last);
	free(view->gaps);
	*view = (struct view){0};
}

/* Number the observers of the components. The components of one observer usually follow each
 * other. */
static int observers_number(struct view *view)
{
	_cleanup_(strmap_release) struct strmap names = {0};
	const struct lp_verdict *v = view->v;
	uint32_t n = 0;
	int r = 0;

	view->observer = calloc((size_t)v->n_components + 1, sizeof(*view->observer));
	if (!view->observer)
		return -ENOMEM;
	for (uint32_t c = 0; r == 0 && c < v->n_components; c++) {
		const char *observer = v->components[c]->observer;

		if (c && !strcmp(observer, v->components[c - 1]->observer)) {
			view->observer[c] = view->observer[c - 1];
		} else if (!strmap_get(&names, observer, &view->observer[c])) {
			view->observer[c] = n++;
			r = strmap_put(&names, observer, view->observer[c]);
		}
	}
	view->n_observers = n;
	return r;
}

/* Note the slots in which a component has a value, unless its observer already has one in all of
 * them. */
static void presence_note(struct view *view, uint32_t table, uint32_t component, uint32_t n_slots)
{
	uint32_t row = view->v->row_of[table][component], observer = view->observer[component];
	int32_t *last = view->last + (size_t)observer * n_slots;
	const double *values;

	if (row == UINT32_MAX || !view->gaps[observer])
		return;
	values = table_values(view->v->tables[table], row);
	for (uint32_t s = 0; s < n_slots; s++) {
		if (last[s] >= 0 || isnan(values[s]))
			continue;
		last[s] = (int32_t)s;
		view->gaps[observer]--;
	}
}

static int presence_alloc(struct view *view, uint32_t n_slots)
{
	size_t n = (size_t)view->n_observers * n_slots;

	free(view->last);
	free(view->gaps);
	view->last = calloc(n + 1, sizeof(*view->last));
	view->gaps = malloc(((size_t)view->n_observers + 1) * sizeof(*view->gaps));
	if (!view->last || !view->gaps)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		view->last[i] = -1;
	for (uint32_t o = 0; o < view->n_observers; o++)
		view->gaps[o] = n_slots;
	return 0;
}

int view_presence(struct view *view)
{
	const struct lp_verdict *v = view->v;
	uint32_t n_slots = v->n_tables ? v->tables[0]->n_slots : 0;

	if (!view->observer && observers_number(view) < 0)
		return -ENOMEM;
	if (presence_alloc(view, n_slots) < 0)
		return -ENOMEM;
	for (uint32_t t = 0; t < v->n_tables; t++) {
		for (uint32_t c = 0; c < v->n_components; c++) {
			slices_rest_at(c);
			presence_note(view, t, c, n_slots);
		}
	}
	for (uint32_t o = 0; o < view->n_observers; o++) {
		for (uint32_t s = 1; view->gaps[o] && s < n_slots; s++) {
			int32_t *last = &view->last[(size_t)o * n_slots + s];

			*last = *last < 0 ? last[-1] : *last;
		}
	}
	view->presence = (struct presence){.observer = view->observer,
		.last = view->last,
		.n_observers = view->n_observers,
		.n_slots = n_slots,
		.lateness = v->n_tables ? (uint32_t)(VIEW_LATENESS_US / v->tables[0]->step_us) : 0};
	return 0;
}

int view_make(const struct lp_table_builder *b, const struct table_part *part,
	const struct hosts *hosts, struct view *ret, struct lp_err *err)
{
	struct view view = {0};
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r;

	slices_rest();
	r = table_builder_view(b, part, &tables, &n, &view.left_out, err);
	slices_rest();
	if (r == 0)
		r = verdict_of_tables(tables, n, hosts, &view.v, err);
	slices_rest();
	if (r == 0)
		*ret = view;
	return r;
}

int view_fix(struct view *view, const struct lp_table_builder *b)
{
	struct lp_verdict *v = view->v;
	int r = 0;

	view->n_changes = b->n_changes;
	view->fixed = !view->left_out;
	view->refills = calloc((size_t)v->n_tables + 1, sizeof(*view->refills));
	view->n_refills = v->n_tables;
	if (!view->refills)
		return -ENOMEM;
	for (uint32_t t = 0; view->fixed && t < v->n_tables; t++) {
		slices_rest();
		r = table_refill_find(b, v->tables[t], &view->refills[t]);
		view->fixed = r == 0;
	}
	view->fixed = view->fixed && v->n_tables == table_refill_count(b);
	return r == -ENOMEM ? r : 0;
}

bool view_holds(const struct view *view, const struct lp_table_builder *b)
{
	return view->v && view->fixed && view->n_changes == b->n_changes;
}

int view_move(struct view *view, const struct lp_table_builder *b, const struct table_part *part,
	struct lp_err *err)
{
	int r = 0;

	for (uint32_t t = 0; r == 0 && t < view->v->n_tables; t++) {
		slices_rest();
		r = table_refill_part(b, &view->refills[t], part, view->v->tables[t]);
	}
	if (r == 0)
		r = view_presence(view);
	return r < 0 ? lp_err_sys(err, r, "cannot compare") : 0;
}

int view_note_left_out(struct lp_verdict *v, uint32_t n)
{
	return n
		? verdict_note_hint(v, "--since and --until choose a shorter time",
			  "%" PRIu32 " rows of metrics have so few samples that they were left out",
			  n)
		: 0;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	lp_verdict_free(p->v);
	free(p->looks);
	free(p->worth);
	free(p);
}

DEFINE_CLEANUP(struct peers *, peers_free);

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot look for peers");
}

static int pairs_look(struct peers *p, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, struct division *d,
	struct strbuf *mine, struct lp_err *err)
{
	const struct lp_verdict *v = p->v;
	int r = 0;

	for (uint32_t g = 0; r >= 0 && g < v->n_groups; g++) {
		for (uint32_t t = 0; r >= 0 && t < v->n_tables && !v->groups[g].refused; t++) {
			size_t at = (size_t)g * v->n_tables + t;

			if (!division_mine(d, division_next(d, v->groups[g].n_members)))
				continue;
			r = comparison_calibrate(opt, v, params, g, t, past, &p->looks[at], err);
			p->worth[at] = r > 0;
			if (r >= 0 && d->team)
				look_pack(&p->looks[at], r > 0, mine);
		}
	}
	return r < 0 ? r : 0;
}

/* Unpack what the other processes have learnt. */
static int pairs_take(struct peers *p, const struct detect_options *opt, struct division *d,
	const struct team_parcels *all)
{
	const struct lp_verdict *v = p->v;
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		for (uint32_t t = 0; r == 0 && t < v->n_tables && !v->groups[g].refused; t++) {
			size_t at = (size_t)g * v->n_tables + t;
			int owner = division_next(d, v->groups[g].n_members);

			if (division_mine(d, owner))
				continue;
			r = look_unpack(&all->of[owner], group_metric(v, g, v->tables[t]->metric),
				group_has_vectors(v, g) ? "manhattan" : opt->measure->name,
				&p->looks[at], &p->worth[at]);
		}
	}
	return r;
}

static int pairs_look_together(struct peers *p, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, struct team *team,
	struct lp_err *err)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	_cleanup_(division_release) struct division d = {0}, again = {0};
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	int r;

	if (division_begin(&d, team) < 0 || division_begin(&again, team) < 0)
		return no_memory(err);
	if (team)
		parcel_begin(&mine);
	r = pairs_look(p, opt, params, past, &d, &mine, err);
	if (r < 0 || !team)
		return r;
	r = team_share(team, &mine, &all, err);
	if (r == 0 && pairs_take(p, opt, &again, &all) < 0)
		r = lp_err_set(err, -EBADMSG, "the processes look for other peers");
	return r;
}

int peers_look(struct lp_verdict *v, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, int64_t seen_from,
	struct discover_memory *memory, struct team *team, struct peers **ret, struct lp_err *err)
{
	_cleanup_(peers_freep) struct peers *p = calloc(1, sizeof(*p));
	struct detect_options with = *opt;
	size_t n;
	int r;

	if (!p) {
		lp_verdict_free(v);
		return no_memory(err);
	}
	p->v = v;
	p->seen_from = seen_from;
	with.memory = memory;
	r = verdict_group(v, &with, err);
	if (r < 0)
		return r;
	n = (size_t)v->n_groups * v->n_tables + 1;
	p->looks = calloc(n, sizeof(*p->looks));
	p->worth = calloc(n, sizeof(*p->worth));
	if (!p->looks || !p->worth)
		return no_memory(err);
	r = pairs_look_together(p, opt, params, past, team, err);
	if (r < 0)
		return r;
	for (uint32_t t = 0; t < v->n_tables; t++) {
		free(v->tables[t]->values);
		table_lazy_free(v->tables[t]->lazy);
		v->tables[t]->values = NULL;
		v->tables[t]->lazy = NULL;
	}
	*ret = TAKE_PTR(p);
	return 0;
}

/* Copy a group, with its members renumbered by `numbers`. */
static int group_copy(const struct peers *p, const struct lp_peer_group *from,
	const struct strmap *numbers, struct lp_peer_group *ret)
{
	*ret = (struct lp_peer_group){.name = strdup(from->name),
		.members = calloc((size_t)from->n_members + 1, sizeof(*ret->members)),
		.refused = from->refused ? strdup(from->refused) : NULL,
		.discovered = from->discovered,
		.family = from->family};
	if (!ret->name || !ret->members || (from->refused && !ret->refused))
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_members; i++) {
		uint32_t number;

		slices_rest_at(i);
		if (strmap_get(numbers, p->v->components[from->members[i]]->text, &number))
			ret->members[ret->n_members++] = number;
	}
	return 0;
}

int peers_apply(const struct peers *p, struct lp_verdict *v, struct lp_err *err)
{
	_cleanup_(strmap_release) struct strmap numbers = {0};
	int r = 0;

	v->groups = calloc((size_t)p->v->n_groups + 1, sizeof(*v->groups));
	if (!v->groups)
		return no_memory(err);
	for (uint32_t i = 0; r == 0 && i < v->n_components; i++) {
		slices_rest_at(i);
		r = strmap_put(&numbers, v->components[i]->text, i);
	}
	for (uint32_t g = 0; r == 0 && g < p->v->n_groups; g++) {
		r = group_copy(p, &p->v->groups[g], &numbers, &v->groups[g]);
		v->n_groups++;
	}
	return r < 0 ? no_memory(err) : 0;
}

const struct comparison_look *peers_get(const struct peers *p, uint32_t group, const char *metric)
{
	for (uint32_t t = 0; t < p->v->n_tables; t++) {
		size_t at = (size_t)group * p->v->n_tables + t;

		if (!strcmp(p->v->tables[t]->metric, metric))
			return p->worth[at] ? &p->looks[at] : NULL;
	}
	return NULL;
}
