/* A verdict for a person at a terminal: incidents first, one screenful in the usual case. */
#ifndef REPORT_VERDICT_TEXT_H
#define REPORT_VERDICT_TEXT_H

#include <limpet/verdict.h>
#include <stdio.h>

struct verdict_text_options {
	bool colour;
	bool verbose;	/* every metric and component of an incident, and the groups */
	uint32_t top;	/* incidents told one by one; 0: 10 */
	unsigned width; /* of a line; 0: 80 */
};

/* `options` may be NULL: the defaults. Returns 0, -ENOMEM, or what was wrong with writing. */
int verdict_print_text(
	FILE *out, const struct lp_verdict *v, const struct verdict_text_options *options);

#endif
