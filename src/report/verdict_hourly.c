#include "report/verdict_hourly.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/flow.h"
#include "report/json.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define TOP_DEFAULT 4
#define US_PER_HOUR (3600 * US_PER_SEC)

/* The accumulators of one series. */
struct track {
	uint32_t *values; /* [member] */
	uint8_t *excused; /* [member] the mark that does not count against it; LP_MARK_NONE: none */
	uint32_t n_passed; /* windows */
};

/* The highest accumulator of a component. */
struct contender {
	uint32_t value, component, series;
};

struct hourly {
	FILE *out;
	const struct lp_verdict *v;
	struct track *tracks;	      /* [series] */
	struct contender *contenders; /* [component] */
	uint32_t n_contenders, top;
	bool json, any;
};

static void hourly_release(struct hourly *h)
{
	for (uint32_t i = 0; h->tracks && i < h->v->n_series; i++) {
		free(h->tracks[i].values);
		free(h->tracks[i].excused);
	}
	free(h->tracks);
	free(h->contenders);
}

static int track_init(struct track *t, const struct lp_verdict *v, uint32_t series)
{
	size_t n = v->groups[v->series[series].group].n_members + (size_t)1;

	t->values = calloc(n, sizeof(*t->values));
	t->excused = calloc(n, sizeof(*t->excused));
	if (!t->values || !t->excused)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];

		if (f->series == series && !f->culprit && f->direction != LP_MARK_ABSENT)
			t->excused[f->member] = (uint8_t)f->direction;
	}
	return 0;
}

static int hourly_init(struct hourly *h)
{
	const struct lp_verdict *v = h->v;

	h->tracks = calloc(v->n_series + (size_t)1, sizeof(*h->tracks));
	h->contenders = calloc(v->n_components + (size_t)1, sizeof(*h->contenders));
	if (!h->tracks || !h->contenders)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_series; i++) {
		int r = track_init(&h->tracks[i], v, i);

		if (r < 0)
			return r;
	}
	return 0;
}

static void track_window(struct track *t, const struct lp_series *s, uint32_t n_members)
{
	for (uint32_t m = 0; m < n_members; m++) {
		uint8_t mark = s->marks[(size_t)m * s->n_windows + t->n_passed];

		if (verdict_mark_anomalous(mark) && mark != t->excused[m])
			t->values[m]++;
		else if (mark != LP_MARK_NONE && t->values[m])
			t->values[m]--;
	}
	t->n_passed++;
}

/* Process all windows that end by a time. */
static void pass_until(struct hourly *h, int64_t until_us)
{
	for (uint32_t i = 0; i < h->v->n_series; i++) {
		const struct lp_series *s = &h->v->series[i];
		struct track *t = &h->tracks[i];

		while (t->n_passed < s->n_windows &&
			verdict_window_end(h->v, s, t->n_passed) <= until_us)
			track_window(t, s, h->v->groups[s->group].n_members);
	}
}

/* The end of the hour in which the next window ends; INT64_MAX: none. A window that ends on the
 * hour belongs to the previous hour. */
static int64_t next_hour_end(const struct hourly *h)
{
	int64_t next = INT64_MAX;

	for (uint32_t i = 0; i < h->v->n_series; i++) {
		const struct lp_series *s = &h->v->series[i];
		int64_t end_us;

		if (h->tracks[i].n_passed == s->n_windows)
			continue;
		end_us = verdict_window_end(h->v, s, h->tracks[i].n_passed);
		end_us = (floor_div(end_us - 1, US_PER_HOUR) + 1) * US_PER_HOUR;
		next = end_us < next ? end_us : next;
	}
	return next;
}

static int contender_compare(const void *a, const void *b)
{
	const struct contender *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->component > y->component) - (x->component < y->component);
}

