#include "explain/failover.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "explain/cause.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Exceeding idle peers by this factor counts. */
#define IDLE_RATIO 4.0

/* In sectors, bytes or requests per second; less counts as nothing. */
#define WORK_MIN 1.0

#define KEY_BYTES 512

/* Lost paths by LUN: the first one of each LUN, and for each path the next one. */
struct lost {
	struct strmap first;
	uint32_t *next; /* [suspect] */
};

static void lost_release(struct lost *l)
{
	strmap_release(&l->first);
	free(l->next);
}

/* The name of the LUN of a component; false if there is none. */
static bool lun_key(const struct explain_context *ctx, uint32_t component, char key[KEY_BYTES])
{
	const struct lp_identity *c = ctx->v->components[component];
	char lun[256];

	if (ctx->topology && topology_attribute(ctx->topology, c, "lun", lun, sizeof(lun))) {
		snprintf(key, KEY_BYTES, "lun:%s", lun);
		return true;
	}
	if (!ctx->topology || !topology_issuer(ctx->topology))
		return false;
	snprintf(key, KEY_BYTES, "%s:%s", c->kind, c->name);
	return true;
}

static int list_lost(struct lost *l, const struct explain_context *ctx)
{
	const struct lp_verdict *v = ctx->v;

	l->next = calloc((size_t)v->n_suspects + 1, sizeof(*l->next));
	if (!l->next)
		return -ENOMEM;
	for (uint32_t i = v->n_suspects; i-- > 0;) {
		char key[KEY_BYTES];

		l->next[i] = UINT32_MAX;
		if (!cause_is_absence(v->suspects[i].cause) ||
			!lun_key(ctx, v->suspects[i].component, key))
			continue;
		strmap_get(&l->first, key, &l->next[i]);
		if (strmap_put(&l->first, key, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Did the component do significant work during the finding? */
static bool does_work(const struct explain_context *ctx, const struct lp_finding *f)
{
	for (uint32_t m = 0; m < ctx->v->n_tables; m++) {
		const struct lp_table *t = ctx->v->tables[m];
		uint32_t row = ctx->v->row_of[m][f->component], n = 0;
		double sum = 0;

		if (row == UINT32_MAX || lp_metric_role(NULL, t->metric) != LP_ROLE_WORK)
			continue;
		for (uint32_t slot = 0; slot < t->n_slots; slot++) {
			int64_t at_us = lp_table_time(t, slot);
			double value = table_value(t, row, slot);

			if (at_us <= f->first_us || at_us > f->last_us || isnan(value))
				continue;
			sum += value;
			n++;
		}
		if (n && sum / n > WORK_MIN)
			return true;
	}
	return false;
}

/* Does work explain the finding? A load like that of the peers does not. */
static bool is_loaded(const struct explain_context *ctx, const struct lp_finding *f)
{
	return (isnan(f->load_ratio) || f->load_ratio >= IDLE_RATIO) && does_work(ctx, f);
}

/* Is it above idle peers in a metric that depends on work (`in_work`: and does it have work)? */
static bool is_above_idle(
	const struct explain_context *ctx, const struct lp_suspect *s, bool in_work)
{
	for (uint32_t i = ctx->first_of[s->component]; i < ctx->first_of[s->component + 1]; i++) {
		uint32_t finding = ctx->by_component[i];
		const struct lp_finding *f = &ctx->v->findings[finding];
		enum lp_role role = ctx->facts[finding].role;
		bool meant =
			role == LP_ROLE_WORK || role == LP_ROLE_LATENCY || role == LP_ROLE_BUSY;

		if (meant && f->direction == LP_MARK_ABOVE &&
			ctx->facts[finding].fate != FATE_CLEARED && f->ratio >= IDLE_RATIO &&
			f->peers <= fmax(ctx->facts[finding].floor, 0) &&
			(!in_work || role == LP_ROLE_WORK || is_loaded(ctx, f)))
			return true;
	}
	return false;
}

/* The lost path that had the load of this suspect before. */
static uint32_t find_lost(
	const struct explain_context *ctx, const struct lost *l, const struct lp_suspect *s)
{
	uint32_t other = UINT32_MAX;
	char key[KEY_BYTES];

	if (!lun_key(ctx, s->component, key) || !strmap_get(&l->first, key, &other))
		return UINT32_MAX;
	for (; other != UINT32_MAX; other = l->next[other]) {
		const struct lp_suspect *o = &ctx->v->suspects[other];

		if (o->group != s->group && o->component != s->component &&
			times_overlap(o->first_us, o->last_us, s->first_us, s->last_us))
			return other;
	}
	return UINT32_MAX;
}

int failover_find(struct explain_context *ctx, struct lp_err *err)
{
	_cleanup_(lost_release) struct lost l = {0};
	struct lp_verdict *v = ctx->v;

	if (!ctx->topology)
		return 0;
	if (list_lost(&l, ctx) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot list lost paths");
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		struct lp_suspect *s = &v->suspects[i];
		uint32_t other;

		if (context_semantic(ctx, s) || cause_is_absence(s->cause) ||
			!is_above_idle(ctx, s, false))
			continue;
		other = find_lost(ctx, &l, s);
		/* Slowness alone does not show that load moved. */
		if (other == UINT32_MAX &&
			(!topology_issuer(ctx->topology) || !is_above_idle(ctx, s, true)))
			continue;
		ctx->follows[i] = other;
		s->cause = cause_lost_path.name;
	}
	return 0;
}
