#include "explain/onset.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/time.h"
#include "explain/semantic.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer samples do not show a level. */
#define SIDE_LEAST 3
/* Trouble that lasts until the last window is over if at least this many samples after it are
 * normal. */
#define WELL_LEAST 5
/* A rise must be at least this many standard errors: the best of many places in pure noise
 * sometimes reaches four or five. */
#define ERRORS_LEAST 6.0
/* A change point is as good as the best one if its fit is worse by less than this many variances.
 * By the likelihood ratio, 95 of 100 are within 4, and medians of three samples count as a third as
 * many independent ones. */
#define FIT_SLACK 12.0
/* Shorter windows do not show levels. */
#define WINDOW_LEAST 10
/* Enough peers to know their usual values. */
#define PEERS_MAX 64

/* Remove single spikes: replace each number by the median of itself and its neighbours. Steps
 * stay. */
static void despike(const double *x, uint32_t n, double *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		double a = x[i ? i - 1 : 0], b = x[i], c = x[i + 1 < n ? i + 1 : i];

		ret[i] = fmax(fmin(a, b), fmin(fmax(a, b), c));
	}
}

/* The sum of squared errors if x[0 .. at) and x[at .. n) are replaced by their means, computed from
 * the sum of the first part and the total. Infinite if the numbers do not rise there. */
static double misfit(double squares, double head, double all, uint32_t at, uint32_t n)
{
	double before = head / at, after = (all - head) / (n - at);

	if (after <= before)
		return INFINITY;
	return fmax(squares - before * head - after * (all - head), 0);
}

/* The least misfit of any place from `SIDE_LEAST` on. */
static double best_fit(const double *x, uint32_t n, struct onset_step *ret)
{
	double all = 0, squares = 0, head = 0, best = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		all += x[i];
		squares += x[i] * x[i];
	}
	for (uint32_t at = 1; at + SIDE_LEAST <= n; at++) {
		double rest;

		head += x[at - 1];
		rest = misfit(squares, head, all, at, n);
		if (at < SIDE_LEAST || rest >= best)
			continue;
		best = rest;
		*ret = (struct onset_step){
			.at = at, .before = head / at, .after = (all - head) / (n - at)};
	}
	return best;
}

/* Include all places that fit nearly as well. */
static void widen(const double *x, uint32_t n, double most, struct onset_step *step)
{
	double all = 0, squares = 0, head = 0;

	step->low = step->high = step->at;
	for (uint32_t i = 0; i < n; i++) {
		all += x[i];
		squares += x[i] * x[i];
	}
	for (uint32_t at = 1; at < n; at++) {
		head += x[at - 1];
		if (misfit(squares, head, all, at, n) > most)
			continue;
		step->low = at < step->low ? at : step->low;
		step->high = at > step->high ? at : step->high;
	}
}

bool onset_step(const double *x, uint32_t n, double *scratch, struct onset_step *ret)
{
	struct onset_step step = {0};
	double mean = 0, rest, variance, error;

	if (n < 2 * SIDE_LEAST)
		return false;
	despike(x, n, scratch);
	for (uint32_t i = 0; i < n; i++)
		mean += scratch[i] / n;
	for (uint32_t i = 0; i < n; i++) /* sums of squares of small numbers are exact enough */
		scratch[i] -= mean;
	rest = best_fit(scratch, n, &step);
	if (!isfinite(rest))
		return false;
	variance = rest / (n - 2);
	error = sqrt(variance * (1.0 / step.at + 1.0 / (n - step.at)));
	if (step.after - step.before <= ERRORS_LEAST * error)
		return false;
	widen(scratch, n, rest + FIT_SLACK * variance, &step);
	step.before += mean;
	step.after += mean;
	*ret = step;
	return true;
}

/* The deviation of a component, per slot with known values. */
struct signal {
	double *x, *scratch;
	uint32_t *slots;
	uint32_t n;
};

static void signal_release(struct signal *s)
{
	free(s->x);
	free(s->scratch);
	free(s->slots);
}

