#include "cli/profile_options.h"

#include "base/meant.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int clock_choose(const char *name, enum sampler_clock *ret, struct lp_err *err)
{
	static const char *const names[] = {"auto", "cycles", "time", NULL};
	struct meant m;

	*ret = SAMPLER_CLOCK_AUTO;
	if (!name || !strcmp(name, "auto"))
		return 0;
	if (!strcmp(name, "cycles"))
		*ret = SAMPLER_CLOCK_CYCLES;
	else if (!strcmp(name, "time"))
		*ret = SAMPLER_CLOCK_TIME;
	else
		return lp_err_set(err, -EINVAL, "--clock: '%s' is none of auto, cycles, time%s",
			name, meant_among(&m, name, names));
	return 0;
}

static int sampler_check(const char *name, struct lp_err *err)
{
	static const char *const names[] = {"auto", "bpf", "ring", NULL};
	struct meant m;

	if (!name || !strcmp(name, "auto") || sampler_find(name))
		return 0;
	if (!strcmp(name, "bpf"))
		return lp_err_set(err, -EOPNOTSUPP,
			"--sampler: limpet was built without bpf, which needs libbpf and clang "
			"(meson -Dtrace=enabled says what is missing)");
	return lp_err_set(err, -EINVAL, "--sampler: '%s' is none of auto, bpf, ring%s", name,
		meant_among(&m, name, names));
}

/* 0 would mean the default. */
static int frequency_parse(const char *text, unsigned *ret, struct lp_err *err)
{
	char *end;
	unsigned long hz;

	*ret = 0;
	if (!text)
		return 0;
	hz = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || hz < 1 || hz > SAMPLER_HZ_MAX)
		return lp_err_set(err, -EINVAL,
			"--frequency: '%.32s' is not a whole number from 1 to %d", text,
			SAMPLER_HZ_MAX);
	*ret = (unsigned)hz;
	return 0;
}

int profile_options_apply(
	const struct profile_options *o, struct profile_config *config, struct lp_err *err)
{
	int r = clock_choose(o->clock, &config->clock, err);

	if (r == 0)
		r = sampler_check(o->sampler, err);
	if (r == 0)
		r = frequency_parse(o->frequency, &config->hz, err);
	if (r < 0)
		return r;
	config->sampler = o->sampler;
	config->stacks = o->stacks;
	return 0;
}
