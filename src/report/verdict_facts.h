/* Facts about a verdict in the same words for all reports: component, time, peers. */
#ifndef REPORT_VERDICT_FACTS_H
#define REPORT_VERDICT_FACTS_H

#include "base/strbuf.h"
#include <limpet/verdict.h>
#include <stdio.h>

/* The time that was analysed: from the beginning of the first window to the end of the last one, in
 * any series; without windows, the whole grid. */
struct verdict_span {
	int64_t start_us, end_us;
	uint32_t n_windows; /* of the series with the most windows */
};
struct verdict_span verdict_span(const struct lp_verdict *v);

/* When the window of a series begins and ends. */
int64_t verdict_window_start(
	const struct lp_verdict *v, const struct lp_series *s, uint32_t window);
int64_t verdict_window_end(const struct lp_verdict *v, const struct lp_series *s, uint32_t window);

/* Does it continue at the end of the data (within one shift of the window)? */
bool verdict_is_still(const struct lp_verdict *v, const struct lp_incident *in);

/* Its duration; trouble that continues lasts until the end of the data. */
int64_t verdict_lasted_us(const struct lp_verdict *v, const struct lp_incident *in);

/* The suspect or absent component with this number, or NULL. */
const struct lp_suspect *verdict_suspect_of(const struct lp_verdict *v, uint32_t component);

/* Has the operator acknowledged every suspect of the incident? */
bool verdict_incident_acknowledged(const struct lp_verdict *v, const struct lp_incident *in);

/* The number of incidents about limping components; they come before those about absent ones. */
uint32_t verdict_n_limping(const struct lp_verdict *v);

/* Is everything fine, with nothing that the operator should know? */
bool verdict_is_well(const struct lp_verdict *v);

/* The name of a status: "ok", "suspects", "absent", "unknown", "warnings". */
const char *verdict_status_name(enum lp_status status);

/* The name of a level: "suspect", "warning", "absent". */
const char *verdict_level_name(enum lp_level level);

/* The missing part of an absent component: "work", "data", "observer"; NULL: nothing. */
const char *verdict_gone_name(enum lp_gone gone);

/* The name of a mark: "none", "normal", "above", "below", "absent". */
const char *verdict_mark_name(enum lp_mark mark);
static inline bool verdict_mark_anomalous(uint8_t mark)
{
	return mark == LP_MARK_ABOVE || mark == LP_MARK_BELOW || mark == LP_MARK_ABSENT;
}

/* "slow disk" for "disk-busy"; the cause itself if there is no description. */
const char *verdict_cause_words(const char *cause);

/* "360 disks in 30 groups". */
void verdict_add_population(struct strbuf *sb, const struct lp_verdict *v);

/* The data that was analysed: "await of 360 disks in 30 groups, 23 windows of 15m from ... to
 * ...". */
void verdict_add_looked_at(struct strbuf *sb, const struct lp_verdict *v);

/* The origin of thresholds: "from the peers' own spread". */
const char *verdict_thresholds(const struct lp_verdict *v);

/* The method: "method cdf, thresholds from the peers' own spread". */
void verdict_add_method(struct strbuf *sb, const struct lp_verdict *v);

/* The verdict in a few sentences, for a title: "oss5: disk sdb is slow, 9.4x its peers. 2 more
 * incidents." */
void verdict_add_headline(struct strbuf *sb, const struct lp_verdict *v);

/* The number of windows or traced observers that could be judged; 0: nothing was judged. */
uint32_t verdict_n_judged(const struct lp_verdict *v);

/* Add that nothing is wrong, and what was checked: "all is well: nothing is slow, failing or
 * missing among 24 disks". Nothing, if no group could be decided. */
void verdict_add_well(struct strbuf *sb, const struct lp_verdict *v);

/* Are all its members the same function, one on each server? There are hundreds of such groups, and
 * servers are compared by all functions together. */
bool verdict_group_is_function(const struct lp_verdict *v, const struct lp_peer_group *g);

/* "not checked, because there are too few to compare: 1 disk and 1 network interface", or
 * nothing. */
void verdict_add_not_compared(struct strbuf *sb, const struct lp_verdict *v);

/* "Muted, and still out of step: fs1/disk:sdh.", with about `max` components. */
void verdict_add_muted(struct strbuf *sb, const struct lp_verdict *v, uint32_t max);

/* The parts that were checked: "11 of 12 servers and 6 clients, 48 components". */
void verdict_add_checked(struct strbuf *sb, const struct lp_verdict *v);

/* "limped from T (give or take 1s) to T (2h)", or "since T (give or take 1s), still at the end of
 * the data (2h)". */
void verdict_add_when(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in);

/* "against 11 others of group disk of fs3". */
void verdict_add_peers(struct strbuf *sb, const struct lp_verdict *v, uint32_t group);

#endif
