#include "detect/compare/votes.h"

#include "base/cleanup.h"
#include "base/slices.h"
#include "detect/compare/measure.h"
#include "model/table_view.h"
#include <errno.h>
#include <omp.h>
#include <stdlib.h>

/* Moving averages.
 *
 * Each mean is computed from scratch, as the latest value plus the mean difference from it. A
 * running sum would drift: an idle disk would seem to work a little after a busy hour. This way
 * constants stay exactly constant, and an offset of all values shifts all means by the same
 * offset. */
static double mean_at(const double *row, uint32_t at, uint32_t width)
{
	uint32_t first = at + 1 > width ? at + 1 - width : 0, n = 0;
	double latest = NAN, sum = 0;

	for (uint32_t i = at + 1; i-- > first;) {
		if (!value_usable(row[i]))
			continue;
		if (n++ == 0)
			latest = row[i];
		sum += row[i] - latest;
	}
	return n ? latest + sum / n : NAN;
}

#define BLOCK 256U

/* The same for the slots first .. end-1 if no value is missing, several at a time; ret[0] is the
 * mean of slot `first`. */
static void smooth_full(
	const double *row, uint32_t first, uint32_t end, uint32_t width, double *ret)
{
	double sums[BLOCK];

	for (uint32_t from = first; from < end; from += BLOCK) {
		uint32_t n = end - from < BLOCK ? end - from : BLOCK;
		const double *latest = row + from;
		double *out = ret + (from - first);

		for (uint32_t i = 0; i < n; i++)
			sums[i] = 0;
		for (uint32_t back = 1; back < width; back++) {
			const double *older = latest - back;

#pragma omp simd
			for (uint32_t i = 0; i < n; i++)
				sums[i] += older[i] - latest[i];
		}
#pragma omp simd
		for (uint32_t i = 0; i < n; i++)
			out[i] = latest[i] + sums[i] / width;
	}
}

/* The same if values may be missing, for slots with at least `width` - 1 slots before them: like
 * mean_at(), several at a time. */
static void smooth_patchy(
	const double *row, uint32_t first, uint32_t end, uint32_t width, double *ret)
{
	double latest[BLOCK], sums[BLOCK], counts[BLOCK];

	for (uint32_t from = first; from < end; from += BLOCK) {
		uint32_t n = end - from < BLOCK ? end - from : BLOCK;

		for (uint32_t i = 0; i < n; i++) {
			latest[i] = NAN;
			sums[i] = counts[i] = 0;
		}
		for (uint32_t back = width; back-- > 0;) {
			const double *older = row + from - back;

#pragma omp simd
			for (uint32_t i = 0; i < n; i++)
				latest[i] = value_usable(older[i]) ? older[i] : latest[i];
		}
		for (uint32_t back = 0; back < width; back++) {
			const double *older = row + from - back;

#pragma omp simd
			for (uint32_t i = 0; i < n; i++) {
				sums[i] += value_usable(older[i]) ? older[i] - latest[i] : 0;
				counts[i] += value_usable(older[i]) ? 1 : 0;
			}
		}
#pragma omp simd
		for (uint32_t i = 0; i < n; i++)
			ret[from - first + i] = latest[i] + sums[i] / counts[i];
	}
}

/* The number of values from .. end - 1 that are present. */
static uint32_t count_usable(const double *row, uint32_t from, uint32_t end)
{
	uint32_t n = 0;

#pragma omp simd reduction(+ : n)
	for (uint32_t i = from; i < end; i++)
		n += value_usable(row[i]);
	return n;
}

/* The averages of the slots from `first` on. */
static void smooth_row(const double *row, uint32_t first, uint32_t n, uint32_t width, double *ret)
{
	uint32_t at = first, end;

	/* The first slots have fewer slots before them. */
	for (; at < n && at + 1 < width; at++)
		ret[at - first] = mean_at(row, at, width);
	for (; at < n; at = end) {
		uint32_t from = at + 1 - width, there;

		end = n - at < BLOCK ? n : at + BLOCK;
		there = count_usable(row, from, end);
		if (there == end - from)
			smooth_full(row, at, end, width, ret + (at - first));
		else if (there)
			smooth_patchy(row, at, end, width, ret + (at - first));
		for (uint32_t i = at; !there && i < end; i++)
			ret[i - first] = NAN;
	}
}

static void row_drop_sparse(
	const double *row, uint32_t first, uint32_t n_slots, uint32_t width, double *smoothed)
{
	uint32_t least = width / 2 ? width / 2 : 1, from = first > width ? first - width : 0;
	uint32_t n = count_usable(row, from, first);

	/* If no value is missing, only the first slots have too few values. */
	if (n_slots - from == n + count_usable(row, first, n_slots)) {
		for (uint32_t i = first; i < n_slots && i - from + 1 < least; i++)
			smoothed[i - first] = NAN;
		return;
	}
	for (uint32_t i = first; i < n_slots; i++) {
		n += value_usable(row[i]);
		n -= i - from >= width && value_usable(row[i - width]);
		if (n < least)
			smoothed[i - first] = NAN;
	}
}

