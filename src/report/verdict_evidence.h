/* The evidence against the components of an incident, as a table: its value, that of its peers, the
 * ratio, and a small plot. */
#ifndef REPORT_VERDICT_EVIDENCE_H
#define REPORT_VERDICT_EVIDENCE_H

#include <limpet/verdict.h>
#include <stdio.h>

struct evidence_style {
	unsigned width; /* of a line */
	unsigned indent;
	bool utf8;		       /* plots with block characters; otherwise with ASCII */
	uint32_t max;		       /* maximum number of rows; more are counted. 0: all */
	const struct lp_finding *said; /* left out, as another line has it; NULL: none */
};

/* Print the table, if it is not empty. Returns 0 or -ENOMEM. */
int verdict_print_evidence(FILE *out, const struct lp_verdict *v, const struct lp_incident *in,
	const struct evidence_style *style);

#endif
