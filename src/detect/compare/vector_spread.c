#include "detect/compare/vector_spread.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a window that show how much a dimension varies. Samples are counted over ten seconds,
 * and the shortest windows have thirty. */
#define PARTS 3
/* Factor from a median of distances to a standard deviation, for a normal distribution. */
#define NORMAL 1.4826
/* Differences of less than a fifth of the usual value do not matter, as everywhere else. */
#define MATTERS 0.2
/* The calls of a server depend on the requests of its clients. Clients do not explain a difference
 * in a tenth of all calls of a program. */
#define PROGRAM_SHARE 0.1
/* For calls that indicate trouble, this many per second are enough. */
#define TROUBLE_FLOOR 0.5

static const char *const trouble[] = {"kernel:tracepoints:tcp_retransmit_skb",
	"kernel:tracepoints:tcp_retransmit_synack", "kernel:tracepoints:tcp_send_reset",
	"kernel:tracepoints:tcp_receive_reset", "kernel:tracepoints:kfree_skb",
	"kernel:tracepoints:net_dev_xmit_timeout", "kernel:tracepoints:block_rq_requeue",
	"kernel:tracepoints:block_rq_error"};
/* The program name of all tracepoints. */
#define KERNEL "kernel:"

/* A dimension that is compared in a window. */
struct compared {
	uint32_t dimension;
	double floor;
	bool trouble;
	double median;	/* of all, divided by their loads */
	double *values; /* [part * n_members + member], part PARTS: the whole window; NaN: no
			 * data */
};

/* A member in a dimension in which it differs. */
struct hit {
	uint32_t member, at; /* an index in the compared dimensions */
	double own, usual;   /* amounts in the window: its own, and the usual one at its load */
	double spread;
};

struct spread {
	const struct vector_group *g;
	uint32_t n; /* members */
	struct compared *dimensions;
	uint32_t n_dimensions;
	uint32_t *place; /* [dimension of the view] its index in `compared`; UINT32_MAX: none */
	double *load;	 /* [member] its number of calls, relative to the others */
	double *scratch; /* room for (PARTS + 1) * n numbers */
	struct hit *hits;
	size_t n_hits, cap_hits;
};

static void spread_release(struct spread *s)
{
	for (uint32_t i = 0; s->dimensions && i < s->n_dimensions; i++)
		free(s->dimensions[i].values);
	free(s->dimensions);
	free(s->place);
	free(s->load);
	free(s->scratch);
	free(s->hits);
}

/* Sums must not depend on the order of addition: sums of multiples of 1/1024 do not. */
static double exact(double value)
{
	return round(value * 1024) / 1024;
}

static bool is_trouble(const char *name)
{
	for (size_t i = 0; i < sizeof(trouble) / sizeof(*trouble); i++) {
		if (!strcmp(trouble[i], name))
			return true;
	}
	return false;
}

static const char *name_of(const struct spread *s, uint32_t at)
{
	return s->g->view.dimensions.names[s->dimensions[at].dimension];
}

static bool is_kernel(const struct spread *s, uint32_t at)
{
	return !strncmp(name_of(s, at), KERNEL, strlen(KERNEL));
}

static double floor_of(const struct vector_group *g, uint32_t dimension, bool *ret_trouble)
{
	*ret_trouble = g->counts_calls && is_trouble(g->view.dimensions.names[dimension]);
	return *ret_trouble ? TROUBLE_FLOOR * g->amount : g->least;
}

/* A value of the vector that is also part of a sum of its image. */
static double *value_at(const struct spread *s, uint32_t dimension, uint32_t part, uint32_t member)
{
	uint32_t at = s->place[dimension];

	return at == UINT32_MAX ? NULL : &s->dimensions[at].values[(size_t)part * s->n + member];
}

static int dimension_add(struct spread *s, uint32_t dimension)
{
	struct compared *c = &s->dimensions[s->n_dimensions];

	*c = (struct compared){.dimension = dimension,
		.values = malloc(((size_t)(PARTS + 1) * s->n + 1) * sizeof(*c->values))};
	if (!c->values)
		return -ENOMEM;
	c->floor = floor_of(s->g, dimension, &c->trouble);
	for (uint32_t i = 0; i < (PARTS + 1) * s->n; i++)
		c->values[i] = NAN;
	s->place[dimension] = s->n_dimensions++;
	return 0;
}

