#include "cli/method_options.h"

#include "base/meant.h"
#include "base/time.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer windows and averages are typing errors. */
#define SAMPLES_MAX 1000000
#define K_MAX 1000

/* Parse `text`, if it was given, into `*value`. */
static int number_take(const char *name, const char *text, uint32_t min, uint32_t max,
	uint32_t *value, struct lp_err *err)
{
	unsigned long n;
	char *end;

	if (!text)
		return 0;
	n = strtoul(text, &end, 10); /* on overflow it is ULONG_MAX, which is also too large */
	if (!isdigit((unsigned char)*text) || *end || n < min || n > max)
		return lp_err_set(err, -EINVAL,
			"--%s: want a whole number from %u to %u, not '%.64s'", name, min, max,
			text);
	*value = (uint32_t)n;
	return 0;
}

/* Override `p` with the given options. */
static int params_take(const struct method_options *o, struct lp_params *p, struct lp_err *err)
{
	int r = number_take("win-size", o->win_size, 2, SAMPLES_MAX, &p->win_size, err);

	if (r == 0 && o->win_size)
		p->win_shift = p->win_size / 2;
	if (r == 0)
		r = number_take("win-shift", o->win_shift, 1, SAMPLES_MAX, &p->win_shift, err);
	if (r == 0)
		r = number_take("smooth", o->smooth, 1, SAMPLES_MAX, &p->smooth, err);
	if (r == 0)
		r = number_take("k", o->k, 1, K_MAX, &p->k, err);
	if (r == 0 && o->downsample_us < 0)
		r = lp_err_set(err, -EINVAL, "--downsample: a span of time must be longer than 0");
	if (r < 0)
		return r;
	if (o->downsample_us)
		p->step_us = o->downsample_us;
	return 0;
}

static int measure_unknown(const char *name, const struct measure *const *all, struct lp_err *err)
{
	char list[200] = "";
	size_t len = 0;
	struct meant m = {.word = name};

	for (const struct measure *const *i = all; *i; i++)
		meant_consider(&m, (*i)->name);
	for (; *all && len < sizeof(list); all++)
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s%s", len ? ", " : "", (*all)->name);
	return lp_err_set(err, -EINVAL, "--method: there is no method '%.64s'%s (there are %s)",
		name, meant_question(&m), list);
}

int method_options_choose(const struct method_options *o, const struct measure *const *all,
	const struct measure **ret_measure, struct lp_params *ret_params, struct lp_err *err)
{
	const char *name = o->method ? o->method : METHOD_DEFAULT;
	const struct measure *const *m = all;
	struct lp_params p;
	int r;

	while (*m && strcmp((*m)->name, name))
		m++;
	if (!*m)
		return measure_unknown(name, all, err);
	p = (*m)->defaults;
	r = params_take(o, &p, err);
	if (r == 0 && p.win_shift > p.win_size)
		r = lp_err_set(err, -EINVAL,
			"--win-shift: %u is more than a window of %u samples, so that some would "
			"be in none",
			p.win_shift, p.win_size);
	if (r < 0)
		return r;
	*ret_measure = *m;
	*ret_params = p;
	return 0;
}

static int differs(const char *option, const char *file, struct lp_err *err)
{
	return lp_err_set(err, -EINVAL,
		"--%s is not what the thresholds in %s were learnt with (leave it out, or train "
		"again)",
		option, file);
}

int method_options_agree(const struct method_options *o, const char *method, const char *service,
	const struct lp_params *params, const char *file, struct lp_err *err)
{
	struct lp_params p = *params;
	int r = params_take(o, &p, err);

	if (r < 0)
		return r;
	if (o->method && strcmp(o->method, method))
		return differs("method", file, err);
	if (o->service && service && strcmp(o->service, service) != 0)
		return differs("service-method", file, err);
	if (p.win_size != params->win_size)
		return differs("win-size", file, err);
	/* A size without a shift implies a shift, but does not require one. */
	if (o->win_shift && p.win_shift != params->win_shift)
		return differs("win-shift", file, err);
	if (p.smooth != params->smooth)
		return differs("smooth", file, err);
	if (p.k != params->k)
		return differs("k", file, err);
	return p.step_us != params->step_us ? differs("downsample", file, err) : 0;
}
