/* Load: how much a component works compared with its peers, and which differences that explains. */
#ifndef DETECT_LOAD_H
#define DETECT_LOAD_H

#include <limpet/verdict.h>

/* A load counts as greater from this multiple of the peers' load on. Latency may then grow in
 * proportion to the load, times this factor. */
#define LOAD_MORE 1.25
#define LOAD_SLACK 1.25

/* The mean work of a component from `first_us` to `last_us`, summed over all its metrics of one
 * unit; NaN: unknown. */
double load_work(const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

/* The unit of a component's work; NULL: it has none. */
const char *load_unit(const struct lp_verdict *v, uint32_t component);

/* The share of the samples in that time in which it has work; NaN: unknown. */
double load_active(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

/* The median work of the other members of a group; NaN: unknown. */
double load_work_of_peers(const struct lp_verdict *v, uint32_t group, uint32_t component,
	int64_t first_us, int64_t last_us);

/* The amount of work of a component of this group that is negligible, summed over all metrics of
 * its unit. */
double load_floor(const struct lp_verdict *v, uint32_t group, uint32_t component);

/* The work of a member of a group divided by that of the other members, with the negligible amount
 * added to both; NaN: unknown. */
double load_of_member(const struct lp_verdict *v, uint32_t group, uint32_t member, int64_t first_us,
	int64_t last_us);

/* Is a finding's latency above that of its peers only because they were idle, i.e. is it like
 * theirs while there is work? False if limpet cannot decide that. */
bool load_idle_explains(const struct lp_verdict *v, const struct lp_finding *f);

/* Fill in load_ratio of the findings and decide what their load, or their peers' idleness,
 * explains: `explained_by_load`, `explained_by_idle`, and `culprit` for those that merely work
 * more. */
int load_judge(struct lp_verdict *v);

#endif
