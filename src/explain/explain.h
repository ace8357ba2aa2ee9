/* From findings to a verdict: suspects with causes, asymmetries, incidents by topology. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/semantic.h"
#include "explain/state.h"
#include "model/hosts.h"
#include "model/topology.h"
#include <limpet/verdict.h>

/* Fill in suspects, asymmetries and incidents from the findings, ranked. `topology`, `hosts`
 * (addresses of observers that are not in the topology), `state` (components that the operator
 * acknowledged, muted or cleared) and `semantic` (findings in the logs of system calls, about
 * components of the verdict, see semantic_join_components()) may be NULL. */
int explain_verdict(struct lp_verdict *v, const struct topology *topology,
	const struct hosts *hosts, const struct operator_state *state,
	const struct semantic *semantic, struct lp_err *err);

#endif