/* Choose the dimensions that count: those in which any member has enough. `most` has room for all
 * dimensions. */
static int dimensions_choose(struct spread *s, uint32_t first, double *most)
{
	const struct vector_group *g = s->g;
	uint32_t n = g->view.dimensions.n;
	_cleanup_(vector_release) struct vector v = {0};
	_cleanup_free_ double *sums = calloc((size_t)n + 1, sizeof(*sums));
	int r = sums ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < g->n_members; i++) {
		r = g->view_of[i] == UINT32_MAX
			? 0
			: vector_view_window(&g->view, g->view_of[i], first, g->win_size, &v);
		memset(sums, 0, n * sizeof(*sums));
		for (size_t e = 0; r > 0 && e < v.n; e++) {
			uint32_t d = v.entries[e].dimension;

			sums[d] += exact(v.entries[e].value);
			if (g->sums && g->sums[d] != UINT32_MAX)
				sums[g->sums[d]] += exact(v.entries[e].value);
		}
		for (uint32_t d = 0; r > 0 && d < n; d++)
			most[d] = fmax(most[d], sums[d]);
	}
	for (uint32_t d = 0; r >= 0 && d < n; d++) {
		bool ignored;

		r = 0;
		if (most[d] > 0 && most[d] >= floor_of(g, d, &ignored))
			r = dimension_add(s, d);
	}
	return r < 0 ? r : 0;
}

/* The values of a member in a part of the window; PARTS: in the whole window. */
static int part_fill(
	struct spread *s, uint32_t member, uint32_t part, uint32_t first, struct vector *v)
{
	const struct vector_group *g = s->g;
	uint32_t length = part == PARTS ? g->win_size : g->win_size / PARTS;
	uint32_t from = part == PARTS ? first : first + part * length;
	int r = vector_view_window(&g->view, g->view_of[member], from, length, v);

	if (r <= 0)
		return r;
	for (uint32_t i = 0; i < s->n_dimensions; i++)
		s->dimensions[i].values[(size_t)part * s->n + member] = 0;
	for (size_t e = 0; e < v->n; e++) {
		uint32_t d = v->entries[e].dimension;
		double *own = value_at(s, d, part, member), *sum = NULL;

		if (g->sums && g->sums[d] != UINT32_MAX)
			sum = value_at(s, g->sums[d], part, member);
		if (own)
			*own += exact(v->entries[e].value);
		if (sum)
			*sum += exact(v->entries[e].value);
	}
	return 0;
}

static int values_fill(struct spread *s, uint32_t first)
{
	_cleanup_(vector_release) struct vector v = {0};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->n; i++) {
		for (uint32_t p = 0; r == 0 && p <= PARTS && s->g->view_of[i] != UINT32_MAX; p++)
			r = part_fill(s, i, p, first, &v);
	}
	return r;
}

/* The values of all in a part, each divided by its load. */
static uint32_t part_values(const struct spread *s, uint32_t at, uint32_t part, double *ret)
{
	const double *values = s->dimensions[at].values + (size_t)part * s->n;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (!isnan(values[i]))
			ret[n++] = values[i] / s->load[i];
	}
	return n;
}

/* The amounts of each member in a dimension, relative to the others; `n_ratios` has their number
 * per member. */
static void dimension_ratios(
	const struct spread *s, uint32_t at, double *ratios, uint32_t *n_ratios)
{
	const double *whole = s->dimensions[at].values + (size_t)PARTS * s->n;
	uint32_t n = part_values(s, at, PARTS, s->scratch);
	struct median_split split = median_split(s->scratch, n);

	for (uint32_t i = 0; i < s->n; i++) {
		double usual = isnan(whole[i]) ? NAN : median_of_others(&split, whole[i]);

		if (usual >= s->dimensions[at].floor && usual > 0)
			ratios[(size_t)i * s->n_dimensions + n_ratios[i]++] = whole[i] / usual;
	}
}

/* The number of calls of each member, relative to the others: the median over all functions.
 */
static int loads_find(struct spread *s)
{
	_cleanup_free_ double *ratios = calloc((size_t)s->n * s->n_dimensions + 1, sizeof(*ratios));
	_cleanup_free_ uint32_t *n_ratios = calloc((size_t)s->n + 1, sizeof(*n_ratios));

	if (!ratios || !n_ratios)
		return -ENOMEM;
	for (uint32_t d = 0; d < s->n_dimensions; d++) {
		if (!is_kernel(s, d))
			dimension_ratios(s, d, ratios, n_ratios);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		double load = median_of(ratios + (size_t)i * s->n_dimensions, n_ratios[i]);

		s->load[i] = load > 0 ? load : 1;
	}
	return 0;
}