/* Shared by all threads. */
struct smoothing {
	const struct group_data *g;
	uint32_t width, sparse, end;
	double *block;
	const double **rows;
};

/* One member. */
static void smooth_member(void *ctx, uint32_t member, double *room)
{
	const struct smoothing *s = ctx;
	const struct group_data *g = s->g;
	const double *row = g->rows[member];
	double *out = s->block + (size_t)member * (s->end - g->context);
	uint32_t before = s->width > s->sparse ? s->width : s->sparse;

	if (!row)
		return;
	if (g->lazy)
		row = table_values_peek_part(g->lazy,
			(uint32_t)((size_t)(row - g->lazy->values) / g->n_slots),
			g->context > before ? g->context - before : 0, s->end, room);
	smooth_row(row, g->context, s->end, s->width, out);
	if (s->sparse)
		row_drop_sparse(row, g->context, s->end, s->sparse, out);
	s->rows[member] = out;
}

/* The members first .. end - 1; threads share the work if there is a lot. */
static int members_some(
	uint32_t first, uint32_t end, uint32_t n_slots, members_visit *visit, void *ctx)
{
	bool many = (size_t)(end - first) * n_slots >= VOTES_MANY;
	int failed = 0; /* NOLINT(clang-analyzer-deadcode.DeadStores): reduced with the threads' */

#pragma omp parallel reduction(min : failed) if (many)
	{
		_cleanup_free_ double *room = malloc(((size_t)n_slots + 1) * sizeof(*room));

		failed = room ? 0 : -ENOMEM; /* memory of each thread */
#pragma omp for schedule(static)
		for (uint32_t m = first; m < end; m++) {
			if (room)
				visit(ctx, m, room);
		}
	}
	return failed;
}

/* Process this many at a time: no thread may read rows while the others sleep. */
#define MEMBERS_AT_ONCE 8192U

int members_each(uint32_t n, uint32_t n_slots, members_visit *visit, void *ctx)
{
	int r = 0;

	for (uint32_t first = 0; r == 0 && first < n; first += MEMBERS_AT_ONCE) {
		slices_rest();
		r = members_some(first, n - first < MEMBERS_AT_ONCE ? n : first + MEMBERS_AT_ONCE,
			n_slots, visit, ctx);
	}
	return r;
}

int smooth_group(const struct group_data *g, uint32_t width, uint32_t sparse, struct smoothed *ret)
{
	size_t n_cells;
	_cleanup_free_ double *block = NULL;
	_cleanup_free_ const double **rows = NULL;
	struct smoothing s = {.g = g,
		.width = width ? width : 1,
		.sparse = sparse,
		.end = g->end ? g->end : g->n_slots};
	uint32_t n_slots = s.end - g->context;

	if (__builtin_mul_overflow((size_t)g->n_members, (size_t)n_slots, &n_cells) ||
		n_cells > SIZE_MAX / sizeof(*block))
		return -ENOMEM;
	s.block = block = malloc(n_cells * sizeof(*block) + 1);
	s.rows = rows = calloc((size_t)g->n_members + 1, sizeof(*rows));
	if (!block || !rows || members_each(g->n_members, g->n_slots, smooth_member, &s) < 0)
		return -ENOMEM;
	*ret = (struct smoothed){TAKE_PTR(block), TAKE_PTR(rows), g->n_members, n_slots};
	return 0;
}

void smoothed_release(struct smoothed *s)
{
	free(s->block);
	free(s->rows);
	*s = (struct smoothed){0};
}

uint32_t window_count(const struct lp_params *p, uint32_t n_slots)
{
	if (p->win_size == 0 || p->win_shift == 0 || n_slots < p->win_size)
		return 0;
	return (n_slots - p->win_size) / p->win_shift + 1;
}

/* Shared by all threads. */
struct job {
	const struct measure *m;
	const struct lp_params *p;
	const struct smoothed *s;
	const uint32_t *members; /* NULL: all */
	uint32_t n;
	const double *thresholds; /* NULL: all votes are exact */
	const bool *asked;	  /* [member * n_windows + window]; NULL: all */
	uint32_t n_windows;
	double *ret;
	bool *ret_data;
};

/* The state of one thread. */
struct vote_worker {
	struct measure_scratch *scratch;
	const double **rows;
	double *votes;
	double *thresholds; /* of one window */
};

static void worker_release(struct vote_worker *k)
{
	measure_scratch_free(k->scratch);
	free(k->rows);
	free(k->votes);
	free(k->thresholds);
}