static int signal_init(struct signal *s, uint32_t room)
{
	s->x = calloc((size_t)room + 1, sizeof(*s->x));
	s->scratch = calloc((size_t)room + 1, sizeof(*s->scratch));
	s->slots = calloc((size_t)room + 1, sizeof(*s->slots));
	return s->x && s->scratch && s->slots ? 0 : -ENOMEM;
}

static double value_of(
	const struct lp_verdict *v, uint32_t metric, uint32_t component, uint32_t slot)
{
	const struct lp_table *t = v->tables[metric];
	uint32_t row = v->row_of[metric][component];

	return row == UINT32_MAX ? NAN : table_value(t, row, slot);
}

/* The value of its peers in a slot: their median, NaN if most of them have none. */
static double peers_of(const struct lp_verdict *v, const struct lp_finding *f, uint32_t slot)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	uint32_t n = 0, asked = 0, every = g->n_members / PEERS_MAX + 1;
	double peers[PEERS_MAX];

	for (uint32_t i = 0; i < g->n_members && asked < PEERS_MAX; i += every) {
		if (i == f->member)
			continue;
		asked++;
		peers[n] = value_of(v, f->metric, g->members[i], slot);
		n += !isnan(peers[n]);
	}
	return n * 2 > asked ? median_of(peers, n) : NAN;
}

/* The deviation of a component in a slot: the logarithm of its ratio to its peers, or whether it is
 * absent. */
static double deviation(const struct explain_context *ctx, uint32_t finding, uint32_t slot)
{
	const struct lp_finding *f = &ctx->v->findings[finding];
	const struct finding_facts *facts = &ctx->facts[finding];
	double own = value_of(ctx->v, f->metric, f->component, slot);
	double peers = peers_of(ctx->v, f, slot), floor = facts->floor, ratio;

	if (isnan(peers))
		return NAN;
	if (f->direction == LP_MARK_ABSENT)
		return facts->no_data ? isnan(own) : !(own > 0);
	/* If the metric has no floor, a hundredth of the value does not matter. */
	if (floor <= 0)
		floor = (fabs(f->own) + fabs(f->peers)) / 100;
	ratio = (own + floor) / (peers + floor);
	if (!(ratio > 0) || !isfinite(ratio))
		return NAN;
	return f->direction == LP_MARK_BELOW ? -log(ratio) : log(ratio);
}

/* Read the samples of the slots `from` .. `end - 1`. */
static int signal_read(const struct explain_context *ctx, uint32_t finding, int64_t from,
	int64_t end, struct signal *ret)
{
	const struct lp_table *t = ctx->v->tables[ctx->v->findings[finding].metric];

	from = from < 0 ? 0 : from;
	end = end > t->n_slots ? t->n_slots : end;
	if (end <= from)
		return 0;
	if (signal_init(ret, (uint32_t)(end - from)) < 0)
		return -ENOMEM;
	for (uint32_t slot = (uint32_t)from; slot < end; slot++) {
		ret->x[ret->n] = deviation(ctx, finding, slot);
		ret->slots[ret->n] = slot;
		ret->n += !isnan(ret->x[ret->n]);
	}
	return 0;
}

/* The slots of a window, or about as many if every sample is a window. */
static uint32_t window_slots(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_series *s = &v->series[f->series];
	uint32_t n = v->params.win_size, middle = s->n_windows / 2;

	/* The first and the last window may be cut off. */
	if (s->n_windows && strcmp(s->method ? s->method : "", "series") != 0)
		n = s->last[middle] - s->first[middle] + 1;
	return n < WINDOW_LEAST ? WINDOW_LEAST : n;
}

/* The time between the samples `at - 1` and `at`: the beginning of the slot of sample `at`. */
static int64_t time_of(const struct lp_table *t, const struct signal *s, uint32_t at)
{
	return lp_table_time(t, s->slots[at]) - t->step_us;
}

static int64_t error_of(
	const struct lp_table *t, const struct signal *s, const struct onset_step *step)
{
	int64_t at = time_of(t, s, step->at), early = at - time_of(t, s, step->low);
	int64_t late = time_of(t, s, step->high) - at;
	/* A change is somewhere between two samples, or in a gap, and a removed spike may have
	 * hidden one more. */
	int64_t gap = lp_table_time(t, s->slots[step->at]) -
		lp_table_time(t, s->slots[step->at - 1]) + t->step_us;
	/* The time of the next peak is unknown, too. */
	int64_t peak = peak_span_us(t->metric);

	early = early > gap ? early : gap;
	early = early > peak ? early : peak;
	return early > late ? early : late;
}

