#include "explain/suspects.h"

#include "base/array.h"
#include "explain/cause.h"
#include "explain/rank.h"
#include "model/verdict_own.h"
#include <errno.h>

/* Insert the finding among the worst findings of the suspect. */
static void add_finding(const struct explain_context *ctx, struct lp_suspect *s, uint32_t finding)
{
	double severity = ctx->facts[finding].severity;
	uint32_t place = s->n_findings;

	while (place > 0 && ctx->facts[s->findings[place - 1]].severity < severity)
		place--;
	if (place == LP_SUSPECT_METRICS_MAX)
		return;
	if (s->n_findings < LP_SUSPECT_METRICS_MAX)
		s->n_findings++;
	for (uint32_t i = s->n_findings - 1; i > place; i--)
		s->findings[i] = s->findings[i - 1];
	s->findings[place] = finding;
}

/* Does a finding with this fate belong in a list? FATE_ASIDE includes everything that makes neither
 * a suspect nor a warning. */
static bool belongs(enum fate fate, enum fate list)
{
	return fate == list || (list == FATE_ASIDE && fate == FATE_WORKLOAD);
}

/* The suspect, the warning or the asymmetry of one component. */
static struct lp_suspect make_suspect(
	const struct explain_context *ctx, uint32_t component, enum fate list)
{
	struct lp_suspect s = {.component = component, .cause = cause_unknown.name};

	for (uint32_t i = ctx->first_of[component]; i < ctx->first_of[component + 1]; i++) {
		uint32_t finding = ctx->by_component[i];

		if (belongs(ctx->facts[finding].fate, list))
			add_finding(ctx, &s, finding);
	}
	if (s.n_findings)
		s.group = ctx->v->findings[s.findings[0]].group;
	return s;
}

static int append(struct lp_suspect **list, uint32_t *n, size_t *cap, const struct lp_suspect *s)
{
	if (array_reserve(list, cap, (size_t)*n + 1, sizeof(*s)) < 0)
		return -ENOMEM;
	(*list)[(*n)++] = *s;
	return 0;
}

static bool is_muted(const struct explain_context *ctx, uint32_t component)
{
	return ctx->state &&
		state_holds(
			ctx->state, STATE_MUTE, ctx->v->components[component]->text, ctx->now_us);
}

/* The lists for components. A component is in the first list that applies. */
struct list {
	enum fate fate;
	struct lp_suspect **items;
	uint32_t *n;
	size_t cap;
};

/* Put a component into its list. */
static int gather_one(struct explain_context *ctx, struct list *lists, size_t n, uint32_t component)
{
	struct lp_verdict *v = ctx->v;
	struct lp_suspect s = {0};
	struct list *list = NULL;

	for (size_t i = 0; !s.n_findings && i < n; i++) {
		list = &lists[i];
		s = make_suspect(ctx, component, list->fate);
	}
	if (!s.n_findings)
		return 0;
	if (is_muted(ctx, component))
		return list->fate == FATE_CULPRIT ? verdict_mute(v, component) : 0;
	rank_suspect(ctx, &s);
	s.acknowledged = ctx->state &&
		state_holds(ctx->state, STATE_ACK, v->components[component]->text, ctx->now_us);
	return append(list->items, list->n, &list->cap, &s);
}

int suspects_gather(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	struct list lists[] = {{FATE_CULPRIT, &v->suspects, &v->n_suspects, 0},
		{FATE_WARNING, &v->warnings, &v->n_warnings, 0},
		{FATE_ASIDE, &v->asymmetries, &v->n_asymmetries, 0}};
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < v->n_components; c++)
		r = gather_one(ctx, lists, ARRAY_SIZE(lists), c);
	if (r < 0)
		return lp_err_sys(err, r, "cannot list the suspects");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		rank_suspects(*lists[i].items, *lists[i].n);
	return 0;
}

void suspects_order_findings(const struct explain_context *ctx, struct lp_suspect *s)
{
	uint32_t sorted[LP_SUSPECT_METRICS_MAX] = {0}, n = 0;

	for (int matching = 1; matching >= 0; matching--) {
		for (uint32_t i = 0; i < s->n_findings; i++) {
			if (cause_matches(ctx, s->cause, s->findings[i]) == (bool)matching)
				sorted[n++] = s->findings[i];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		s->findings[i] = sorted[i];
}
