#include "explain/explain.h"

#include "base/cleanup.h"
#include "explain/cause.h"
#include "explain/cleared.h"
#include "explain/coalesce.h"
#include "explain/evidence.h"
#include "explain/failover.h"
#include "explain/issuer.h"
#include "explain/loss.h"
#include "explain/semantic_join.h"
#include "explain/suspects.h"
#include <errno.h>

/* Sentences and advice of all. */
static int tell(struct inquiry *q, struct lp_err *err)
{
	struct lp_verdict *v = q->v;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++) {
		uint32_t leader = q->follows[i];

		suspects_order_findings(q, &v->suspects[i]);
		r = evidence_fill(
			q, &v->suspects[i], leader == UINT32_MAX ? NULL : &v->suspects[leader]);
	}
	for (uint32_t i = 0; r == 0 && i < v->n_asymmetries; i++) {
		v->asymmetries[i].cause = cause_of_asymmetry(q, &v->asymmetries[i])->name;
		r = evidence_fill(q, &v->asymmetries[i], NULL);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot explain the suspects") : 0;
}

int explain_verdict(struct lp_verdict *v, const struct topology *topology,
	const struct hosts *hosts, const struct operator_state *state,
	const struct semantic *semantic, struct lp_err *err)
{
	_cleanup_(inquiry_release) struct inquiry q = {0};
	int r = inquiry_init(&q, v, topology, state, err);

	q.hosts = hosts;
	if (r == 0)
		r = cleared_apply(&q, err);
	if (r == 0)
		r = issuer_filter(&q, err);
	if (r == 0)
		r = loss_filter(&q, err);
	if (r == 0)
		r = suspects_gather(&q, err);
	if (r == 0)
		r = semantic_join_suspects(&q, semantic, err);
	if (r == 0)
		r = cause_assign(&q, err);
	if (r == 0)
		r = failover_find(&q, err);
	if (r == 0)
		r = tell(&q, err);
	if (r == 0)
		r = coalesce_suspects(&q, err);
	return r;
}
