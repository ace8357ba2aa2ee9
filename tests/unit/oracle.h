/* The definitions of detection in their plainest form, for comparison with the real code. Nothing
 * here is fast, and nothing here is shared with src/detect. */
#ifndef ORACLE_H
#define ORACLE_H

#include "detect/compare/votes.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A small separate generator: the same cases on every machine. */
static uint64_t oracle_state = 88172645463325252U;

static inline uint64_t oracle_bits(void)
{
	oracle_state ^= oracle_state << 13;
	oracle_state ^= oracle_state >> 7;
	oracle_state ^= oracle_state << 17;
	return oracle_state;
}

static inline double oracle_uniform(void)
{
	return (double)(oracle_bits() >> 11) / 9007199254740992.0;
}

static inline uint32_t oracle_below(uint32_t n)
{
	return (uint32_t)(oracle_uniform() * n);
}

static inline int oracle_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts. */
static inline double oracle_quantile(double *v, size_t n, double p)
{
	double position = (double)(n - 1) * p;
	size_t below = (size_t)floor(position);

	qsort(v, n, sizeof(*v), oracle_ascending);
	if (below + 1 >= n)
		return v[n - 1];
	return v[below] + (position - (double)below) * (v[below + 1] - v[below]);
}

static inline bool oracle_value(double v)
{
	return !isnan(v) && v <= 1e300 && v >= -1e300;
}

static inline double oracle_mean(const double *row, uint32_t at, uint32_t width)
{
	long double sum = 0;
	uint32_t n = 0;

	for (uint32_t back = 0; back < width && back <= at; back++) {
		if (oracle_value(row[at - back])) {
			sum += row[at - back];
			n++;
		}
	}
	return n ? (double)(sum / n) : NAN;
}

static inline uint32_t oracle_count(const double *row, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; row && i < n; i++)
		found += oracle_value(row[i]);
	return found;
}

/* All values of all members; the caller frees them. */
static inline double *oracle_pool(const struct window *w, size_t *ret_n)
{
	double *pool = malloc(((size_t)w->n_members * w->n_samples + 1) * sizeof(*pool));
	size_t n = 0;

	assert(pool);
	for (uint32_t m = 0; m < w->n_members; m++) {
		for (uint32_t i = 0; w->rows[m] && i < w->n_samples; i++) {
			if (oracle_value(w->rows[m][i]))
				pool[n++] = w->rows[m][i];
		}
	}
	*ret_n = n;
	return pool;
}

struct oracle_bins {
	double low, size;
	uint32_t n;
};

static inline struct oracle_bins oracle_cdf_bins(const struct window *w)
{
	struct oracle_bins b = {0, 0, 1};
	uint32_t members = 0;
	size_t n;
	double *x = oracle_pool(w, &n), range, spread;

	for (uint32_t m = 0; m < w->n_members; m++)
		members += oracle_count(w->rows[m], w->n_samples) > 0;
	if (n > 0) {
		spread = oracle_quantile(x, n, 0.75) - oracle_quantile(x, n, 0.25);
		b.low = x[0];
		range = x[n - 1] - x[0];
		if (members < 5) {
			double median = oracle_quantile(x, n, 0.5);

			for (size_t i = 0; i < n; i++)
				x[i] = fabs(x[i] - median);
			spread = oracle_quantile(x, n, 0.5);
		}
		b.size = 2 * spread * pow(w->n_samples, -1.0 / 3);
		if (b.size == 0 || range / b.size > 1000) {
			b.size = range / 1000;
			b.n = 1000;
		} else {
			b.n = (uint32_t)ceil(range / b.size);
		}
	}
	free(x);
	return b;
}

static inline struct oracle_bins oracle_kl_bins(const struct window *w)
{
	struct oracle_bins b = {.n = (uint32_t)ceil(log2(w->n_samples)) + 1};
	size_t n;
	double *x = oracle_pool(w, &n);

	if (n > 0) {
		qsort(x, n, sizeof(*x), oracle_ascending);
		b.low = x[0];
		b.size = (x[n - 1] - x[0]) / b.n;
	}
	free(x);
	return b;
}

/* counts[0 .. b->n-1]; if the range is 0, everything is in the first bin. */
static inline void oracle_histogram(
	const double *row, uint32_t n, const struct oracle_bins *b, int64_t *counts)
{
	memset(counts, 0, b->n * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++) {
		double bin = b->size > 0 ? floor((row[i] - b->low) / b->size) : 0;

		if (oracle_value(row[i]))
			counts[bin > b->n - 1 ? b->n - 1 : (uint32_t)bin]++;
	}
}

