#include "lun.h"

#include <math.h>
#include <string.h>

#define READ_MS 5.0
#define WRITE_MS 2.5
#define CAPACITY 220.0 /* requests a second */
#define ODD_DAYS 24.0  /* between transient asymmetries of a LUN: some 50 a day in all */

static double exponential(struct rng *r)
{
	return -log(1 - rng_uniform(r));
}

/* When the LUN is next out of line, for a while, and how. */
static void odd_schedule(struct lun *l, const struct intrepid *sys)
{
	double steps_a_day = (double)sys->steps_a_day;

	l->odd_first = l->odd_end + (int64_t)(exponential(&l->rng) * ODD_DAYS * steps_a_day);
	l->odd_end =
		l->odd_first + (int64_t)((10 + 50 * rng_uniform(&l->rng)) / 1440 * steps_a_day);
	l->odd_rate = l->odd_await = 1;
	if (rng_uniform(&l->rng) < 0.5)
		l->odd_rate = 2 + 2 * rng_uniform(&l->rng);
	else
		l->odd_await = 1.5 + 2.5 * rng_uniform(&l->rng);
	if (sys->quiet)
		l->odd_first = INT64_MAX;
}

void lun_init(struct lun *l, const struct intrepid *sys, unsigned array, unsigned number)
{
	*l = (struct lun){.array = array,
		.number = number,
		.rng = rng_make(sys->seed, 100000 + (uint64_t)array * LUNS + number)};
	l->read_share = rng_lognormal(&l->rng, 1, 0.06);
	l->write_share = rng_lognormal(&l->rng, 1, 0.06);
	l->service = rng_lognormal(&l->rng, 1, 0.05);
	odd_schedule(l, sys);
}

/* What events make of a LUN while none begins or ends. */
struct lun_state {
	uint8_t present, usable; /* bits: servers */
	double rate, await;
	bool jitter;
};

static void event_apply(const struct event *e, unsigned lun, struct lun_state *st)
{
	switch (e->kind) {
	case CONTROLLER_FAILED:
	case MISSING_ON_SERVERS:
	case SERVER_DOWN:
		st->present &= (uint8_t)~e->servers;
		st->usable &= (uint8_t)~e->servers;
		break;
	case SERVER_BAD_STATE:
	case LOST_COHERENCY:
		st->usable &= (uint8_t)~e->servers;
		break;
	case DRAWER_ERRORS:
		st->jitter = true;
		break;
	case SLOW_LUN:
		st->await *= e->factor > 0 ? e->factor : 4;
		break;
	case SLOW_LUN_LOAD:
		st->rate *= e->factor > 0 ? e->factor : 5;
		st->await *= 2;
		break;
	default:
		break;
	}
	(void)lun;
}

/* The state from step `at` on, and how long it lasts, up to `end`. */
static int64_t state_at(const struct lun *l, const struct intrepid *sys, int64_t at, int64_t end,
	struct lun_state *ret)
{
	*ret = (struct lun_state){0xff, 0xff, 1, 1, false};
	for (size_t i = 0; i < sys->n_events; i++) {
		const struct event *e = &sys->events[i];
		bool active = event_active(sys, e, at);

		if (e->array != l->array || !e->luns[l->number])
			continue;
		if (active)
			event_apply(e, l->number, ret);
		for (int64_t k = at + 1; k < end; k++) {
			if (event_active(sys, e, k) != active)
				end = k;
		}
	}
	return end;
}

static uint8_t route(const struct lun *l, uint8_t usable)
{
	for (unsigned p = 0; p < SERVERS; p++) {
		unsigned s = server_of(l->number, p);

		if (usable >> s & 1)
			return (uint8_t)s;
	}
	return NOBODY;
}

/* Milliseconds as the kernel counts them; what is cut off here is made up for elsewhere. */
static uint32_t whole_ms(struct rng *r, double ms)
{
	return (uint32_t)(ms + rng_uniform(r));
}

/* Errors of a drawer: every few seconds some requests wait for tens to hundreds of ms. */
static double jitter_ms(struct rng *r, double step_s, unsigned n)
{
	unsigned errors = rng_poisson(r, step_s / 4);
	double ms = 0;

	while (errors--)
		ms += 30 + 300 * rng_uniform(r);
	return ms * fmax(1, n * 0.1);
}

static void lun_step(struct lun *l, const struct intrepid *sys, const struct lun_state *st,
	int64_t at, unsigned s, struct lun_frame *f)
{
	bool odd = at >= l->odd_first;
	int set = l->number >= OLD_LUNS;
	double step_s = (double)sys->step_us / 1e6, rate = st->rate * (odd ? l->odd_rate : 1);
	double reads = sys->reads[set][at] * l->read_share * rate;
	double writes = sys->writes[set][at] * l->write_share * rate;
	double busy = fmin(0.92, (reads + writes) / CAPACITY), await;
	unsigned r = rng_poisson(&l->rng, reads * step_s),
		 w = rng_poisson(&l->rng, writes * step_s);

	if (at >= l->odd_end)
		odd_schedule(l, sys);
	f->reads[s] = r;
	f->writes[s] = w;
	f->read_ms[s] = f->write_ms[s] = 0;
	if (!r && !w)
		return;
	await = l->service * st->await * (odd ? l->odd_await : 1) * (1 + 1.2 * busy / (1 - busy)) *
		exp((0.2 + 0.4 / sqrt(r + w)) * rng_normal(&l->rng));
	f->read_ms[s] = whole_ms(&l->rng, r * READ_MS * await);
	f->write_ms[s] = whole_ms(&l->rng, w * WRITE_MS * await);
	if (st->jitter) {
		double ms = jitter_ms(&l->rng, step_s, r + w);

		f->read_ms[s] += (uint32_t)(ms * r / (r + w));
		f->write_ms[s] += (uint32_t)(ms * w / (r + w));
	}
}

void lun_run(
	struct lun *l, const struct intrepid *sys, int64_t first, unsigned n, struct lun_frame *ret)
{
	for (int64_t at = first, end; at < first + n; at = end) {
		struct lun_state st;
		unsigned from = (unsigned)(at - first), length;

		end = state_at(l, sys, at, first + n, &st);
		length = (unsigned)(end - at);
		memset(ret->by + from, route(l, st.usable), length);
		memset(ret->present + from, st.present, length);
		for (unsigned s = from; s < from + length; s++)
			lun_step(l, sys, &st, first + s, s, ret);
	}
}
