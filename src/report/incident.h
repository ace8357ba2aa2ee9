/* An incident in the words of an operator: what is wrong, since when, and what to do.
 *
 * The terminal, the report, alerts and the API all take their sentences from here, so that one
 * problem reads the same everywhere.
 */
#ifndef REPORT_INCIDENT_H
#define REPORT_INCIDENT_H

#include "base/strbuf.h"
#include <limpet/verdict.h>

/* What is wrong, in one sentence without its full stop: "oss5: disk sdb is slow, 9.4x its peers",
 * "packets between oss5 and its clients are lost". Of an incident that is over it uses the past
 * tense. Names come from files: print the result as text that is not trusted. */
void incident_add_what(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in);

/* The same for a component that is slow by little: "oss5: disk sdb is a little slow, 1.3x its
 * peers". */
void incident_add_warning(
	struct strbuf *sb, const struct lp_verdict *v, const struct lp_suspect *warning);

/* Who it is about: "oss5: disk sdb", "controller ddn12a". */
void incident_add_who(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in);

/* The server it is about, "" if it is about a part that several servers share. */
const char *incident_observer(const struct lp_verdict *v, const struct lp_incident *in);

/* The component that the incident is about first; NULL if it has none. */
const struct lp_identity *incident_component(
	const struct lp_verdict *v, const struct lp_incident *in);

/* The suspect, or the absent one, that leads the incident; NULL if there is none. */
const struct lp_suspect *incident_lead(const struct lp_verdict *v, const struct lp_incident *in);

/* Its importance: "critical", "warning". */
const char *incident_level_name(enum lp_level level);

/* The overall state, for a person: "CRITICAL", "WARNING", "OK", "UNKNOWN". */
const char *incident_state_name(enum lp_status status);

/* "high", "medium" or "low". */
const char *incident_confidence_name(double confidence);

/* What to do: commands to run on one host, and a sentence about what to look for. */
struct incident_steps {
	char host[256];		/* where the commands run; "" anywhere */
	struct strbuf commands; /* one per line, without a line end after the last; may be empty */
	struct strbuf text;	/* what to look for, and what to do about it */
};

/* Fill in the steps; `ret` is zeroed. */
void incident_steps(
	const struct lp_verdict *v, const struct lp_incident *in, struct incident_steps *ret);
void incident_steps_release(struct incident_steps *s);

#endif
