#include "report/verdict_evidence.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "explain/evidence.h"
#include "model/metric_role.h"
#include "model/naming.h"
#include "model/quantity.h"
#include "report/flow.h"
#include "report/peer_lines.h"
#include "report/sparkline.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 32
#define POINTS_USUAL 16
#define POINTS_LEAST 4
#define WIDE 100      /* plots are longer from this many columns on */
#define LIKE_LOAD 1.5 /* a load this close to that of the peers explains nothing */
#define NAME_LEAST 16 /* characters of a function that are always printed */
#define FUNCTIONS 3   /* per metric, unless all rows are wanted */

struct row {
	char label[64], own[QUANTITY_TEXT_MAX], peers[QUANTITY_TEXT_MAX + 8];
	char ratio[QUANTITY_TEXT_MAX];
	const struct lp_finding *finding;    /* for the plot; NULL: none */
	char thing[96];			     /* the component; "" if there is only one */
	const char *remark;		     /* NULL: none */
	const struct lp_dimension *function; /* NULL: the row is not about a function */
};

struct table {
	const struct lp_verdict *v;
	const struct evidence_style *style;
	struct row *rows;
	size_t n, cap;
	size_t label, own, peers, ratio, thing; /* widths */
};

static void widen(size_t *width, const char *text)
{
	size_t own = flow_text_width(text);

	*width = own > *width ? own : *width;
}

static struct row *add_row(struct table *t)
{
	if (array_reserve(&t->rows, &t->cap, t->n + 1, sizeof(*t->rows)) < 0)
		return NULL;
	t->rows[t->n] = (struct row){0};
	return &t->rows[t->n++];
}

/* Does a row already show this for the same component? */
static bool is_there(const struct table *t, const struct lp_finding *f)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct lp_finding *other = t->rows[i].finding;

		if (other && other->component == f->component && other->metric == f->metric)
			return true;
	}
	return false;
}

static void name_row(struct row *row, const struct lp_identity *of)
{
	struct strbuf thing = {0};

	naming_add_thing(&thing, of);
	snprintf(row->thing, sizeof(row->thing), "%s", thing.text ? thing.text : of->observer);
	strbuf_release(&thing);
}

/* Repeating the unit would take space that the plot needs. */
static void drop_unit(char *text, const char *like)
{
	const char *unit = strchr(like, ' '), *own = strchr(text, ' ');

	if (unit && own && strlen(unit) > strlen(" MB/s") && !strcmp(unit, own))
		text[own - text] = '\0';
}

static void set_values(struct row *row, const struct lp_table *of, double own, double peers)
{
	char text[QUANTITY_TEXT_MAX];

	snprintf(row->label, sizeof(row->label), "%s", of->metric);
	quantity_format(own, of->unit, row->own);
	quantity_format(peers, of->unit, text);
	drop_unit(text, row->own);
	snprintf(row->peers, sizeof(row->peers), "peers %s", text);
}

/* A vector is not a single number: show its functions. */
static int add_functions(struct table *t, const struct lp_finding *f)
{
	const struct lp_dimension *d = &t->v->dimensions[f->first_dimension];
	uint32_t n = t->style->max && f->n_dimensions > FUNCTIONS ? FUNCTIONS : f->n_dimensions;

	for (uint32_t i = 0; i < n; i++) {
		struct row *row = add_row(t);

		if (!row)
			return -ENOMEM;
		set_values(row, t->v->tables[f->metric], d[i].own, d[i].peers);
		if (d[i].peers > 0)
			quantity_format_ratio(d[i].own / d[i].peers, row->ratio);
		row->function = &d[i];
	}
	return 0;
}

static int add_finding(struct table *t, const struct lp_finding *f, const struct lp_identity *of)
{
	const struct lp_table *values = t->v->tables[f->metric];
	struct row *row;
	char peers[QUANTITY_TEXT_MAX];

	if (f->n_dimensions)
		return add_functions(t, f);
	if (is_there(t, f))
		return 0;
	row = add_row(t);
	if (!row)
		return -ENOMEM;
	snprintf(row->label, sizeof(row->label), "%s", values->metric);
	quantity_format(f->own, values->unit, row->own);
	quantity_format(f->peers, values->unit, peers);
	drop_unit(peers, row->own);
	/* A server may be gone together with all its peers. */
	if (!f->whole || isfinite(f->peers))
		snprintf(row->peers, sizeof(row->peers), "%s %s", t->v->past ? "before" : "peers",
			peers);
	if (isfinite(f->ratio) && f->direction != LP_MARK_ABSENT)
		quantity_format_ratio(f->ratio, row->ratio);
	row->finding = f;
	if (of)
		name_row(row, of);
	return 0;
}

