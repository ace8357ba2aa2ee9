/* An incident in an operator's words: what is wrong, since when, and what to do.
 *
 * The terminal, the report, alerts and the API all use these sentences, so that a problem is
 * described the same everywhere.
 */
#ifndef REPORT_INCIDENT_H
#define REPORT_INCIDENT_H

#include "base/strbuf.h"
#include <limpet/verdict.h>

/* Add what is wrong, in one sentence without the full stop: "oss5: disk sdb is slow, 9.4x its
 * peers", "packets between oss5 and its clients are lost". It uses the past tense for an incident
 * that is over. Names come from files: print the result as untrusted text. */
void incident_add_what(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in);

/* The same for a component that is slightly slow: "oss5: disk sdb is a little slow, 1.3x its
 * peers". */
void incident_add_warning(
	struct strbuf *sb, const struct lp_verdict *v, const struct lp_suspect *warning);

/* The subject of the incident: "oss5: disk sdb", "controller ddn12a". */
void incident_add_who(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in);

/* The server of the incident; "" if it is about a part that several servers share. */
const char *incident_observer(const struct lp_verdict *v, const struct lp_incident *in);

/* The first component of the incident; NULL if it has none. */
const struct lp_identity *incident_component(
	const struct lp_verdict *v, const struct lp_incident *in);

/* The suspect, or the absent component, that leads the incident; NULL if there is none. */
const struct lp_suspect *incident_lead(const struct lp_verdict *v, const struct lp_incident *in);

/* Its importance: "critical", "warning". */
const char *incident_level_name(enum lp_level level);

/* The overall state, for a person: "CRITICAL", "WARNING", "OK", "UNKNOWN". */
const char *incident_state_name(enum lp_status status);

/* "high", "medium" or "low". */
const char *incident_confidence_name(double confidence);

/* The steps for the operator: commands to run on one host, and a sentence about what to check. */
struct incident_steps {
	char host[256];		/* where to run the commands; "": anywhere */
	struct strbuf commands; /* one per line, without a line end after the last one; may be
				 * empty */
	struct strbuf text;	/* what to check, and what to do about it */
};

/* Fill in the steps; `ret` must be zero-initialised. */
void incident_steps(
	const struct lp_verdict *v, const struct lp_incident *in, struct incident_steps *ret);
void incident_steps_release(struct incident_steps *s);

#endif
