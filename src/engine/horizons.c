#include "engine/horizons.h"

#include "base/time.h"

#define MINUTE (60 * US_PER_SEC)
#define HOUR (60 * MINUTE)

const struct horizon horizons[] = {
	{.name = "fast", .step_us = 0, .window_us = MINUTE / 2, .span_us = HOUR / 2},
	{.name = "slow",
		.step_us = 15 * US_PER_SEC,
		.window_us = 15 * MINUTE,
		.span_us = US_PER_DAY,
		.keeps_all = true},
	{0},
};

static int64_t step_of(const struct horizon *h, int64_t interval_us)
{
	return h->step_us > interval_us ? h->step_us : interval_us;
}

bool horizon_applies(const struct horizon *h, int64_t interval_us)
{
	const struct horizon *coarser = h + 1;

	return !coarser->name || step_of(h, interval_us) < step_of(coarser, interval_us);
}

struct lp_params horizon_params(const struct horizon *h, int64_t interval_us)
{
	int64_t step = step_of(h, interval_us), size = h->window_us / step;

	size = size < HORIZON_SAMPLES_LEAST ? HORIZON_SAMPLES_LEAST : size;
	return (struct lp_params){.smooth = (uint32_t)(size / 4),
		.win_size = (uint32_t)size,
		.win_shift = (uint32_t)(size / 2),
		.k = 3,
		.step_us = step};
}

uint32_t horizon_n_windows(const struct horizon *h, const struct lp_params *p)
{
	int64_t n = h->span_us / (p->step_us * p->win_shift);

	return n < HORIZON_EPOCH ? HORIZON_EPOCH : (uint32_t)n;
}