/* The median distance of all members from the median of the others, in parts `from` to `to`, as a
 * standard deviation. */
static double parts_spread(const struct spread *s, uint32_t at, uint32_t from, uint32_t to)
{
	double *values = s->scratch, *distances = s->scratch + s->n;
	uint32_t n_distances = 0;

	for (uint32_t p = from; p <= to; p++) {
		uint32_t n = part_values(s, at, p, values);
		struct median_split split = median_split(values, n);

		for (uint32_t i = 0; n > 1 && i < n; i++)
			distances[n_distances++] =
				fabs(values[i] - median_of_others(&split, values[i]));
	}
	return n_distances ? NORMAL * median_of(distances, n_distances) : 0;
}

static int hit_add(struct spread *s, const struct hit *hit)
{
	if (array_reserve(&s->hits, &s->cap_hits, s->n_hits + 1, sizeof(*s->hits)) < 0)
		return -ENOMEM;
	s->hits[s->n_hits++] = *hit;
	return 0;
}

/* Find the members that differ in a dimension. */
static int dimension_compare(struct spread *s, uint32_t at)
{
	struct compared *c = &s->dimensions[at];
	const double *whole = c->values + (size_t)PARTS * s->n;
	double spread = fmax(
		sqrt(PARTS) * parts_spread(s, at, 0, PARTS - 1), parts_spread(s, at, PARTS, PARTS));
	uint32_t n = part_values(s, at, PARTS, s->scratch);
	struct median_split split = median_split(s->scratch, n);
	int r = 0;

	c->median = n ? median_of_all(&split) : 0;
	for (uint32_t i = 0; r == 0 && n > 1 && i < s->n; i++) {
		double own = whole[i] / s->load[i], usual = median_of_others(&split, own), least;

		if (isnan(own))
			continue;
		least = fmax(c->floor, MATTERS * usual) / VECTOR_SPREAD_LEAST;
		if (fabs(own - usual) < VECTOR_SPREAD_LEAST * fmax(spread, least))
			continue;
		r = hit_add(s,
			&(struct hit){i, at, whole[i], usual * s->load[i],
				fmax(spread, least) * s->load[i]});
	}
	return r;
}

static bool same_program(const struct spread *s, uint32_t a, uint32_t b)
{
	const char *x = name_of(s, a), *y = name_of(s, b);
	size_t n = strcspn(x, ":");

	return n == strcspn(y, ":") && !strncmp(x, y, n);
}

/* Is the difference in the calls of a program large enough to matter? */
static bool program_differs(const struct spread *s, const struct hit *hit)
{
	double apart = 0, all = 0;

	for (size_t i = 0; i < s->n_hits; i++) {
		const struct hit *h = &s->hits[i];

		if (h->member == hit->member && same_program(s, h->at, hit->at))
			apart += exact(fabs(h->own - h->usual));
	}
	for (uint32_t d = 0; d < s->n_dimensions; d++) {
		if (same_program(s, d, hit->at))
			all += exact(s->dimensions[d].median * s->load[hit->member]);
	}
	return apart >= PROGRAM_SHARE * all;
}

/* Drop calls that differ only a little. */
static int hits_sift(struct spread *s)
{
	_cleanup_free_ bool *kept = calloc(s->n_hits + 1, sizeof(*kept));
	size_t n = 0;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_hits; i++)
		kept[i] = s->dimensions[s->hits[i].at].trouble || program_differs(s, &s->hits[i]);
	for (size_t i = 0; i < s->n_hits; i++) {
		if (kept[i])
			s->hits[n++] = s->hits[i];
	}
	s->n_hits = n;
	return 0;
}

