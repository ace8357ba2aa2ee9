#include "cli/profile_options.h"

#include <errno.h>
#include <string.h>

static int clock_choose(const char *name, enum sampler_clock *ret, struct lp_err *err)
{
	*ret = SAMPLER_CLOCK_AUTO;
	if (!name || !strcmp(name, "auto"))
		return 0;
	if (!strcmp(name, "cycles"))
		*ret = SAMPLER_CLOCK_CYCLES;
	else if (!strcmp(name, "time"))
		*ret = SAMPLER_CLOCK_TIME;
	else
		return lp_err_set(
			err, -EINVAL, "--clock: '%s' is none of auto, cycles, time", name);
	return 0;
}

static int sampler_check(const char *name, struct lp_err *err)
{
	if (!name || !strcmp(name, "auto") || sampler_find(name))
		return 0;
	if (!strcmp(name, "bpf"))
		return lp_err_set(err, -EOPNOTSUPP,
			"--sampler: limpet was built without bpf, which needs libbpf and clang "
			"(meson -Dtrace=enabled says what is missing)");
	return lp_err_set(err, -EINVAL, "--sampler: '%s' is none of auto, bpf, ring", name);
}

int profile_options_apply(
	const struct profile_options *o, struct profile_config *config, struct lp_err *err)
{
	int r = clock_choose(o->clock, &config->clock, err);

	if (r == 0)
		r = sampler_check(o->sampler, err);
	if (r < 0)
		return r;
	if (o->frequency > SAMPLER_HZ_MAX)
		return lp_err_set(err, -EINVAL, "--frequency must be from 1 to %d", SAMPLER_HZ_MAX);
	config->hz = (unsigned)o->frequency;
	config->sampler = o->sampler;
	config->stacks = o->stacks;
	return 0;
}
