/* Thresholds of the command line: "5" for all metrics, "await=5" for one. */
#include "detect/train/thresholds.h"

#include "base/cleanup.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool threshold_value_parse(const char *text, double *ret)
{
	double value;
	char *end;

	/* strtod() also accepts spaces, signs, hexadecimal numbers, "nan" and "inf". */
	if (!*text || text[strspn(text, "0123456789.eE+-")] || *text == '+')
		return false;
	value = strtod(text, &end);
	if (*end || !isfinite(value) || signbit(value))
		return false;
	*ret = value;
	return true;
}

int threshold_option_parse(
	const char *text, char **ret_metric, double *ret_value, struct lp_err *err)
{
	const char *sign = strrchr(text, '=');
	_cleanup_free_ char *metric = sign ? strndup(text, (size_t)(sign - text)) : NULL;

	if (sign && !metric)
		return lp_err_sys(err, -ENOMEM, "cannot read a threshold");
	if (sign == text)
		return lp_err_set(
			err, -EINVAL, "'%.64s' names no metric (want await=5, or 5)", text);
	if (!threshold_value_parse(sign ? sign + 1 : text, ret_value))
		return lp_err_set(err, -EINVAL,
			"'%.64s' is not a threshold: want a number not below 0, as in await=5 or 5",
			text);
	*ret_metric = TAKE_PTR(metric);
	return 0;
}

static bool same_metric(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

int fixed_thresholds_parse(
	const char *const *texts, unsigned n, struct fixed_thresholds *ret, struct lp_err *err)
{
	for (unsigned i = 0; i < n; i++) {
		int r;

		if (ret->n >= FIXED_THRESHOLDS_MAX)
			return lp_err_set(
				err, -E2BIG, "more than %d thresholds", FIXED_THRESHOLDS_MAX);
		r = threshold_option_parse(
			texts[i], &ret->items[ret->n].metric, &ret->items[ret->n].value, err);
		if (r < 0)
			return r;
		ret->n++;
		for (unsigned k = 0; k + 1 < ret->n; k++) {
			const char *metric = ret->items[k].metric;

			if (same_metric(metric, ret->items[ret->n - 1].metric))
				return lp_err_set(err, -EINVAL, "two thresholds for %s",
					metric ? metric : "all metrics");
		}
	}
	return 0;
}

void fixed_thresholds_release(struct fixed_thresholds *f)
{
	for (unsigned i = 0; i < f->n; i++)
		free(f->items[i].metric);
	f->n = 0;
}

bool fixed_thresholds_get(const struct fixed_thresholds *f, const char *metric, double *ret)
{
	bool found = false;

	for (unsigned i = 0; i < f->n; i++) {
		bool own = f->items[i].metric && !strcmp(f->items[i].metric, metric);

		if (!own && (found || f->items[i].metric))
			continue;
		*ret = f->items[i].value;
		found = true;
		if (own)
			break;
	}
	return found;
}
