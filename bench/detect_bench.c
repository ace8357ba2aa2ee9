/* How long detection alone takes: smoothing, windows, distances, votes.
 *
 *     detect_bench day [FACTOR]      a day of 768 + 384 + 768 + 384 members, 192 windows
 *     detect_bench scale [FACTOR]    1,000 to 100,000 members in one group
 *     detect_bench spread [FACTOR]   the same where no two are alike; with 0.5, thresholds are
 *                                    below the usual distance, and pruning does not help
 *
 * The data is simulated: load in bursts that is common to all members, noise of each member, and
 * one member in 256 that is much slower. */
#include "clock.h"
#include "detect/compare/votes.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of 256 is. */
#define SLOW 77

/* Thresholds are those of training times this. */
static double factor = 2;

static uint64_t rng_state = 42;

static double uniform(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (double)(rng_state >> 11) / 9007199254740992.0;
}

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "detect_bench: out of memory\n");
		exit(1);
	}
	return p;
}

struct data {
	double *values;
	const double **rows;
	struct group_data g;
};

static void data_make(struct data *d, uint32_t n_members, uint32_t n_slots, bool spread)
{
	double *load = need(calloc(n_slots, sizeof(*load))), level = 0;

	d->values = need(malloc((size_t)n_members * n_slots * sizeof(*d->values)));
	d->rows = need(calloc(n_members, sizeof(*d->rows)));
	for (uint32_t i = 0; i < n_slots; i++) {
		level = uniform() < 0.05 ? -log(1 - uniform()) * (uniform() < 0.5) : level;
		load[i] = level;
	}
	for (uint32_t m = 0; m < n_members; m++) {
		double speed = spread ? 1 + 20 * uniform() : m % 256 == SLOW ? 4 : 1;

		d->rows[m] = d->values + (size_t)m * n_slots;
		for (uint32_t i = 0; i < n_slots; i++)
			d->values[(size_t)m * n_slots + i] =
				speed * 10 * (0.2 + load[i]) * (0.5 + uniform());
	}
	d->g = (struct group_data){d->rows, n_members, n_slots};
	free(load);
}

static void data_free(struct data *d)
{
	free(d->values);
	free(d->rows);
}

struct times {
	double smooth, exceed, all;
	size_t n_exceeding, n_votes;
};

/* The result of training: what healthy members, here 16 of them, do not exceed. */
static double usual_vote(
	const struct measure *m, const struct lp_params *p, const struct smoothed *s)
{
	uint32_t members[16], n = window_count(p, s->n_slots);
	double *votes = need(calloc((size_t)16 * n, sizeof(*votes))), usual = 0;

	for (uint32_t i = 0; i < 16; i++) {
		members[i] = (uint32_t)((uint64_t)i * s->n_members / 16);
		members[i] += members[i] % 256 == SLOW;
	}
	if (votes_all(m, p, s, members, 16, votes, NULL) < 0)
		need(NULL);
	for (size_t i = 0; i < (size_t)16 * n; i++)
		usual = fmax(usual, votes[i]);
	free(votes);
	return usual;
}

static void measure_group(const struct measure *m, const struct data *d, bool all, struct times *t)
{
	const struct lp_params *p = &m->defaults;
	size_t n = (size_t)d->g.n_members * window_count(p, d->g.n_slots);
	double *votes = need(malloc(n * sizeof(*votes)));
	double *thresholds = need(malloc(d->g.n_members * sizeof(*thresholds))), start = seconds();
	struct smoothed s;

	if (smooth_group(&d->g, p->smooth, 0, &s) < 0)
		need(NULL);
	t->smooth += seconds() - start;
	for (uint32_t i = 0; i < d->g.n_members; i++)
		thresholds[i] = i ? thresholds[0] : factor * usual_vote(m, p, &s);
	start = seconds();
	if (votes_exceeding(m, p, &s, thresholds, NULL, votes) < 0)
		need(NULL);
	t->exceed += seconds() - start;
	for (size_t i = 0; i < n; i++)
		t->n_exceeding += votes[i] > thresholds[0];
	start = seconds();
	if (all && votes_all(m, p, &s, NULL, 0, votes, NULL) < 0)
		need(NULL);
	t->all += seconds() - start;
	t->n_votes += n;
	smoothed_release(&s);
	free(votes);
	free(thresholds);
}

static void day(const char *name)
{
	static const uint32_t groups[] = {768, 384, 768, 384};
	const struct measure *m = measure_find(name);
	uint32_t n_slots = m->defaults.win_size + 191 * m->defaults.win_shift;
	struct times t = {0};

	for (unsigned i = 0; i < 4; i++) {
		struct data d;

		data_make(&d, groups[i], n_slots, false);
		measure_group(m, &d, true, &t);
		data_free(&d);
	}
	printf("%-8s %10.3f %10.3f %10.3f %10zu of %zu\n", name, t.smooth, t.exceed, t.all,
		t.n_exceeding, t.n_votes);
}

static void scale(bool spread)
{
	static const uint32_t sizes[] = {1000, 3000, 10000, 30000, 100000};
	const struct measure *m = measure_find("cdf");
	uint32_t n_windows = 8;

	printf("%-8s %12s %14s %16s %12s\n", "members", "s a window", "ns a member", "exceeding",
		"smooth, s");
	for (unsigned i = 0; i < (spread ? 3 : 5); i++) {
		struct times t = {0};
		struct data d;

		data_make(&d, sizes[i],
			m->defaults.win_size + (n_windows - 1) * m->defaults.win_shift, spread);
		measure_group(m, &d, false, &t);
		printf("%-8u %12.4f %14.0f %16zu %12.4f\n", sizes[i], t.exceed / n_windows,
			t.exceed / n_windows / sizes[i] * 1e9, t.n_exceeding, t.smooth);
		data_free(&d);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "day";

	if (argc > 2)
		factor = strtod(argv[2], NULL);
	printf("%d threads, thresholds %.2g times the highest vote of some healthy members\n",
		omp_get_max_threads(), factor);
	if (!strcmp(what, "day")) {
		printf("%-8s %10s %10s %10s %10s\n", "measure", "smooth, s", "exceed, s", "all, s",
			"exceeding");
		for (const struct measure *const *m = measures; *m; m++)
			day((*m)->name);
	} else {
		scale(!strcmp(what, "spread"));
	}
	return 0;
}