/* The first slot of a component's data that counts. */
static int64_t begin_slot(const struct explain_context *ctx, const struct lp_finding *f)
{
	const struct lp_table *t = ctx->v->tables[f->metric];
	int64_t cleared_us =
		ctx->state ? state_cleared(ctx->state, ctx->v->components[f->component]->text) : 0;

	return cleared_us > t->start_us ? lp_table_slot(t, cleared_us) + 2 : 0;
}

static bool is_half(double outside, double during)
{
	return during <= 0 || outside <= during / 2;
}

/* Is it off from the first samples on, at least half as far as later? */
static bool begins_off(const struct signal *s, int64_t first)
{
	uint32_t n_before = 0;
	double head = 0, rest = 0;

	while (n_before < s->n && s->slots[n_before] < first)
		n_before++;
	if (n_before >= SIDE_LEAST || s->n < 2 * WINDOW_LEAST)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		*(i < WINDOW_LEAST ? &head : &rest) += s->x[i];
	head /= WINDOW_LEAST;
	rest /= s->n - WINDOW_LEAST;
	return rest > 0 && head > rest / 2;
}

/* Windows have fixed times, and the first one may begin before the data does. `from`: the first
 * slot that was read. */
static void skip_unknown(
	const struct lp_table *t, const struct signal *s, int64_t from, struct lp_finding *f)
{
	int64_t known_us = s->n && s->slots[0] > from ? time_of(t, s, 0) : f->first_us;

	if (known_us <= f->first_us || known_us >= f->first_us + f->onset_error_us)
		return;
	f->onset_error_us -= known_us - f->first_us;
	f->first_us = known_us;
}

/* `first`, `n`: the first slot of the first anomalous window, and its length. */
static int refine_first(
	struct explain_context *ctx, uint32_t finding, int64_t first, int64_t end, int64_t n)
{
	_cleanup_(signal_release) struct signal s = {0};
	struct lp_finding *f = &ctx->v->findings[finding];
	const struct lp_table *t = ctx->v->tables[f->metric];
	int64_t begin = begin_slot(ctx, f), from = first - n > begin ? first - n : begin;
	struct onset_step step;

	end = first + 2 * n < end ? first + 2 * n : end;
	if (first + n <= 0) /* the samples are no longer there */
		return 0;
	if (signal_read(ctx, finding, from, end, &s) < 0)
		return -ENOMEM;
	if (!s.slots)
		return 0;
	/* A window that is entirely before it would not be anomalous. */
	if (onset_step(s.x, s.n, s.scratch, &step) && is_half(step.before, step.after) &&
		s.slots[step.at] < first + n) {
		f->onset_error_us = error_of(t, &s, &step);
		f->first_us = time_of(t, &s, step.at);
		return 0;
	}
	skip_unknown(t, &s, from, f);
	f->since_before = begins_off(&s, first);
	if (f->since_before)
		f->onset_error_us = 0;
	return 0;
}

/* `last`: the last slot of the last anomalous window. */
static int refine_last(
	struct explain_context *ctx, uint32_t finding, int64_t first, int64_t last, int64_t n)
{
	_cleanup_(signal_release) struct signal s = {0};
	struct lp_finding *f = &ctx->v->findings[finding];
	const struct lp_table *t = ctx->v->tables[f->metric];
	int64_t from = last - 2 * n > first ? last - 2 * n : first;
	struct onset_step step;

	if (signal_read(ctx, finding, from, last + n + 1, &s) < 0)
		return -ENOMEM;
	if (!s.slots)
		return 0;
	for (uint32_t i = 0; i < s.n; i++)
		s.x[i] = -s.x[i];
	if (!onset_step(s.x, s.n, s.scratch, &step) || !is_half(-step.after, -step.before) ||
		(!f->ended && (step.before >= 0 || s.n - step.at < WELL_LEAST)) ||
		s.slots[step.at] <= last - n || time_of(t, &s, step.at) <= f->first_us)
		return 0;
	f->ended = true;
	f->last_us = time_of(t, &s, step.at);
	return 0;
}

