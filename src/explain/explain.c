#include "explain/explain.h"

#include "base/cleanup.h"
#include "explain/absence.h"
#include "explain/cause.h"
#include "explain/cleared.h"
#include "explain/coalesce.h"
#include "explain/evidence.h"
#include "explain/failover.h"
#include "explain/issuer.h"
#include "explain/layers.h"
#include "explain/loss.h"
#include "explain/namesakes.h"
#include "explain/onset.h"
#include "explain/semantic_join.h"
#include "explain/strangers.h"
#include "explain/suspects.h"
#include <errno.h>

/* Write the sentences and the advice of all suspects. */
static int tell(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++) {
		uint32_t leader = ctx->follows[i];

		suspects_order_findings(ctx, &v->suspects[i]);
		r = evidence_fill(
			ctx, &v->suspects[i], leader == UINT32_MAX ? NULL : &v->suspects[leader]);
	}
	for (uint32_t i = 0; r == 0 && i < v->n_warnings; i++) {
		v->warnings[i].cause = cause_of_warning(ctx, &v->warnings[i])->name;
		r = evidence_fill(ctx, &v->warnings[i], NULL);
	}
	for (uint32_t i = 0; r == 0 && i < v->n_asymmetries; i++) {
		v->asymmetries[i].cause = cause_of_asymmetry(ctx, &v->asymmetries[i])->name;
		r = evidence_fill(ctx, &v->asymmetries[i], NULL);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot explain the suspects") : 0;
}

int explain_verdict(struct lp_verdict *v, const struct topology *topology,
	const struct hosts *hosts, const struct operator_state *state,
	const struct semantic *semantic, struct lp_err *err)
{
	_cleanup_(context_release) struct explain_context ctx = {0};
	int r = context_init(&ctx, v, topology, state, err);

	ctx.hosts = hosts;
	if (r == 0)
		r = cleared_apply(&ctx, err);
	if (r == 0)
		r = issuer_filter(&ctx, err);
	if (r == 0)
		r = loss_filter(&ctx, err);
	if (r == 0)
		r = strangers_filter(&ctx, err);
	if (r == 0)
		r = namesakes_filter(&ctx, err);
	if (r == 0) {
		layers_filter(&ctx);
		r = suspects_gather(&ctx, err);
	}
	if (r == 0)
		r = semantic_join_suspects(&ctx, semantic, err);
	if (r == 0)
		r = cause_assign(&ctx, err);
	if (r == 0)
		r = failover_find(&ctx, err);
	if (r == 0)
		r = onset_refine(&ctx, err);
	if (r == 0)
		r = tell(&ctx, err);
	if (r == 0)
		r = coalesce_suspects(&ctx, err);
	if (r < 0)
		return r;
	onset_settle(&ctx);
	return absence_set_apart(&ctx, err);
}
