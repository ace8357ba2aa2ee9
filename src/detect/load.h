/* Load: how much a component works compared with its peers, and what that explains. */
#ifndef DETECT_LOAD_H
#define DETECT_LOAD_H

#include <limpet/verdict.h>

/* A load this much greater than the peers' counts as greater, and latency may grow in proportion
 * and by this much more. */
#define LOAD_MORE 1.25
#define LOAD_SLACK 1.25

/* The mean work of a component from `first_us` to `last_us`, all its metrics of one unit added up;
 * NaN: nothing is known. */
double load_work(const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

/* The share of the samples in that time in which it has work; NaN: nothing is known. */
double load_active(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

/* The median of the work over the other members of a group; NaN: nothing is known. */
double load_work_of_peers(const struct lp_verdict *v, uint32_t group, uint32_t component,
	int64_t first_us, int64_t last_us);

/* Is a finding's latency above that of its peers only because they were idle, i.e. is it like
 * theirs while there is work? False if that cannot be decided. */
bool load_idle_explains(const struct lp_verdict *v, const struct lp_finding *f);

/* Fill in load_ratio of the findings and decide what their load, or their peers' idleness,
 * explains: `explained_by_load`, `explained_by_idle`, and `culprit` for those that merely work
 * more. */
int load_judge(struct lp_verdict *v);

#endif
