/* Sentences for people: the evidence against a component. */
#ifndef EXPLAIN_EVIDENCE_H
#define EXPLAIN_EVIDENCE_H

#include "base/strbuf.h"
#include "detect/traffic.h"
#include "explain/context.h"

/* The number of anomalous windows of a finding, "37 of 46 windows". All texts about findings use
 * this. */
void evidence_add_windows(
	struct strbuf *sb, const struct lp_verdict *v, const struct lp_finding *f);

/* Is the median of the component close to that of its peers, so that only the spread of its values
 * differs? */
bool evidence_is_alike(const struct lp_finding *f);

/* The traffic of a suspect's observer, if that is its cause and no finding shows it: less than
 * twice the traffic of its peers can fill a link. NaN: there is nothing to add. */
struct traffic evidence_traffic(const struct lp_verdict *v, const struct lp_suspect *s);

/* One finding: "await 4.1x its peers (41.0 ms against 10.0 ms) in 37 of 46 windows". */
void evidence_of_finding(const struct explain_context *ctx, uint32_t finding, struct strbuf *sb);

/* Fill in the sentences and the advice of a suspect (or of an asymmetry). Its findings and cause
 * must be set. `leader` is the suspect that it follows from, or NULL. */
int evidence_fill(
	const struct explain_context *ctx, struct lp_suspect *s, const struct lp_suspect *leader);

/* The sentence about an incident. Its other members must be set. `lead` is its worst suspect;
 * `n_own` of its components belong to the part, the others are consequences. */
char *evidence_summary(const struct explain_context *ctx, const struct lp_incident *incident,
	const struct lp_suspect *lead, uint32_t n_own);

#endif
