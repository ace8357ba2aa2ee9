/* What the clients do: jobs come and go, read their input, write checkpoints; some hours are quiet.
 */
#include "base/array.h"
#include "base/time.h"
#include "intrepid.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RATE_MAX 180.0 /* requests a second of a LUN */

/* How much of a job's reads and writes fall on the old LUNs and on the new ones, which are empty.
 */
static const double read_share[2] = {1, 0.25}, write_share[2] = {0.45, 1};

static void add(const struct intrepid *sys, double from_s, double to_s, double reads, double writes)
{
	double step_s = (double)sys->step_us / 1e6;
	int64_t n = sys->n_days * sys->steps_a_day;
	int64_t first = (int64_t)(from_s / step_s), end = (int64_t)(to_s / step_s) + 1;

	for (int64_t k = first < 0 ? 0 : first; k < n && k < end; k++) {
		for (int set = 0; set < 2; set++) {
			sys->reads[set][k] += (float)(reads * read_share[set]);
			sys->writes[set][k] += (float)(writes * write_share[set]);
		}
	}
}

static void add_job(const struct intrepid *sys, struct rng *r, double start_s)
{
	double length_s = fmin(rng_lognormal(r, 2400, 1.1), 43200);
	double input_s = fmin(length_s, rng_lognormal(r, 120, 0.8));
	double every_s = 600 + 2400 * rng_uniform(r), write_s = 30 + 150 * rng_uniform(r);
	double read_rate = rng_lognormal(r, 18, 0.7), write_rate = rng_lognormal(r, 35, 0.7);
	double idle = 0.3 + 2 * rng_uniform(r), at = every_s;

	add(sys, start_s, start_s + input_s, read_rate, 0);
	add(sys, start_s, start_s + length_s, idle, idle * 0.6);
	while (at < length_s) {
		add(sys, start_s + at, start_s + at + write_s, 0, write_rate);
		at += every_s * (0.95 + 0.1 * rng_uniform(r));
	}
}

/* Nobody works: maintenance, or nobody has anything to do. */
static void add_quiet(const struct intrepid *sys, struct rng *r, double start_s)
{
	double step_s = (double)sys->step_us / 1e6, length_s = 1200 + 5400 * rng_uniform(r);
	int64_t n = sys->n_days * sys->steps_a_day;
	int64_t first = (int64_t)(start_s / step_s), end = (int64_t)((start_s + length_s) / step_s);

	for (int64_t k = first; k < n && k < end; k++) {
		for (int set = 0; set < 2; set++) {
			sys->reads[set][k] *= 0.04F;
			sys->writes[set][k] *= 0.04F;
		}
	}
}

/* The people's day, and how the rest wanders. */
static void add_wander(const struct intrepid *sys, struct rng *r)
{
	double step_s = (double)sys->step_us / 1e6, level = 0, keep = exp(-step_s / 900);
	int64_t n = sys->n_days * sys->steps_a_day;

	for (int64_t k = 0; k < n; k++) {
		double hour = fmod((double)k * step_s / 3600 + 18, 24);
		double day = 1 + 0.4 * sin((hour - 9) / 24 * 2 * M_PI);

		level = level * keep + sqrt(1 - keep * keep) * rng_normal(r);
		for (int set = 0; set < 2; set++) {
			double f = day * exp(0.3 * level);

			sys->reads[set][k] = (float)fmin(
				RATE_MAX, (sys->reads[set][k] + 1.5 * read_share[set]) * f);
			sys->writes[set][k] = (float)fmin(
				RATE_MAX, (sys->writes[set][k] + 1.5 * write_share[set]) * f);
		}
	}
}

/* Servers that read a little from all of their LUNs, for hours or days. */
static int work_make(struct intrepid *sys, struct rng *r)
{
	double step_s = (double)sys->step_us / 1e6;
	double end_s = (double)(sys->n_days * sys->steps_a_day) * step_s;
	double each_s = 1.5 * 86400 * 16 / sys->n_arrays, at = -86400 * log(1 - rng_uniform(r));

	while (at < end_s) {
		struct server_work w = {.server = rng_below(r, sys->n_arrays * SERVERS),
			.first = (int64_t)(at / step_s),
			.rate = 0.2 + 0.8 * rng_uniform(r),
			.await_ms = 0.2 + 0.5 * rng_uniform(r)};

		w.end = w.first + (int64_t)(rng_lognormal(r, 14 * 3600, 0.8) / step_s);
		if (array_reserve(&sys->work, &sys->cap_work, sys->n_work + 1, sizeof(*sys->work)) <
			0)
			return -ENOMEM;
		sys->work[sys->n_work++] = w;
		at += -each_s * log(1 - rng_uniform(r));
	}
	return 0;
}

int load_make(struct intrepid *sys, struct lp_err *err)
{
	struct rng r = rng_make(sys->seed, 1);
	double end_s = (double)sys->n_days * 86400, at = -20000;

	for (int set = 0; set < 2; set++) {
		sys->reads[set] = calloc((size_t)(sys->n_days * sys->steps_a_day), sizeof(float));
		sys->writes[set] = calloc((size_t)(sys->n_days * sys->steps_a_day), sizeof(float));
		if (!sys->reads[set] || !sys->writes[set])
			return lp_err_sys(err, -ENOMEM, "cannot make the load");
	}
	while (at < end_s) {
		add_job(sys, &r, at);
		at += -1800 * log(1 - rng_uniform(&r));
	}
	add_wander(sys, &r);
	at = 5 * 3600;
	while (at < end_s) {
		add_quiet(sys, &r, at);
		at += 4 * 3600 + 20 * 3600 * rng_uniform(&r);
	}
	if (!sys->quiet && work_make(sys, &r) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot make the load");
	return 0;
}