/* Both forms of the distance: the one for integers, with one division, and the definition
 * itself. */
static inline double oracle_cdf(const int64_t *a, int64_t na, const int64_t *b, int64_t nb,
	uint32_t n_bins, double *ret_plain)
{
	int64_t ca = 0, cb = 0, sum = 0;
	double plain = 0;

	for (uint32_t i = 0; i < n_bins; i++) {
		ca += a[i];
		cb += b[i];
		sum += llabs(ca * nb - cb * na);
		plain += fabs((double)ca / (double)na - (double)cb / (double)nb);
	}
	*ret_plain = plain;
	return (double)sum / (double)(na * nb);
}

static inline double oracle_kl(
	const int64_t *a, int64_t na, const int64_t *b, int64_t nb, uint32_t n_bins)
{
	double sum = 0;

	for (uint32_t i = 0; i < n_bins; i++) {
		double p = ((double)a[i] + 0.5) / ((double)na + 0.5 * n_bins);
		double q = ((double)b[i] + 0.5) / ((double)nb + 0.5 * n_bins);

		sum += p * log(p / q) + q * log(q / p);
	}
	return sum / 2;
}

/* More than half of the distances exceed a threshold exactly if this one does: the
 * (floor(n/2)+1)-th largest. */
static inline double oracle_vote(double *distances, uint32_t n)
{
	if (n == 0)
		return NAN;
	qsort(distances, n, sizeof(*distances), oracle_ascending);
	return distances[n - (n / 2 + 1)];
}

/* Votes of all members by a pairwise measure, "cdf" or "kl"; for cdf also the plain form. */
static inline void oracle_pairwise(
	const struct window *w, bool cdf, double *ret_votes, double *ret_plain)
{
	struct oracle_bins b = cdf ? oracle_cdf_bins(w) : oracle_kl_bins(w);
	int64_t *h = calloc((size_t)w->n_members * b.n + 1, sizeof(*h));
	double *d = calloc(2 * (size_t)w->n_members + 1, sizeof(*d));

	assert(h && d);
	for (uint32_t m = 0; m < w->n_members; m++) {
		if (w->rows[m])
			oracle_histogram(w->rows[m], w->n_samples, &b, h + (size_t)m * b.n);
	}
	for (uint32_t m = 0; m < w->n_members; m++) {
		uint32_t own = oracle_count(w->rows[m], w->n_samples), n = 0;
		double *plain = d + w->n_members;

		for (uint32_t o = 0; own && o < w->n_members; o++) {
			uint32_t other = oracle_count(w->rows[o], w->n_samples);
			const int64_t *ho = h + (size_t)o * b.n, *hm = h + (size_t)m * b.n;

			if (o == m || other == 0)
				continue;
			d[n] = cdf ? oracle_cdf(hm, own, ho, other, b.n, &plain[n])
				   : oracle_kl(hm, own, ho, other, b.n);
			n++;
		}
		ret_votes[m] = oracle_vote(d, n);
		if (cdf)
			ret_plain[m] = oracle_vote(plain, n);
	}
	free(h);
	free(d);
}

static inline void oracle_median(const struct window *w, double *ret_votes)
{
	double *v = calloc((size_t)w->n_members + 1, sizeof(*v));

	assert(v);
	for (uint32_t m = 0; m < w->n_members; m++)
		ret_votes[m] = w->rows[m] && w->n_with_data > 1 ? 0 : NAN;
	for (uint32_t i = 0; i < w->n_samples; i++) {
		double median;
		uint32_t n = 0;

		for (uint32_t m = 0; m < w->n_members; m++) {
			if (w->rows[m] && oracle_value(w->rows[m][i]))
				v[n++] = w->rows[m][i];
		}
		median = n ? oracle_quantile(v, n, 0.5) : NAN;
		for (uint32_t m = 0; m < w->n_members; m++) {
			if (w->rows[m] && oracle_value(w->rows[m][i]))
				ret_votes[m] += fabs(w->rows[m][i] - median);
		}
	}
	free(v);
}

