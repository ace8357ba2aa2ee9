/* Sums over experiments, and the figures of merit. */
#include "explain/score.h"

#include "base/array.h"
#include "base/median.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double quotient(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

double score_precision(const struct score_counts *c)
{
	return quotient((double)c->tp, (double)c->tp + (double)c->fp);
}

double score_recall(const struct score_counts *c)
{
	return quotient((double)c->tp, (double)c->tp + (double)c->fn);
}

double score_mcc(const struct score_counts *c)
{
	double tp = (double)c->tp, fp = (double)c->fp, fn = (double)c->fn, tn = (double)c->tn;

	return quotient(
		tp * tn - fp * fn, sqrt(tp + fp) * sqrt(tp + fn) * sqrt(tn + fp) * sqrt(tn + fn));
}

double score_itp(const struct score_row *r)
{
	return 100 * quotient((double)r->itp, (double)r->n_faulty);
}

double score_ifp(const struct score_row *r)
{
	return 100 * quotient((double)r->ifp, (double)r->n);
}

double score_dtp(const struct score_row *r)
{
	return 100 * quotient((double)r->dtp, (double)r->n_faulty);
}

double score_dfp(const struct score_row *r)
{
	return 100 * quotient((double)r->dfp, (double)r->n);
}

double score_delay(const struct score_row *r, double q)
{
	return quantile_of_sorted(r->delays_s, r->n_delays, q);
}

static int row_add(struct score_row *r, const struct score_case *c)
{
	if (array_reserve(&r->delays_s, &r->cap_delays, r->n_delays + c->n_delays,
		    sizeof(*r->delays_s)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_delays; i++)
		r->delays_s[r->n_delays++] = c->delays_s[i];
	r->n++;
	r->n_faulty += c->faulty;
	r->itp += c->itp;
	r->ifp += c->ifp;
	r->dtp += c->dtp;
	r->dfp += c->dfp;
	r->units.tp += c->units.tp;
	r->units.fp += c->units.fp;
	r->units.fn += c->units.fn;
	r->units.tn += c->units.tn;
	r->units.warned += c->units.warned;
	r->units.false_warned += c->units.false_warned;
	r->units.absent += c->units.absent;
	return 0;
}

/* The row of a label; the row of runs without a fault comes first. */
static struct score_row *row_of(struct score_board *b, const struct score_case *c)
{
	struct score_row row = {.label = NULL};
	size_t at = c->faulty ? b->n : 0;

	for (size_t i = 0; i < b->n; i++) {
		if (!strcmp(b->rows[i].label, c->label))
			return &b->rows[i];
	}
	if (array_reserve(&b->rows, &b->cap, b->n + 1, sizeof(*b->rows)) < 0)
		return NULL;
	row.label = strdup(c->label);
	if (!row.label)
		return NULL;
	memmove(&b->rows[at + 1], &b->rows[at], (b->n - at) * sizeof(*b->rows));
	b->rows[at] = row;
	b->n++;
	return &b->rows[at];
}

int score_board_add(struct score_board *b, const struct score_case *c)
{
	struct score_row *row = row_of(b, c);

	if (!row || row_add(row, c) < 0)
		return -ENOMEM;
	return row_add(&b->total, c);
}

static void row_finish(struct score_row *r)
{
	median_sort(r->delays_s, r->n_delays);
}

void score_board_finish(struct score_board *b)
{
	for (size_t i = 0; i < b->n; i++)
		row_finish(&b->rows[i]);
	row_finish(&b->total);
}

void score_board_release(struct score_board *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->rows[i].label);
		free(b->rows[i].delays_s);
	}
	free(b->rows);
	free(b->total.delays_s);
	*b = (struct score_board){0};
}
