/* From findings to a verdict: suspects with causes, asymmetries, incidents on the topology. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/semantic.h"
#include "explain/state.h"
#include "model/hosts.h"
#include "model/topology.h"
#include <limpet/verdict.h>

/* Fill in suspects, asymmetries and incidents from the findings, ranked. `topology`, `hosts`
 * (who has which address, where the topology does not say) and `state` (what the operator
 * acknowledged, muted or cleared) may be NULL, as may `semantic`: what the logs of system calls
 * say, about components of the verdict (semantic_join_components()). */
int explain_verdict(struct lp_verdict *v, const struct topology *topology,
	const struct hosts *hosts, const struct operator_state *state,
	const struct semantic *semantic, struct lp_err *err);

#endif