static const char *load_remark(double ratio, bool past)
{
	if (ratio > LIKE_LOAD)
		return past ? "more work than usual" : "more work than its peers";
	if (ratio < 1 / LIKE_LOAD)
		return past ? "less work than usual" : "less work than its peers";
	return past ? "as usual: not overload" : "like its peers: not overload";
}

/* Does a row of the other end of the same connections show the same numbers? */
static bool is_same_seen(const struct lp_verdict *v, const struct row *a, const struct row *b)
{
	const struct lp_identity *of[2];

	if (!a->finding || !b->finding)
		return false;
	of[0] = v->components[a->finding->component];
	of[1] = v->components[b->finding->component];
	return !strcmp(of[0]->kind, "tcp") && !strcmp(of[1]->kind, "tcp") &&
		!strcmp(of[0]->observer, of[1]->observer) && !strcmp(a->label, b->label) &&
		!strcmp(a->own, b->own) && !strcmp(a->peers, b->peers);
}

/* Both ends of a connection count some things, for instance retransmits: show them once. */
static void join_ends(struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t k = 0;

		while (k < n && !is_same_seen(t->v, &t->rows[k], &t->rows[i]))
			k++;
		if (k < n)
			strcpy(t->rows[k].thing, "TCP at both ends"); /* NOLINT: it fits */
		else
			t->rows[n++] = t->rows[i];
	}
	t->n = n;
}

/* Remove the row of a finding that another line has, unless it is the only one. */
static void drop_said(struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->n == 1 || !t->style->said || t->rows[i].finding != t->style->said)
			t->rows[n++] = t->rows[i];
	}
	t->n = n;
}

/* The answer to "is it just busier?". */
static int add_load(struct table *t, const struct lp_suspect *s)
{
	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &t->v->findings[s->findings[i]];
		enum lp_role role = f->role != LP_ROLE_OTHER
			? f->role
			: lp_metric_role(NULL, t->v->tables[f->metric]->metric);
		struct row *row;

		if (!role_is_time(role) || !isfinite(f->load_ratio) ||
			f->direction == LP_MARK_ABSENT || f->explained_by_load)
			continue;
		row = add_row(t);
		if (!row)
			return -ENOMEM;
		strcpy(row->label, "load"); /* NOLINT: it fits */
		quantity_format_ratio(f->load_ratio, row->ratio);
		row->remark = load_remark(f->load_ratio, t->v->past);
		return 0;
	}
	return 0;
}

static int add_traffic(struct table *t, const struct lp_suspect *s)
{
	struct traffic traffic = evidence_traffic(t->v, s);
	char peers[QUANTITY_TEXT_MAX];
	struct row *row;

	if (!(traffic.own > traffic.usual))
		return 0;
	row = add_row(t);
	if (!row)
		return -ENOMEM;
	strcpy(row->label, "traffic"); /* NOLINT: it fits */
	quantity_format(traffic.own, "bytes/s", row->own);
	quantity_format(traffic.usual, "bytes/s", peers);
	drop_unit(peers, row->own);
	snprintf(row->peers, sizeof(row->peers), "%s %s", t->v->past ? "before" : "peers", peers);
	quantity_format_ratio(traffic.own / traffic.usual, row->ratio);
	row->remark = "all interfaces, received and sent";
	return 0;
}

static int add_suspect(struct table *t, const struct lp_suspect *s, bool named)
{
	const struct lp_identity *of = named ? t->v->components[s->component] : NULL;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->n_findings; i++)
		r = add_finding(t, &t->v->findings[s->findings[i]], of);
	return r;
}

/* The number of points of a plot that fit next to the columns. */
static uint32_t plot_points(const struct table *t)
{
	size_t wanted = t->style->width >= WIDE ? POINTS_MAX : POINTS_USUAL;
	size_t used = t->style->indent + t->label + t->own + t->peers + t->ratio + t->thing + 8 +
		(t->thing ? 2 : 0);
	size_t room = used < t->style->width ? t->style->width - used : 0;

	return (uint32_t)(room < wanted ? room : wanted);
}

