#include "detect/compare/timeseries.h"

#include "base/cleanup.h"
#include "base/median.h"
#include <errno.h>
#include <stdlib.h>

#define WIDTH_US INT64_C(31000000)

/* No call is this fast, in any unit. It avoids the logarithm of 0. */
#define SERVICE_LEAST 1e-9

/* Parameters of a comparison. */
struct comparing {
	enum lp_role role;
	double floor;
	uint32_t n_least; /* this many members must have a value */
};

uint32_t timeseries_width(int64_t step_us)
{
	int64_t width = step_us > 0 ? (WIDTH_US + step_us / 2) / step_us : 1;

	return width < 1 ? 1 : width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
}

bool timeseries_applies(const struct detect_options *opt, enum lp_role role)
{
	enum service_method service = opt->service ? opt->service : SERVICE_USUAL;

	return role == LP_ROLE_WINDOW || (role == LP_ROLE_SERVICE && service == SERVICE_SERIES);
}

void timeseries_params(struct lp_params *p)
{
	p->win_size = p->win_shift = 1;
	p->k = 1;
	p->smooth = timeseries_width(p->step_us);
}

static double log_of(const struct comparing *c, double v)
{
	if (!value_usable(v))
		return NAN;
	return log2(c->role == LP_ROLE_SERVICE ? fmax(v + c->floor, SERVICE_LEAST) : fmax(v, 2));
}

/* Turn one slot of all members from logarithms into values to compare with thresholds. */
static void compare_slot(const struct comparing *c, const struct smoothed *s, size_t slot,
	uint64_t *keys, double *ret)
{
	uint64_t *work = keys + s->n_members;
	size_t n = 0;
	double median;

	for (uint32_t m = 0; m < s->n_members; m++) {
		double own = ret[(size_t)m * s->n_slots + slot];

		keys[n] = order_key(own);
		n += !isnan(own);
	}
	median = n >= c->n_least ? order_quantile(keys, n, 0.5, work) : NAN;
	for (uint32_t m = 0; m < s->n_members; m++) {
		double *own = &ret[(size_t)m * s->n_slots + slot];

		*own = c->role == LP_ROLE_SERVICE ? *own - median : median / *own;
	}
}

static int compare(const struct comparing *c, const struct smoothed *s, double *ret)
{
	bool many = (size_t)s->n_members * s->n_slots >= VOTES_MANY;
	int failed = 0;

#pragma omp parallel reduction(min : failed) if (many)
	{
		_cleanup_free_ uint64_t *keys =
			calloc(2 * ((size_t)s->n_members + 1), sizeof(*keys));

		failed = keys ? 0 : -ENOMEM;
#pragma omp for schedule(static)
		for (uint32_t slot = 0; slot < s->n_slots; slot++) {
			if (keys)
				compare_slot(c, s, slot, keys, ret);
		}
	}
	return failed;
}

int timeseries_votes(const struct group_data *g, const struct timeseries_how *how, double *ret)
{
	bool service = how->role == LP_ROLE_SERVICE;
	struct comparing c = {how->role, how->floor, service ? SERVICE_MEMBERS_LEAST : 2};
	_cleanup_(smoothed_release) struct smoothed s = {0};
	int64_t from = how->origin + how->width / 2;
	int r = smooth_group(g, how->width, service ? how->width : 0, &s);

	if (r < 0)
		return r;
#pragma omp parallel for schedule(static) if ((size_t)s.n_members * s.n_slots >= VOTES_MANY)
	for (uint32_t m = 0; m < s.n_members; m++) {
		for (size_t i = 0; i < s.n_slots; i++)
			ret[m * (size_t)s.n_slots + i] =
				s.rows[m] && (int64_t)i >= from ? log_of(&c, s.rows[m][i]) : NAN;
	}
	return compare(&c, &s, ret);
}