static void rank(struct hourly *h)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < h->v->n_components; c++)
		h->contenders[c] = (struct contender){.component = c};
	for (uint32_t i = 0; i < h->v->n_series; i++) {
		const struct lp_peer_group *g = &h->v->groups[h->v->series[i].group];

		for (uint32_t m = 0; m < g->n_members; m++) {
			struct contender *s = &h->contenders[g->members[m]];
			uint32_t value = h->tracks[i].values[m];

			if (value > s->value)
				*s = (struct contender){value, g->members[m], i};
		}
	}
	for (uint32_t c = 0; c < h->v->n_components; c++) {
		if (h->contenders[c].value)
			h->contenders[n++] = h->contenders[c];
	}
	qsort(h->contenders, n, sizeof(*h->contenders), contender_compare);
	h->n_contenders = n < h->top ? n : h->top;
}

/* "2011-04-17T05:00:00Z" as "20110417.05". */
static void print_row_text(struct hourly *h, int64_t hour_us)
{
	char text[TIME_TEXT_MAX];

	time_format_compact(hour_us, text);
	fprintf(h->out, "%.8s.%.2s:", text, text + 9);
	for (uint32_t i = 0; i < h->n_contenders; i++) {
		const struct contender *s = &h->contenders[i];

		fprintf(h->out, "  %4" PRIu32 " %" PRIu32 ":", s->value,
			h->v->series[s->series].group + 1);
		flow_print_safe(h->out, h->v->components[s->component]->text);
	}
	fputc('\n', h->out);
}

static void print_row_json(struct hourly *h, int64_t hour_us)
{
	char text[TIME_TEXT_MAX];

	fprintf(h->out, "%s\n{\"hour\":\"%s\",\"persistent\":[", h->any ? "," : "",
		time_format(hour_us, text));
	for (uint32_t i = 0; i < h->n_contenders; i++) {
		const struct contender *s = &h->contenders[i];
		const struct lp_series *series = &h->v->series[s->series];

		fprintf(h->out, "%s{\"value\":%" PRIu32 ",\"group\":", i ? "," : "", s->value);
		json_write_string(h->out, h->v->groups[series->group].name);
		fputs(",\"component\":", h->out);
		json_write_string(h->out, h->v->components[s->component]->text);
		fputs(",\"metric\":", h->out);
		json_write_string(h->out, h->v->tables[series->metric]->metric);
		fputc('}', h->out);
	}
	fputs("]}", h->out);
}

static void print_rows(struct hourly *h)
{
	int64_t end_us;

	while ((end_us = next_hour_end(h)) != INT64_MAX) {
		pass_until(h, end_us);
		rank(h);
		if (h->json)
			print_row_json(h, end_us - US_PER_HOUR);
		else
			print_row_text(h, end_us - US_PER_HOUR);
		h->any = true;
	}
}

int verdict_print_hourly(FILE *out, const struct lp_verdict *v, uint32_t top)
{
	_cleanup_(hourly_release) struct hourly h = {
		.out = out, .v = v, .top = top ? top : TOP_DEFAULT};
	int r = hourly_init(&h);

	if (r < 0)
		return r;
	fputs("Date.Hour:    Value Group:Component\n", out);
	print_rows(&h);
	for (uint32_t i = 0; i < v->n_groups; i++) {
		fprintf(out, "Group %" PRIu32 ": ", i + 1);
		flow_print_safe(out, v->groups[i].name);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < v->n_unknown; i++) {
		fputs("Unknown: ", out);
		flow_print_safe(out, v->unknown[i]);
		fputc('\n', out);
	}
	return ferror(out) ? -EIO : 0;
}

int verdict_print_hourly_json(FILE *out, const struct lp_verdict *v, uint32_t top)
{
	_cleanup_(hourly_release) struct hourly h = {
		.out = out, .v = v, .top = top ? top : TOP_DEFAULT, .json = true};
	int r = hourly_init(&h);

	if (r < 0)
		return r;
	fputs("{\"limpet\":\"" LIMPET_VERSION "\",\"method\":", out);
	json_write_string(out, v->method ? v->method : "");
	fputs(",\"hours\":[", out);
	print_rows(&h);
	fprintf(out, "],\"status\":\"%s\",\"unknown\":[", verdict_status_name(v->status));
	for (uint32_t i = 0; i < v->n_unknown; i++) {
		fputs(i ? "," : "", out);
		json_write_string(out, v->unknown[i]);
	}
	fputs("]}\n", out);
	return ferror(out) ? -EIO : 0;
}