/* Plot only the component, in one line of text. */
static void print_plot(FILE *out, const struct table *t, const struct lp_finding *f)
{
	uint32_t n = plot_points(t), slots = t->v->tables[f->metric]->n_slots;
	double own[POINTS_MAX], top = 0;

	n = n < slots ? n : slots;
	if (n < POINTS_LEAST)
		return;
	peer_lines_own(t->v, f->component, f->metric, n, own);
	for (uint32_t i = 0; i < n; i++)
		top = isfinite(own[i]) && own[i] > top ? own[i] : top;
	fputs("  ", out);
	if (top > 0)
		sparkline_print(out, own, n, 0, top, t->style->utf8);
}

/* Print a name; in a narrow line without its middle. */
static void print_cut(FILE *out, const char *name, size_t width)
{
	size_t len = strlen(name), tail = (width - strlen("...")) / 2;
	size_t head = width - strlen("...") - tail;
	_cleanup_free_ char *start = NULL;

	/* Bytes of a character in another alphabet are not separated. */
	if (len <= width || flow_text_width(name) != len) {
		flow_print_safe(out, name);
		return;
	}
	start = strndup(name, head);
	flow_print_safe(out, start ? start : "");
	fputs("...", out);
	flow_print_safe(out, name + len - tail);
}

/* Print the share of a function in the difference, and its name, which may be as long as the line
 * is: in a narrow one without its image. */
static void print_function(FILE *out, const struct table *t, const struct lp_dimension *d)
{
	size_t used = t->style->indent + t->label + t->own + t->peers + t->ratio + 14;
	const char *image = strchr(d->name, ':'), *function = image ? strchr(image + 1, ':') : NULL;
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	fprintf(out, "  %3.0f%%  ", 100 * d->share);
	if (!t->style->max || used + flow_text_width(d->name) <= t->style->width) {
		flow_print_safe(out, d->name);
		return;
	}
	strbuf_printf(&sb, "%.*s%s", function ? (int)(image - d->name) : (int)strlen(d->name),
		d->name, function ? function : "");
	print_cut(out, sb.text ? sb.text : "",
		t->style->width > used + NAME_LEAST ? t->style->width - used : NAME_LEAST);
}

static void print_padded(FILE *out, const char *text, size_t width, bool right)
{
	size_t own = flow_text_width(text);

	if (right && own < width)
		fprintf(out, "%*s", (int)(width - own), "");
	flow_print_safe(out, text);
	if (!right && own < width)
		fprintf(out, "%*s", (int)(width - own), "");
}

static void print_row(FILE *out, const struct table *t, const struct row *row)
{
	fprintf(out, "%*s", (int)t->style->indent, "");
	print_padded(out, row->label, t->label, false);
	fputs("  ", out);
	print_padded(out, row->own, t->own, true);
	fputs("  ", out);
	print_padded(out, row->peers, t->peers, false);
	fputs("  ", out);
	print_padded(out, row->ratio, t->ratio, true);
	if (row->remark) {
		fprintf(out, "  %s\n", row->remark);
		return;
	}
	if (row->function) {
		print_function(out, t, row->function);
		fputc('\n', out);
		return;
	}
	print_plot(out, t, row->finding);
	if (row->thing[0]) {
		fputs("  ", out);
		flow_print_safe(out, row->thing);
	}
	fputc('\n', out);
}

static void print_table(FILE *out, struct table *t)
{
	size_t n = t->style->max && t->n > t->style->max ? t->style->max : t->n;

	for (size_t i = 0; i < n; i++) {
		widen(&t->label, t->rows[i].label);
		widen(&t->own, t->rows[i].own);
		widen(&t->peers, t->rows[i].peers);
		widen(&t->ratio, t->rows[i].ratio);
		widen(&t->thing, t->rows[i].thing);
	}
	for (size_t i = 0; i < n; i++)
		print_row(out, t, &t->rows[i]);
	if (n < t->n)
		fprintf(out, "%*s%zu more (-v shows them)\n", (int)t->style->indent, "", t->n - n);
}

int verdict_print_evidence(FILE *out, const struct lp_verdict *v, const struct lp_incident *in,
	const struct evidence_style *style)
{
	const struct lp_suspect *lead =
		in->n_components ? verdict_suspect_of(v, in->components[0]) : NULL;
	struct table t = {.v = v, .style = style};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < in->n_components; i++) {
		const struct lp_suspect *s = verdict_suspect_of(v, in->components[i]);

		if (s)
			r = add_suspect(&t, s, in->n_components > 1);
		if (r == 0 && i == 0 && lead)
			r = add_load(&t, lead);
		if (r == 0 && i == 0 && lead)
			r = add_traffic(&t, lead);
	}
	drop_said(&t);
	join_ends(&t);
	if (r == 0)
		print_table(out, &t);
	free(t.rows);
	return r;
}
