/* Idle is not broken: a component that never worked has lost nothing, and a component that hardly
 * works cannot be called slow. */
#ifndef EXPLAIN_IDLENESS_H
#define EXPLAIN_IDLENESS_H

#include <limpet/metric.h>
#include <limpet/verdict.h>

/* Is a finding that would make a culprit only about a component that is idle by design?
 *
 * - Absent, without data or without work: unless it worked before, at least a tenth as much as its
 *   peers. A component is lost if it worked and then stopped while its peers continued.
 * - Slow: if it does less than a twentieth of its peers' work, and so do most components of its
 * name on other observers (boot disks). */
bool idleness_excuses(const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role);

#endif
