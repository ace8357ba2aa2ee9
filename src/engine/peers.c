#include "engine/peers.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "model/table_view.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	const struct lp_params *params, const struct comparison_past *past, struct lp_err *err)
{
	const struct lp_verdict *v = p->v;
	int r = 0;

	for (uint32_t g = 0; r >= 0 && g < v->n_groups; g++) {
		for (uint32_t t = 0; r >= 0 && t < v->n_tables && !v->groups[g].refused; t++) {
			size_t at = (size_t)g * v->n_tables + t;

			r = comparison_calibrate(opt, v, params, g, t, past, &p->looks[at], err);
			p->worth[at] = r > 0;
		}
	}
	return r < 0 ? r : 0;
}

int peers_look(struct lp_verdict *v, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, int64_t seen_from,
	struct discover_memory *memory, struct peers **ret, struct lp_err *err)
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
	r = pairs_look(p, opt, params, past, err);
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

/* The group with its members by the numbers in `numbers`. */
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
	for (uint32_t i = 0; r == 0 && i < v->n_components; i++)
		r = strmap_put(&numbers, v->components[i]->text, i);
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
