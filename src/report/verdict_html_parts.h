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
	uint32_t n_plotted; /* suspects that have their plots */
	uint32_t points;    /* of each line of a plot, at most */
	int error;	    /* the first one */
};

/* Remember the first error. */
static inline void html_page_failed(struct html_page *p, int error)
{
	if (error < 0 && !p->error)
		p->error = error;
}

/* Write the content of `sb`, escaped, and empty it. */
void html_page_text(struct html_page *p, struct strbuf *sb);

/* An event: a word and its time. */
struct html_event {
	int64_t wall_us;
	const char *what;
};

/* A suspect among its peers in one metric, as a figure. */
void html_plot(struct html_page *p, const struct lp_suspect *s, const struct lp_finding *f);

/* Labels of times below something that shows from .. to over its whole width. */
void html_time_axis(FILE *out, int64_t from_us, int64_t to_us);

/* Numbers of three digits with commas between them; nothing for a missing value. */
void html_write_values(FILE *out, const double *values, uint32_t n);

/* All metrics of the components of the heat map over time. */
struct html_detail {
	uint32_t n_points; /* of each line; fewer where there are many */
	bool *used;	   /* [series] some row has a line of it */
	double *values;	   /* [point] */
};

/* For that many rows. Returns 0 or -ENOMEM. */
int html_detail_init(struct html_detail *d, const struct lp_verdict *v, uint32_t n_rows);
void html_detail_release(struct html_detail *d);

/* Write the component's line in a metric. */
void html_detail_own(FILE *out, const struct lp_verdict *v, struct html_detail *d,
	uint32_t component, uint32_t metric);

/* Write the common part of the rows: the metric and the peers' median of each series that is used.
 */
void html_detail_series(struct html_page *p, const struct html_detail *d);

/* The number of the component among the members of a series' group; UINT32_MAX: none. */
uint32_t html_member_of(const struct lp_verdict *v, const struct lp_series *s, uint32_t component);

/* Components by time, coloured by how far they are off. */
void html_heat_map(struct html_page *p);

/* All suspects, all asymmetries; parameters, groups and notes. */
void html_tables(struct html_page *p);

#endif
