#include "explain/context.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "detect/compare/timeseries.h"
#include "detect/group/verdict_tables.h"
#include "explain/absence.h"
#include "explain/coverage.h"
#include "explain/idleness.h"
#include "explain/rank.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Calls use disks and networks. The row of the metric says which one applies. */
static enum resource metric_resource(const struct kind *kind, const struct lp_metric *m)
{
	if (!kind->of_calls || !m)
		return kind->resource;
	return !strcmp(m->resource, "storage")	  ? RESOURCE_STORAGE
		: !strcmp(m->resource, "network") ? RESOURCE_NETWORK
						  : RESOURCE_OTHER;
}

bool times_overlap(int64_t first_a, int64_t last_a, int64_t first_b, int64_t last_b)
{
	int64_t a = last_a - first_a, b = last_b - first_b;
	int64_t from = first_a > first_b ? first_a : first_b;
	int64_t to = last_a < last_b ? last_a : last_b;

	return to >= from && (to - from) * 2 >= (a < b ? a : b);
}

void context_slots(
	const struct lp_table *t, const struct lp_finding *f, uint32_t *ret_from, uint32_t *ret_end)
{
	table_slots(t, f->first_us, f->last_us, ret_from, ret_end);
}

/* More work must show in the median, not only in the distribution, because busy and idle moments
 * are random. Round trips depend on the last request. A few minutes of training contain a handful
 * of averages of half a minute, and service times of healthy servers sometimes differ by a
 * fifth. */
#define WORK_RATIO_LEAST 1.2
#define TRIP_RATIO_LEAST 2.0
#define SERVICE_RATIO_LEAST 1.5

static bool is_by_samples(const struct lp_verdict *v, const struct lp_finding *f)
{
	return !strcmp(v->series[f->series].method, "series");
}

/* Irrelevant differences may exceed trained thresholds. Medians that differ by less than the
 * metric's floor do not accuse a component, and neither does work that is not more than that of the
 * peers. (Without training there are no such findings.) */
static bool is_trifle(
	const struct lp_verdict *v, const struct lp_finding *f, const struct finding_facts *facts)
{
	uint32_t width = timeseries_width(v->tables[f->metric]->step_us);

	if (!v->trained || f->direction == LP_MARK_ABSENT)
		return false;
	if (facts->role == LP_ROLE_WORK && f->own < WORK_RATIO_LEAST * f->peers)
		return true;
	if (facts->role == LP_ROLE_LATENCY && facts->resource == RESOURCE_NETWORK &&
		f->own < TRIP_RATIO_LEAST * f->peers)
		return true;
	/* In an average over half a minute, a difference of a few seconds only shows that a
	 * component began or stopped to work at another time than the others. And one slow call
	 * affects all averages of that time. */
	if (facts->role == LP_ROLE_WINDOW && f->n_anomalous < width / 2)
		return true;
	if (facts->role == LP_ROLE_SERVICE && is_by_samples(v, f) && f->n_anomalous <= width)
		return true;
	if (facts->role == LP_ROLE_SERVICE && f->own < SERVICE_RATIO_LEAST * f->peers)
		return true;
	return fabs(f->own - f->peers) < facts->floor;
}

static void look_up(struct explain_context *ctx, uint32_t i)
{
	const struct lp_verdict *v = ctx->v;
	const struct lp_finding *f = &v->findings[i];
	struct finding_facts *facts = &ctx->facts[i];
	const char *kind_name = v->components[f->component]->kind;
	const struct kind *kind = kind_find(kind_name);
	const char *metric = v->tables[f->metric]->metric;
	const struct lp_metric *m = lp_metric_find(kind_name, metric);

	facts->resource = metric_resource(kind, m);
	facts->of_calls = kind->of_calls;
	facts->role = f->role ? f->role : lp_metric_role(kind_name, metric);
	facts->floor = !m ? 0 : f->floor > 0 && f->floor < m->floor ? f->floor : m->floor;
	facts->fate = f->direction == LP_MARK_ABSENT ||
			(f->culprit && !f->explained_by_load && !f->explained_by_idle)
		? FATE_CULPRIT
		: FATE_ASIDE;
	if (is_trifle(v, f, facts))
		facts->fate = FATE_ASIDE;
	facts->gone = absence_of(v, f);
	facts->no_data = facts->gone > LP_GONE_WORK;
	/* The functions of an observer count together, as its vector, because there are too
	 * many. */
	if (m && !strcmp(kind_name, FUNCTION_KIND))
		facts->fate = FATE_CLEARED;
	if (facts->no_data && !coverage_had_peers(v, f))
		facts->fate = FATE_CLEARED;
	if (facts->fate == FATE_CULPRIT && idleness_excuses(v, f, facts->role))
		facts->fate = FATE_CLEARED;
	if (f->mild)
		facts->fate = facts->fate == FATE_CULPRIT ? FATE_WARNING : FATE_CLEARED;
	facts->size = rank_size(f, facts->floor);
	facts->severity = rank_severity(facts->size, f->persistence, f->peak);
}

/* Number the observers. */
static int number_observers(struct explain_context *ctx)
{
	struct strmap map = {0};
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < ctx->v->n_components; c++) {
		const char *observer = ctx->v->components[c]->observer;

		if (!strmap_get(&map, observer, &ctx->observer[c])) {
			ctx->observer[c] = ctx->n_observers++;
			r = strmap_put(&map, observer, ctx->observer[c]);
		}
	}
	strmap_release(&map);
	return r;
}

static void sort_by_component(struct explain_context *ctx)
{
	const struct lp_verdict *v = ctx->v;

	for (uint32_t i = 0; i < v->n_findings; i++)
		ctx->first_of[v->findings[i].component + 1]++;
	for (uint32_t c = 0; c < v->n_components; c++)
		ctx->first_of[c + 1] += ctx->first_of[c];
	for (uint32_t i = v->n_findings; i-- > 0;)
		ctx->by_component[--ctx->first_of[v->findings[i].component + 1]] = i;
	/* Filling has moved each start down by one place. */
	memmove(ctx->first_of, ctx->first_of + 1, v->n_components * sizeof(*ctx->first_of));
	ctx->first_of[v->n_components] = v->n_findings;
}

int context_init(struct explain_context *ctx, struct lp_verdict *v, const struct topology *topology,
	const struct operator_state *state, struct lp_err *err)
{
	*ctx = (struct explain_context){.v = v, .topology = topology, .state = state};
	ctx->now_us = clock_us(CLOCK_REALTIME);
	ctx->facts = calloc(v->n_findings + 1, sizeof(*ctx->facts));
	ctx->observer = calloc(v->n_components + 1, sizeof(*ctx->observer));
	ctx->first_of = calloc((size_t)v->n_components + 2, sizeof(*ctx->first_of));
	ctx->by_component = calloc(v->n_findings + 1, sizeof(*ctx->by_component));
	if (!ctx->facts || !ctx->observer || !ctx->first_of || !ctx->by_component ||
		number_observers(ctx) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot explain the findings");
	for (uint32_t i = 0; i < v->n_findings; i++)
		look_up(ctx, i);
	sort_by_component(ctx);
	return 0;
}

void context_release(struct explain_context *ctx)
{
	free(ctx->facts);
	free(ctx->observer);
	free(ctx->first_of);
	free(ctx->by_component);
	free(ctx->follows);
	free(ctx->semantic);
	*ctx = (struct explain_context){0};
}

const struct semantic_finding *context_semantic(
	const struct explain_context *ctx, const struct lp_suspect *s)
{
	return ctx->semantic ? ctx->semantic[s->component] : NULL;
}