/* Sums over the window, with the mean of the others for a missing sample; then all distances. */
static inline void oracle_manhattan(const struct window *w, double *ret_votes)
{
	double *sums = calloc((size_t)w->n_members + 1, sizeof(*sums));
	double *d = calloc((size_t)w->n_members + 1, sizeof(*d));

	assert(sums && d);
	for (uint32_t m = 0; m < w->n_members; m++) {
		for (uint32_t i = 0; w->rows[m] && i < w->n_samples; i++)
			sums[m] += oracle_value(w->rows[m][i]) ? w->rows[m][i] : 0;
		if (oracle_count(w->rows[m], w->n_samples) < w->n_samples)
			sums[m] *= (double)w->n_samples / oracle_count(w->rows[m], w->n_samples);
	}
	for (uint32_t m = 0; m < w->n_members; m++) {
		uint32_t n = 0;

		for (uint32_t o = 0; w->rows[m] && o < w->n_members; o++) {
			if (o != m && w->rows[o])
				d[n++] = fabs(sums[m] - sums[o]);
		}
		ret_votes[m] = oracle_vote(d, n);
	}
	free(sums);
	free(d);
}

static inline void oracle_thresh(const struct window *w, double *ret_votes)
{
	for (uint32_t m = 0; m < w->n_members; m++) {
		ret_votes[m] = NAN;
		for (uint32_t i = 0; w->rows[m] && i < w->n_samples; i++) {
			double v = w->rows[m][i];

			if (oracle_value(v) && !(ret_votes[m] >= v))
				ret_votes[m] = v;
		}
	}
}

/* A random window, of a random shape. */
enum oracle_shape {
	SHAPE_UNIFORM,
	SHAPE_ZERO,
	SHAPE_CONSTANT,
	SHAPE_TIES,	    /* few different values */
	SHAPE_HEAVY,	    /* a few values are huge */
	SHAPE_HUGE,	    /* from 1e-9 to 1e290 */
	SHAPE_TINY,	    /* a large value plus tiny differences */
	SHAPE_DENORMAL,	    /* smaller than a thousandth of anything */
	SHAPE_OUTLIERS,	    /* some members are well above the others */
	SHAPE_LOW_OUTLIERS, /* or below */
	SHAPE_CLUSTERS,	    /* two kinds of members */
	SHAPE_BURSTS,	    /* mostly zero, but not always */
	SHAPE_SPREAD,	    /* each member has another level */
	N_SHAPES
};

struct oracle_case {
	double *block;
	const double **rows;
	struct window w;
};

static inline double oracle_sample(enum oracle_shape shape, uint32_t m, uint32_t n, double level)
{
	double u = oracle_uniform();

	switch (shape) {
	case SHAPE_ZERO:
		return 0;
	case SHAPE_CONSTANT:
		return 0.1;
	case SHAPE_TIES:
		return floor(u * 4);
	case SHAPE_HEAVY:
		return u < 0.02 ? exp(30 * oracle_uniform()) : u;
	case SHAPE_HUGE:
		return pow(10, 299 * u - 9);
	case SHAPE_TINY:
		return 1e9 + u * 1e-6;
	case SHAPE_DENORMAL:
		return floor(u * 3) * 4.9406564584124654e-324;
	case SHAPE_OUTLIERS:
		return u + (m % 7 == 3 ? 2 + level * 3 : 0);
	case SHAPE_LOW_OUTLIERS:
		return m % 9 == 3 ? u * 0.1 : 3 + u;
	case SHAPE_CLUSTERS:
		return u + (m < n / 2 ? 0 : 5);
	case SHAPE_BURSTS:
		return u < 0.8 ? 0 : u * 10 * level;
	case SHAPE_SPREAD:
		return level * 100 + u;
	default:
		return u;
	}
}

/* `missing`: the fraction of missing values. Members with too few values have none, and some have
 * none anyway. */
static inline void oracle_case_make(struct oracle_case *c, enum oracle_shape shape,
	uint32_t n_members, uint32_t n_samples, double missing)
{
	c->block = malloc((size_t)n_members * n_samples * sizeof(*c->block));
	c->rows = calloc(n_members, sizeof(*c->rows));
	assert(c->block && c->rows);
	c->w = (struct window){c->rows, n_members, n_samples, 0};
	for (uint32_t m = 0; m < n_members; m++) {
		double *row = c->block + (size_t)m * n_samples, level = oracle_uniform();

		for (uint32_t i = 0; i < n_samples; i++) {
			row[i] = oracle_sample(shape, m, n_members, level);
			if (oracle_uniform() < missing)
				row[i] = oracle_below(20) ? NAN : INFINITY;
		}
		if (2 * oracle_count(row, n_samples) >= n_samples &&
			(missing == 0 || oracle_below(10))) {
			c->rows[m] = row;
			c->w.n_with_data++;
		}
	}
}

static inline void oracle_case_free(struct oracle_case *c)
{
	free(c->block);
	free(c->rows);
}

#endif
