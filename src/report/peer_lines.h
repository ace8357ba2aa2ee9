/* A component and its peers, reduced to lines for a plot. */
#ifndef REPORT_PEER_LINES_H
#define REPORT_PEER_LINES_H

#include <limpet/verdict.h>

/* Point i of n is the mean of the slots i*n_slots/n .. (i+1)*n_slots/n - 1; NaN: no values. */
struct peer_lines {
	uint32_t n_points;
	double *own;	      /* [point] */
	double *low, *high;   /* [point] the extremes of the slots of `own` */
	double *median;	      /* [point] of the peers */
	double *bottom, *top; /* [point] the 10th and the 90th percentile of the peers */
	uint32_t n_others;    /* peers that have a row in this table */
	uint32_t n_median;    /* peers used for median and percentiles: all, or an even selection */
	double ceiling;	      /* top of the axis: few points are above it */
};

/* Make the lines of a component in a group and a metric, with at most `n_points` points. Component
 * UINT32_MAX: only the group, and `own` is NaN. Returns 0 or -ENOMEM. */
int peer_lines_make(const struct lp_verdict *v, uint32_t component, uint32_t group, uint32_t metric,
	uint32_t points, struct peer_lines *ret);
void peer_lines_release(struct peer_lines *l);

/* Compute the line of the component itself, with `n_points` points. */
void peer_lines_own(const struct lp_verdict *v, uint32_t component, uint32_t metric,
	uint32_t n_points, double *ret);

#endif
