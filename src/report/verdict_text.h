/* A verdict for a person at a terminal: the first line is enough for an operator who was just woken
 * up; then the evidence, what to do, and what was checked. */
#ifndef REPORT_VERDICT_TEXT_H
#define REPORT_VERDICT_TEXT_H

#include "report/clock.h"
#include <limpet/verdict.h>
#include <stdio.h>

struct verdict_text_options {
	bool colour;
	bool utf8;	/* the terminal shows more than ASCII */
	bool verbose;	/* every metric and component of an incident, the groups, the method */
	uint32_t top;	/* incidents listed one by one; 0: 10 */
	unsigned width; /* of a line; 0: 80 */
	struct clock_style clock;
};

/* `options` may be NULL: the defaults. Returns 0, -ENOMEM, or the error of writing. */
int verdict_print_text(
	FILE *out, const struct lp_verdict *v, const struct verdict_text_options *options);

#endif
