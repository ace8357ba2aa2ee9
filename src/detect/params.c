#include "detect/params.h"

#include "detect/compare/votes.h"
#include "detect/group/verdict_tables.h"
#include <errno.h>
#include <string.h>

#define STEP_PRODUCTION_US (INT64_C(15) * 1000000)
#define SPAN_PRODUCTION_US (INT64_C(2) * 3600 * 1000000)
#define WIN_SIZE_LEAST 30 /* when windows are halved */
#define WIN_SIZE_FIT 24	  /* when windows are shortened to fit the data */
#define WIN_SIZE_MOST 1000000

int64_t detect_step(int64_t interval_us, int64_t span_us)
{
	if (interval_us < STEP_PRODUCTION_US && span_us >= SPAN_PRODUCTION_US)
		return STEP_PRODUCTION_US;
	return interval_us;
}

static uint32_t choose(uint32_t asked, uint32_t trained, uint32_t usual)
{
	if (asked)
		return asked;
	return trained ? trained : usual;
}

/* Half-overlapping windows, 2k-1 of them, cover k window sizes. If the data is a few samples too
 * short for that, slightly smaller windows lose less than leaving out the last window. */
static void params_fit(struct lp_params *p, uint32_t n_slots)
{
	uint32_t size = n_slots / p->k;

	if (window_count(p, n_slots) >= 2 * p->k - 1 || size < WIN_SIZE_FIT || size >= p->win_size)
		return;
	p->win_size = size;
	p->win_shift = size / 2;
}

/* Use smaller windows if there are too few for a suspect. */
static int params_shrink(const struct detect_options *opt, uint32_t n_slots, struct lp_verdict *v,
	struct lp_params *p)
{
	uint32_t usual = p->win_size;

	if (!n_slots || opt->params.win_size || opt->params.win_shift || opt->trained)
		return 0;
	while (window_count(p, n_slots) < 2 * p->k - 1 && p->win_size / 2 >= WIN_SIZE_LEAST) {
		p->win_size /= 2;
		p->win_shift = p->win_size / 2;
		if (!opt->params.smooth && p->smooth > p->win_size / 4)
			p->smooth = p->win_size / 4;
	}
	params_fit(p, n_slots);
	if (p->win_size == usual)
		return 0;
	return lp_verdict_note(v,
		"%u samples are too few for windows of %u: they have %u samples, shifted by %u",
		n_slots, usual, p->win_size, p->win_shift);
}

static bool has_functions(const struct lp_table *t)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (!strcmp(t->components[i]->kind, FUNCTION_KIND))
			return true;
	}
	return false;
}

void params_in_time(
	const struct measure *m, struct lp_table *const *tables, uint32_t n, struct lp_params *p)
{
	bool functions = false;
	int64_t size;

	for (uint32_t i = 0; i < n && m->window_us && !functions; i++)
		functions = has_functions(tables[i]);
	if (!functions || tables[0]->step_us <= 0)
		return;
	size = m->window_us / tables[0]->step_us;
	if (size > WIN_SIZE_MOST)
		return;
	p->win_size = size < 2 ? 2 : (uint32_t)size;
	p->win_shift = p->win_size / 2;
}

int params_resolve(const struct detect_options *opt, uint32_t n_slots, struct lp_verdict *v,
	struct lp_params *ret, struct lp_err *err)
{
	const struct lp_params none = {0}, *usual = &opt->measure->defaults;
	const struct lp_params *trained = opt->trained ? thresholds_params(opt->trained) : &none;
	struct lp_params p = {
		.smooth = choose(opt->params.smooth, trained->smooth, usual->smooth),
		.win_size = choose(opt->params.win_size, trained->win_size, usual->win_size),
		.win_shift = choose(opt->params.win_shift, trained->win_shift, usual->win_shift),
		.k = choose(opt->params.k, trained->k, usual->k),
		.step_us = v->n_tables ? v->tables[0]->step_us : 0,
	};

	if (!opt->params.win_size && !opt->params.win_shift && !opt->trained)
		params_in_time(opt->measure, v->tables, v->n_tables, &p);
	if (opt->params.win_size && !opt->params.win_shift)
		p.win_shift = p.win_size > 1 ? p.win_size / 2 : 1;
	if (p.win_size < 2)
		return lp_err_set(err, -EINVAL, "--win-size must be at least 2");
	if (p.win_shift > p.win_size)
		return lp_err_set(err, -EINVAL,
			"--win-shift %u is more than --win-size %u: samples between windows would "
			"never be compared",
			p.win_shift, p.win_size);
	if (params_shrink(opt, n_slots, v, &p) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	*ret = p;
	return 0;
}
