/* From findings to a verdict: suspects with causes, asymmetries, incidents on the topology. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/state.h"
#include "model/hosts.h"
#include "model/topology.h"
#include <limpet/verdict.h>

/* Fill in suspects, asymmetries and incidents from the findings, ranked. `topology`, `hosts`
 * (who has which address, where the topology does not tell) and `state` (what the operator
 * acknowledged, muted or cleared) may be NULL. */
int explain_verdict(struct lp_verdict *v, const struct topology *topology,
	const struct hosts *hosts, const struct operator_state *state, struct lp_err *err);

#endif