static int spread_compare(const struct vector_group *g, uint32_t first, struct spread *ret)
{
	struct spread *s = ret;
	uint32_t n = g->view.dimensions.n;
	_cleanup_free_ double *most = calloc((size_t)n + 1, sizeof(*most));
	int r;

	*s = (struct spread){.g = g, .n = g->n_members};
	s->dimensions = calloc((size_t)n + 1, sizeof(*s->dimensions));
	s->place = malloc(((size_t)n + 1) * sizeof(*s->place));
	s->load = calloc((size_t)s->n + 1, sizeof(*s->load));
	s->scratch = calloc((size_t)(PARTS + 1) * s->n + 1, sizeof(*s->scratch));
	if (!most || !s->dimensions || !s->place || !s->load || !s->scratch)
		return -ENOMEM;
	memset(s->place, 0xff, ((size_t)n + 1) * sizeof(*s->place));
	for (uint32_t i = 0; i < s->n; i++)
		s->load[i] = 1;
	r = dimensions_choose(s, first, most);
	if (r == 0)
		r = values_fill(s, first);
	if (r == 0 && g->counts_calls)
		r = loads_find(s);
	for (uint32_t d = 0; r == 0 && d < s->n_dimensions; d++)
		r = dimension_compare(s, d);
	return r == 0 && g->counts_calls ? hits_sift(s) : r;
}

/* The total of a member, without sums of images; NaN: it has no data. */
static double member_total(const struct spread *s, uint32_t member, bool *ret_data)
{
	double total = 0;

	for (uint32_t d = 0; d < s->n_dimensions; d++) {
		double value = s->dimensions[d].values[(size_t)PARTS * s->n + member];

		if (!isnan(value) && !(s->g->sums && s->dimensions[d].dimension >= s->g->n_plain))
			total += value;
		*ret_data |= !isnan(value);
	}
	return total;
}

static void places_totals(const struct spread *s, struct vector_place *ret)
{
	struct median_split split;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		bool data = false;

		ret[i].own = member_total(s, i, &data);
		if (!data)
			ret[i].own = NAN;
		else
			s->scratch[n++] = ret[i].own;
	}
	split = median_split(s->scratch, n);
	for (uint32_t i = 0; i < s->n; i++)
		ret[i].peers = isnan(ret[i].own) ? median_of_all(&split)
						 : median_of_others(&split, ret[i].own);
}

int vector_spread_window(const struct vector_group *g, uint32_t first, struct vector_place *ret)
{
	_cleanup_(spread_release) struct spread s = {0};
	int r = spread_compare(g, first, &s);

	if (r < 0)
		return r;
	places_totals(&s, ret);
	for (uint32_t i = 0; i < s.n; i++) {
		ret[i].vote = isnan(ret[i].own) || isnan(ret[i].peers) ? NAN : 0;
		ret[i].more = ret[i].apart = 0;
		ret[i].peer = VECTOR_NOBODY;
	}
	for (size_t i = 0; i < s.n_hits; i++) {
		const struct hit *h = &s.hits[i];
		double times = exact(fabs(h->own - h->usual) / h->spread);

		ret[h->member].vote += times;
		ret[h->member].more += h->own > h->usual ? times : 0;
		ret[h->member].apart += exact(fabs(h->own - h->usual));
	}
	return 0;
}

/* A member's amounts in all compared dimensions, and the usual ones. */
static int member_vectors(
	const struct spread *s, uint32_t member, struct vector *own, struct vector *usual)
{
	int r = 0;

	for (uint32_t d = 0; r == 0 && d < s->n_dimensions; d++) {
		const struct compared *c = &s->dimensions[d];
		double value = c->values[(size_t)PARTS * s->n + member];
		uint32_t n = part_values(s, d, PARTS, s->scratch);
		struct median_split split = median_split(s->scratch, n);

		r = vector_add(own, c->dimension, value);
		if (r == 0)
			r = vector_add(usual, c->dimension,
				median_of_others(&split, value / s->load[member]) *
					s->load[member]);
	}
	vector_finish(own);
	vector_finish(usual);
	return r;
}

int vector_spread_blame(
	const struct vector_group *g, uint32_t member, uint32_t first, struct vector_blame *blame)
{
	_cleanup_(spread_release) struct spread s = {0};
	_cleanup_(vector_release) struct vector own = {0};
	_cleanup_(vector_release) struct vector usual = {0};
	_cleanup_free_ double *weights = calloc((size_t)g->view.dimensions.n + 1, sizeof(*weights));
	int r = weights ? spread_compare(g, first, &s) : -ENOMEM;

	if (r == 0)
		r = member_vectors(&s, member, &own, &usual);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s.n_hits; i++) {
		if (s.hits[i].member == member)
			weights[s.dimensions[s.hits[i].at].dimension] = 1 / s.hits[i].spread;
	}
	return vector_blame_add(blame, &own, &usual, weights);
}