/* The end of the last window with a comparison. */
static int64_t data_end_us(const struct lp_verdict *v)
{
	int64_t end_us = INT64_MIN;

	for (uint32_t i = 0; i < v->n_series; i++) {
		const struct lp_series *s = &v->series[i];
		const struct lp_table *t = v->tables[s->metric];
		int64_t last_us =
			s->n_windows ? lp_table_time(t, s->last[s->n_windows - 1]) : INT64_MIN;

		end_us = last_us > end_us ? last_us : end_us;
	}
	return end_us;
}

static int refine_finding(struct explain_context *ctx, uint32_t finding, int64_t end_us)
{
	struct lp_verdict *v = ctx->v;
	struct lp_finding *f = &v->findings[finding];
	const struct lp_table *t = v->tables[f->metric];
	int64_t n = window_slots(v, f), first, last;
	int r;

	if (f->straggler || f->whole)
		return 0; /* the time comes from the job, or from the whole observer */
	f->ended = f->last_us < end_us - (int64_t)v->params.win_shift * v->params.step_us;
	if (t->step_us <= 0)
		return 0;
	f->onset_error_us = n * t->step_us;
	first = lp_table_slot(t, f->first_us) + 1;
	last = lp_table_slot(t, f->last_us);
	r = refine_first(ctx, finding, first, last + 1, n);
	if (r == 0)
		r = refine_last(ctx, finding, first, last, n);
	return r;
}

int onset_refine(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	int64_t end_us = data_end_us(v);
	int r = 0;

	for (uint32_t i = 0; i < v->n_suspects; i++) {
		for (uint32_t j = 0; r == 0 && j < v->suspects[i].n_findings; j++)
			r = refine_finding(ctx, v->suspects[i].findings[j], end_us);
	}
	for (uint32_t i = 0; i < v->n_asymmetries; i++) {
		for (uint32_t j = 0; r == 0 && j < v->asymmetries[i].n_findings; j++)
			r = refine_finding(ctx, v->asymmetries[i].findings[j], end_us);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot find the onset of the trouble") : 0;
}

void onset_join(struct onset *all, struct onset one)
{
	if (!one.since_before && one.first_us + one.error_us < all->first_us + all->error_us) {
		all->first_us = one.first_us;
		all->error_us = one.error_us;
		all->since_before = false;
	}
	all->last_us = one.last_us > all->last_us ? one.last_us : all->last_us;
	all->ended = all->ended && one.ended;
}

static struct onset of_finding(const struct lp_finding *f)
{
	return (struct onset){.first_us = f->first_us,
		.last_us = f->last_us,
		.error_us = f->onset_error_us,
		.since_before = f->since_before,
		.ended = f->ended};
}

struct onset onset_of_suspect(const struct explain_context *ctx, const struct lp_suspect *s)
{
	const struct semantic_finding *logged = context_semantic(ctx, s);
	const struct lp_finding *findings = ctx->v->findings;
	struct onset o = {.first_us = s->first_us, .last_us = s->last_us};
	uint32_t next = 0;

	if (logged) /* logs have exact times */
		o = (struct onset){.first_us = logged->first_us, .last_us = logged->last_us};
	else if (s->n_findings)
		o = of_finding(&findings[s->findings[next++]]);
	for (uint32_t i = next; i < s->n_findings; i++)
		onset_join(&o, of_finding(&findings[s->findings[i]]));
	return o;
}

static void settle(const struct explain_context *ctx, struct lp_suspect *s)
{
	struct onset o = onset_of_suspect(ctx, s);

	s->first_us = o.first_us;
	s->last_us = o.last_us;
	s->onset_error_us = o.error_us;
	s->since_before = o.since_before;
	s->ended = o.ended;
}

void onset_settle(struct explain_context *ctx)
{
	for (uint32_t i = 0; i < ctx->v->n_suspects; i++)
		settle(ctx, &ctx->v->suspects[i]);
	for (uint32_t i = 0; i < ctx->v->n_asymmetries; i++)
		settle(ctx, &ctx->v->asymmetries[i]);
}