static int worker_init(struct vote_worker *k, const struct job *j)
{
	k->scratch = measure_scratch_new();
	k->rows = calloc((size_t)j->s->n_members + 1, sizeof(*k->rows));
	k->votes = calloc((size_t)j->n + 1, sizeof(*k->votes));
	k->thresholds = calloc((size_t)j->n + 1, sizeof(*k->thresholds));
	return k->scratch && k->rows && k->votes && k->thresholds ? 0 : -ENOMEM;
}

static bool enough_values(const double *row, uint32_t n)
{
	uint32_t found = 0;

#pragma omp simd reduction(+ : found)
	for (uint32_t i = 0; i < n; i++)
		found += value_usable(row[i]);
	return found > 0 && found >= n - found;
}

/* The rows of the members in a window; NULL for members with too few values. */
static struct window window_at(const struct job *j, struct vote_worker *k, uint32_t index)
{
	size_t first = (size_t)index * j->p->win_shift;
	struct window w = {k->rows, j->s->n_members, j->p->win_size, 0};

	for (uint32_t m = 0; m < w.n_members; m++) {
		const double *row = j->s->rows[m] ? j->s->rows[m] + first : NULL;

		slices_rest_at(m);
		k->rows[m] = row && enough_values(row, w.n_samples) ? row : NULL;
		w.n_with_data += k->rows[m] != NULL;
		if (j->ret_data)
			j->ret_data[(size_t)m * j->n_windows + index] = k->rows[m] != NULL;
	}
	return w;
}

/* Set the thresholds for a window: infinite for members with votes that do not matter. False: no
 * vote matters. */
static bool job_ask(const struct job *j, struct vote_worker *k, uint32_t index)
{
	bool any = false;

	for (uint32_t i = 0; i < j->n; i++) {
		bool asked = !j->asked || j->asked[(size_t)i * j->n_windows + index];

		k->thresholds[i] = asked ? j->thresholds[i] : INFINITY;
		any |= asked;
	}
	return any;
}

static int job_window(const struct job *j, struct vote_worker *k, uint32_t index)
{
	bool any = !j->thresholds || job_ask(j, k, index);
	struct window w;
	int r = 0;

	slices_rest();
	if (any)
		w = window_at(j, k, index);
	if (any && j->thresholds && j->m->exceed)
		r = j->m->exceed(&w, k->thresholds, k->scratch, k->votes);
	else if (any)
		r = j->m->votes(&w, j->members, j->n, k->scratch, k->votes);
	for (uint32_t i = 0; r == 0 && i < j->n; i++)
		j->ret[(size_t)i * j->n_windows + index] = any ? k->votes[i] : NAN;
	return r;
}

/* Windows are independent, and each is written by one thread: the result does not depend on the
 * number of threads. If there are too few windows for all threads and each is large, they are
 * computed one after the other, and the threads share the members of each (scratch_threads()). */
static int job_run(const struct job *j)
{
	bool few = j->n_windows < 2 * (uint32_t)omp_get_max_threads() &&
		j->s->n_members >= SCRATCH_MANY;
	bool many = (size_t)j->s->n_members * j->s->n_slots >= VOTES_MANY;
	int failed = 0;

#pragma omp parallel reduction(min : failed) if (!few && many)
	{
		struct vote_worker k = {0};

		failed = worker_init(&k, j);
#pragma omp for schedule(dynamic)
		for (uint32_t i = 0; i < j->n_windows; i++) {
			int r = failed < 0 ? failed : job_window(j, &k, i);

			failed = r < failed ? r : failed;
		}
		worker_release(&k);
	}
	return failed;
}

int votes_all(const struct measure *m, const struct lp_params *p, const struct smoothed *s,
	const uint32_t *members, uint32_t n, double *ret, bool *ret_data)
{
	struct job j = {m, p, s, .n_windows = window_count(p, s->n_slots)};

	j.members = members;
	j.n = members ? n : s->n_members;
	j.ret = ret;
	j.ret_data = ret_data;
	return job_run(&j);
}

int votes_exceeding(const struct measure *m, const struct lp_params *p, const struct smoothed *s,
	const double *thresholds, const bool *asked, double *ret)
{
	struct job j = {m, p, s, .n_windows = window_count(p, s->n_slots)};

	j.n = s->n_members;
	j.thresholds = thresholds;
	j.asked = asked;
	j.ret = ret;
	return job_run(&j);
}

void windows_data(const struct lp_params *p, const struct smoothed *s, bool *ret)
{
	uint32_t n = window_count(p, s->n_slots);

#pragma omp parallel for schedule(static) if ((size_t)s->n_members * s->n_slots >= VOTES_MANY)
	for (uint32_t m = 0; m < s->n_members; m++) {
		slices_rest_at(m);
		for (uint32_t w = 0; w < n; w++)
			ret[(size_t)m * n + w] = s->rows[m] &&
				enough_values(s->rows[m] + (size_t)w * p->win_shift, p->win_size);
	}
}
