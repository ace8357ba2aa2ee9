/* The parts of the HTML report. */
#ifndef REPORT_VERDICT_HTML_PARTS_H
#define REPORT_VERDICT_HTML_PARTS_H

#include "base/strbuf.h"
#include "report/verdict_facts.h"
#include "report/verdict_html.h"

struct html_page {
	FILE *out;
	const struct lp_verdict *v;
	struct verdict_html_options opt;
	uint32_t n_plotted; /* suspects that already have their plots */
	uint32_t points;    /* maximum number of points per line of a plot */
	int error;	    /* the first one */
};

/* Remember the first error. */
static inline void html_page_failed(struct html_page *p, int error)
{
	if (error < 0 && !p->error)
		p->error = error;
}

/* Write the contents of `sb`, escaped, and empty it. */
void html_page_text(struct html_page *p, struct strbuf *sb);

/* An event: a word and its time. */
struct html_event {
	int64_t wall_us;
	const char *what;
};

/* A figure of a suspect among its peers in one metric. */
void html_plot(struct html_page *p, const struct lp_suspect *s, const struct lp_finding *f);

/* Write labels of times below a figure that shows from .. to over its whole width. */
void html_time_axis(FILE *out, int64_t from_us, int64_t to_us);

/* Write numbers with three digits, separated by commas; nothing for a missing value. */
void html_write_values(FILE *out, const double *values, uint32_t n);

/* All metrics of the components of the heat map over time. */
struct html_detail {
	uint32_t n_points; /* per line; fewer if there are many lines */
	bool *used;	   /* [series] a row has a line of it */
	double *values;	   /* [point] */
};

/* Initialise it for `n_rows` rows. Returns 0 or -ENOMEM. */
int html_detail_init(struct html_detail *d, const struct lp_verdict *v, uint32_t n_rows);
void html_detail_release(struct html_detail *d);

/* Write the line of the component in a metric. */
void html_detail_own(FILE *out, const struct lp_verdict *v, struct html_detail *d,
	uint32_t component, uint32_t metric);

/* Write the common part of the rows: the metric and the peers' median of each series in use.
 */
void html_detail_series(struct html_page *p, const struct html_detail *d);

/* The number of the component in the group of a series; UINT32_MAX: none. */
uint32_t html_member_of(const struct lp_verdict *v, const struct lp_series *s, uint32_t component);

/* The heat map: components over time, coloured by how far they are off. */
void html_heat_map(struct html_page *p);

/* Tables of all suspects and asymmetries, parameters, groups and notes. */
void html_tables(struct html_page *p);

#endif
