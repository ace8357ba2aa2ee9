/* The parts that the HTML report is put together from. */
#ifndef REPORT_VERDICT_HTML_PARTS_H
#define REPORT_VERDICT_HTML_PARTS_H

#include "base/strbuf.h"
#include "report/verdict_facts.h"
#include "report/verdict_html.h"

struct html_page {
	FILE *out;
	const struct lp_verdict *v;
	struct verdict_html_options opt;
	uint32_t n_plotted; /* suspects that have their plots */
	int error;	    /* the first one */
};

/* Remember the first error. */
static inline void html_page_failed(struct html_page *p, int error)
{
	if (error < 0 && !p->error)
		p->error = error;
}

/* Write what was put together in `sb`, escaped, and empty it. */
void html_page_text(struct html_page *p, struct strbuf *sb);

/* A component among its peers in one metric, as a figure. */
void html_plot(struct html_page *p, const struct lp_finding *f);

/* Labels of times below something that shows from .. to over its whole width. */
void html_time_axis(FILE *out, int64_t from_us, int64_t to_us);

/* Components by time, coloured by how far they are off. */
void html_heat_map(struct html_page *p);

/* All suspects, all asymmetries; parameters, groups and notes. */
void html_tables(struct html_page *p);

#endif
