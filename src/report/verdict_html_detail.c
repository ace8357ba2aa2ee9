/* Data about components without plots: their metrics over time, which a click on a cell of the heat
 * map shows. */
#include "report/verdict_html_parts.h"

#include "report/html.h"
#include "report/peer_lines.h"
#include <errno.h>
#include <inttypes.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>

#define BUDGET 350000 /* maximum size of all lines together */
#define VALUE_BYTES 5 /* approximate size of a value */
#define POINTS_MIN 40
#define POINTS_MAX 300

uint32_t html_member_of(const struct lp_verdict *v, const struct lp_series *s, uint32_t component)
{
	const struct lp_peer_group *g = &v->groups[s->group];

	for (uint32_t m = 0; m < g->n_members; m++) {
		if (g->members[m] == component)
			return m;
	}
	return UINT32_MAX;
}

int html_detail_init(struct html_detail *d, const struct lp_verdict *v, uint32_t n_rows)
{
	uint64_t lines = (uint64_t)n_rows * v->n_tables + 1;
	uint64_t points = BUDGET / VALUE_BYTES / lines;
	uint32_t slots = v->n_tables ? v->tables[0]->n_slots : 0;

	points = points < POINTS_MIN ? POINTS_MIN : points > POINTS_MAX ? POINTS_MAX : points;
	d->n_points = points < slots ? (uint32_t)points : slots;
	d->used = calloc(v->n_series + (size_t)1, sizeof(*d->used));
	d->values = calloc(d->n_points + (size_t)1, sizeof(*d->values));
	return d->used && d->values ? 0 : -ENOMEM;
}

void html_detail_release(struct html_detail *d)
{
	free(d->used);
	free(d->values);
}

void html_write_values(FILE *out, const double *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc(',', out);
		if (isfinite(values[i]))
			fprintf(out, "%.3g", values[i]);
	}
}

void html_detail_own(FILE *out, const struct lp_verdict *v, struct html_detail *d,
	uint32_t component, uint32_t metric)
{
	peer_lines_own(v, component, metric, d->n_points, d->values);
	html_write_values(out, d->values, d->n_points);
}

static void write_series(struct html_page *p, const struct html_detail *d, uint32_t at)
{
	const struct lp_series *s = &p->v->series[at];
	const struct lp_peer_group *g = &p->v->groups[s->group];
	const struct lp_table *t = p->v->tables[s->metric];
	const struct lp_metric *metric = g->n_members
		? lp_metric_find(p->v->components[g->members[0]]->kind, t->metric)
		: NULL;
	struct peer_lines l = {0};
	int r = peer_lines_make(p->v, UINT32_MAX, s->group, s->metric, d->n_points, &l);

	if (r < 0) {
		html_page_failed(p, r);
		return;
	}
	fprintf(p->out,
		"<i hidden class=\"series\" data-id=\"%" PRIu32 "\" data-peers=\"%" PRIu32
		"\" data-from=\"%" PRId64 "\" data-to=\"%" PRId64 "\" data-metric=\"",
		at, l.n_others ? l.n_others - 1 : 0, (t->start_us - t->step_us) / 1000,
		lp_table_time(t, (int64_t)t->n_slots - 1) / 1000);
	html_write(p->out, t->metric);
	fputs("\" data-unit=\"", p->out);
	html_write(p->out, t->unit);
	fputs("\" data-help=\"", p->out);
	html_write(p->out, metric ? metric->help : "");
	fputs("\" data-median=\"", p->out);
	html_write_values(p->out, l.median, l.n_points);
	fputs("\"></i>\n", p->out);
	peer_lines_release(&l);
}

void html_detail_series(struct html_page *p, const struct html_detail *d)
{
	for (uint32_t i = 0; d->n_points && i < p->v->n_series; i++) {
		if (d->used[i])
			write_series(p, d, i);
	}
}
