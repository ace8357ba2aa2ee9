#include "explain/suspects.h"

#include "base/array.h"
#include "explain/cause.h"
#include "explain/rank.h"
#include "model/verdict_own.h"
#include <errno.h>

/* Put the finding into its place among the worst of the suspect. */
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

/* The suspect (if `culprits`) or the asymmetry of one component. */
static struct lp_suspect make_suspect(
	const struct explain_context *ctx, uint32_t component, bool culprits)
{
	struct lp_suspect s = {.component = component, .cause = cause_unknown.name};

	for (uint32_t i = ctx->first_of[component]; i < ctx->first_of[component + 1]; i++) {
		uint32_t finding = ctx->by_component[i];
		enum fate fate = ctx->facts[finding].fate;

		if (fate != FATE_CLEARED && (fate == FATE_CULPRIT) == culprits)
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

int suspects_gather(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	size_t cap_suspects = 0, cap_asymmetries = 0;
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < v->n_components; c++) {
		struct lp_suspect s = make_suspect(ctx, c, true);
		bool suspect = s.n_findings > 0;

		if (!suspect)
			s = make_suspect(ctx, c, false);
		if (!s.n_findings)
			continue;
		if (is_muted(ctx, c)) {
			r = suspect ? verdict_mute(v, c) : 0;
			continue;
		}
		rank_suspect(ctx, &s);
		s.acknowledged = ctx->state &&
			state_holds(ctx->state, STATE_ACK, v->components[c]->text, ctx->now_us);
		r = suspect ? append(&v->suspects, &v->n_suspects, &cap_suspects, &s)
			    : append(&v->asymmetries, &v->n_asymmetries, &cap_asymmetries, &s);
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot list the suspects");
	rank_suspects(v->suspects, v->n_suspects);
	rank_suspects(v->asymmetries, v->n_asymmetries);
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
