/* A component among its peers, reduced to lines that can be drawn. */
#ifndef REPORT_PEER_LINES_H
#define REPORT_PEER_LINES_H

#include <limpet/verdict.h>

struct peer_lines_options {
	uint32_t points;      /* of the component's own line and of the median, at most */
	uint32_t peer_points; /* of a peer's line, at most */
	uint32_t peers;	      /* drawn, at most */
};

/* Point i of n stands for the slots i*n_slots/n .. (i+1)*n_slots/n - 1: their mean, NaN of none. */
struct peer_lines {
	uint32_t n_points, n_peer_points;
	double *own;	    /* [point] */
	double *low, *high; /* [point] the extremes of what a point of `own` stands for */
	double *median;	    /* [point] of the peers */
	double *peers;	    /* [peer * n_peer_points + point] */
	uint32_t n_peers;   /* drawn, chosen evenly */
	uint32_t n_others;  /* all that have a row in this table */
	uint32_t n_median;  /* that the median is of: all, or evenly chosen ones where it is many */
	double top;	    /* of the axis: few points stick out over it */
};

/* Make the lines of a finding. Returns 0 or -ENOMEM. */
int peer_lines_make(const struct lp_verdict *v, const struct lp_finding *f,
	const struct peer_lines_options *options, struct peer_lines *ret);
void peer_lines_release(struct peer_lines *l);

#endif
