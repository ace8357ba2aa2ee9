/* A verdict as one self-contained HTML file: no network, no other file, and no script needed for
 * reading it (scripts add hovering, choosing, sorting and filtering). */
#ifndef REPORT_VERDICT_HTML_H
#define REPORT_VERDICT_HTML_H

#include <limpet/verdict.h>
#include <stdio.h>

struct verdict_html_options {
	const char *title; /* NULL: "limpet report" */
	uint32_t top;	   /* suspects with plots; 0: 10 */
	uint32_t rows;	   /* of the heat map; 0: 200 */
};

/* `options` may be NULL: the defaults. Returns 0, -ENOMEM or -EIO. */
int verdict_write_html(
	FILE *out, const struct lp_verdict *v, const struct verdict_html_options *options);

#endif
