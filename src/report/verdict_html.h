/* A verdict as one self-contained HTML file: it needs no network and no other file, and can be read
 * without scripts (scripts add hovering, selecting, sorting and filtering). */
#ifndef REPORT_VERDICT_HTML_H
#define REPORT_VERDICT_HTML_H

#include <limpet/verdict.h>
#include <stdio.h>

struct verdict_html_options {
	const char *title; /* NULL: "limpet report" */
	uint32_t top;	   /* number of suspects with plots; 0: 10 */
	uint32_t rows;	   /* of the heat map; 0: 200 */
};

/* Write the report. `options` NULL: the defaults. Returns 0, -ENOMEM or -EIO. */
int verdict_write_html(
	FILE *out, const struct lp_verdict *v, const struct verdict_html_options *options);

#endif
