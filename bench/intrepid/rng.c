#include "intrepid.h"
#include <math.h>

struct rng rng_make(uint64_t seed, uint64_t stream)
{
	struct rng r = {
		seed * UINT64_C(0x9e3779b97f4a7c15) + stream * UINT64_C(0xd1342543de82ef95) + 1};

	for (int i = 0; i < 4; i++)
		rng_uniform(&r);
	return r;
}

/* splitmix64 */
static uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

double rng_uniform(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

unsigned rng_below(struct rng *r, unsigned n)
{
	return n ? (unsigned)(rng_next(r) % n) : 0;
}

/* The sum of eight bytes' bits and a little more: near enough to normal, and quick. Tails end
 * at 4.9 standard deviations. */
double rng_normal(struct rng *r)
{
	uint64_t z = rng_next(r);
	double sum = 0;

	for (int i = 0; i < 4; i++, z >>= 16)
		sum += (double)(z & 0xffff);
	sum = (sum / 65535 - 2) * 1.7320508075688772; /* of four uniform ones */
	return sum * (0.93 + 0.023 * sum * sum);      /* with tails */
}

double rng_lognormal(struct rng *r, double median, double sigma)
{
	return median * exp(sigma * rng_normal(r));
}

unsigned rng_poisson(struct rng *r, double mean)
{
	double limit, product = 1;
	unsigned n = 0;

	if (!(mean > 0))
		return 0;
	if (mean > 25) {
		double v = mean + sqrt(mean) * rng_normal(r) + 0.5;

		return v > 0 ? (unsigned)v : 0;
	}
	limit = exp(-mean);
	while ((product *= rng_uniform(r)) > limit)
		n++;
	return n;
}
