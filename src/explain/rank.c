#include "explain/rank.h"

#include <math.h>
#include <stdlib.h>

/* The shape of a distribution alone counts as a factor of 2^3 at most. */
#define SHAPE_MAX 3.0
/* An absent component has no distance, and its absence is certain. */
#define MARGIN_ABSENT 8.0

static double margin_of(const struct lp_finding *f)
{
	double m = f->threshold > 0 ? f->distance / f->threshold : 1;

	if (f->direction == LP_MARK_ABSENT)
		return MARGIN_ABSENT;
	if (f->direction == LP_MARK_BELOW && m > 0 && m < 1)
		m = 1 / m; /* the time-series method gives a fraction of the peers: less is worse */
	return isfinite(m) && m > 1 ? m : 1;
}

double rank_size(const struct lp_finding *f, double floor)
{
	double own = fmax(f->own, floor), peers = fmax(f->peers, floor);
	double size = fabs(log2(f->ratio)), shape = fmin(log2(1 + margin_of(f)) / 2, SHAPE_MAX);

	if (f->direction == LP_MARK_ABSENT)
		return RANK_SIZE_ABSENT;
	if (floor > 0 && isfinite(own) && isfinite(peers))
		size = fabs(log2(own / peers));
	if (isnan(size))
		size = 0;
	return fmin(fmax(size, shape), RANK_SIZE_MAX);
}

double rank_severity(double size, uint32_t persistence, uint32_t peak)
{
	double n = ((double)persistence + peak) / 2;

	return size * (1 + log2(1 + n));
}

double rank_confidence(const struct rank_grounds *g)
{
	double margin = isfinite(g->margin) ? fmax(g->margin, 1) : 1;
	double share = fmin(fmax(g->share, 0), 1);

	return pow(margin / (margin + 0.5), 0.25) * pow(share, 0.15) *
		pow((double)g->n_windows / (g->n_windows + 2), 0.2) *
		pow((double)g->n_peers / (g->n_peers + 1), 0.2) *
		pow(1 - exp2(-1 - (double)g->n_metrics), 0.1) * (g->trained ? 1 : 0.97) *
		(1 - fmin(fmax(g->crowd, 0), 1));
}

double rank_joint_confidence(double a, double b)
{
	return 1 - (1 - a) * (1 - b / 4);
}

/* The share of anomalous windows among those with data, from the first to the last of a finding. */
static double share_of(const struct explain_context *ctx, const struct lp_finding *f)
{
	const struct lp_series *s = &ctx->v->series[f->series];
	const struct lp_table *t = ctx->v->tables[f->metric];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	uint32_t n = 0, n_anomalous = 0;

	if (f->mild || f->straggler || f->whole || f->crowd)
		return f->n_windows ? (double)f->n_anomalous / f->n_windows : 1;
	for (uint32_t w = 0; w < s->n_windows; w++) {
		int64_t end_us = lp_table_time(t, s->last[w]);

		if (end_us <= f->first_us || end_us > f->last_us || marks[w] == LP_MARK_NONE)
			continue;
		n++;
		n_anomalous += marks[w] == f->direction;
	}
	return n ? (double)n_anomalous / n : 1;
}

/* The share of the peers with the same accusation. The more there are, the less certain is their
 * guilt. */
static double crowd_of(const struct explain_context *ctx, const struct lp_finding *f)
{
	uint32_t n = 0, n_members = ctx->v->groups[f->group].n_members;

	for (uint32_t i = 0; i < ctx->v->n_findings; i++) {
		const struct lp_finding *o = &ctx->v->findings[i];

		n += o->component != f->component && o->group == f->group &&
			o->metric == f->metric && o->direction == f->direction && o->culprit &&
			!o->whole;
	}
	if (f->whole) /* its peers are other observers */
		return 0;
	return n_members > 1 ? (double)n / (n_members - 1) : 0;
}

/* The number of peers with which it is compared. */
static uint32_t count_peers(const struct lp_verdict *v, const struct lp_finding *f)
{
	uint32_t n = f->whole ? 0 : v->groups[f->group].n_members;

	for (uint32_t g = 0; f->whole && g < v->n_groups; g++)
		n += v->groups[g].family == v->groups[f->group].family;
	return n ? n - 1 : 0;
}

static double suspect_confidence(const struct explain_context *ctx, const struct lp_suspect *s)
{
	double best = 0;

	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &ctx->v->findings[s->findings[i]];
		struct rank_grounds g = {
			.margin = margin_of(f),
			.share = share_of(ctx, f),
			.n_windows = f->n_anomalous,
			.n_peers = count_peers(ctx->v, f),
			.n_metrics = s->n_findings,
			.trained = ctx->v->trained,
			.crowd = crowd_of(ctx, f),
		};

		best = fmax(best, rank_confidence(&g));
	}
	return best;
}

void rank_suspect(const struct explain_context *ctx, struct lp_suspect *s)
{
	s->first_us = s->indicted_us = INT64_MAX;
	s->last_us = INT64_MIN;
	s->severity = 0;
	s->persistence = 0;
	s->level = s->n_findings ? LP_LEVEL_ABSENT : LP_LEVEL_SUSPECT;
	s->gone = LP_GONE_OBSERVER;
	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &ctx->v->findings[s->findings[i]];

		if (f->direction != LP_MARK_ABSENT)
			s->level = f->mild ? LP_LEVEL_WARNING : LP_LEVEL_SUSPECT;
		if (ctx->facts[s->findings[i]].gone < s->gone)
			s->gone = ctx->facts[s->findings[i]].gone;
		s->severity = fmax(s->severity, ctx->facts[s->findings[i]].severity);
		if (f->persistence > s->persistence)
			s->persistence = f->persistence;
		if (f->first_us < s->first_us)
			s->first_us = f->first_us;
		if (f->last_us > s->last_us)
			s->last_us = f->last_us;
		if (f->indicted_us < s->indicted_us)
			s->indicted_us = f->indicted_us;
	}
	if (s->level != LP_LEVEL_ABSENT)
		s->gone = LP_GONE_NOTHING;
	s->confidence = suspect_confidence(ctx, s);
}

static int compare_suspects(const void *a, const void *b)
{
	const struct lp_suspect *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? 1 : -1;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->persistence != y->persistence)
		return x->persistence > y->persistence ? -1 : 1;
	return x->component < y->component ? -1 : x->component > y->component;
}

void rank_suspects(struct lp_suspect *suspects, uint32_t n)
{
	if (n)
		qsort(suspects, n, sizeof(*suspects), compare_suspects);
}
