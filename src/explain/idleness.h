/* Idle is not broken: a component that never worked has lost nothing, and one that hardly works
 * cannot be called slow. */
#ifndef EXPLAIN_IDLENESS_H
#define EXPLAIN_IDLENESS_H

#include <limpet/metric.h>
#include <limpet/verdict.h>

/* Is a finding that would make a culprit only about a component that idles as it is meant to?
 *
 * - Absent, without data or without work: unless it worked before, at least a tenth of what its
 *   peers did. Lost is who worked and then stopped while the peers went on.
 * - Slow: where it does less than a twentieth of what its peers do, and so do most components of
 *   its name on other observers (the disks that systems boot from). */
bool idleness_excuses(const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role);

#endif
