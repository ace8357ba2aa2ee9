/* Options that choose a method and its parameters, the same in `limpet train` and `limpet
 * diagnose`. The options struct of a command has a member `struct method_options method;`, and its
 * table has METHOD_OPTIONS(struct its_options). */
#ifndef CLI_METHOD_OPTIONS_H
#define CLI_METHOD_OPTIONS_H

#include "base/option.h"
#include "detect/compare/measure.h"

#define METHOD_DEFAULT "cdf"

struct method_options {
	const char *method; /* NULL: not given; the same for the others */
	const char *service;
	const char *win_size, *win_shift, *smooth, *k;
	int64_t downsample_us; /* 0: not given */
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses. */
#define METHOD_OPTIONS(type)                                                                       \
	{"method", 0, OPTION_STRING, offsetof(type, method.method), "NAME",                        \
		"how to measure the distance of two components: kl, cdf, median, thresh or "       \
		"manhattan "                                                                       \
		"[" METHOD_DEFAULT "]"},                                                           \
		{"service-method", 0, OPTION_STRING, offsetof(type, method.service), "NAME",       \
			"how to compare service times of system calls: series (each second with "  \
			"the median of the peers), or the --method of all other metrics "          \
			"[series]"},                                                               \
		{"win-size", 0, OPTION_STRING, offsetof(type, method.win_size), "N",               \
			"samples per window [the method's: kl 64, cdf 60]"},                       \
		{"win-shift", 0, OPTION_STRING, offsetof(type, method.win_shift), "N",             \
			"samples from one window to the next [half of --win-size]"},               \
		{"smooth", 0, OPTION_STRING, offsetof(type, method.smooth), "N",                   \
			"samples of the moving average; 1: none [the method's: kl 5, cdf 15]"},    \
		{"k", 'k', OPTION_STRING, offsetof(type, method.k), "N",                           \
			"a suspect is anomalous in N of the last 2N-1 windows [3]"},               \
	{                                                                                          \
		"downsample", 0, OPTION_SPAN, offsetof(type, method.downsample_us), "SPAN",        \
			"first merge all samples of each SPAN into one "                           \
			"[the interval of the data, or 15 s if there are hours of data]"           \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* Choose a measure from `all` (the table `measures`) and its parameters; missing ones are the
 * defaults of the measure. -EINVAL: `err` names the wrong option. */
int method_options_choose(const struct method_options *o, const struct measure *const *all,
	const struct measure **ret_measure, struct lp_params *ret_params, struct lp_err *err);

/* Learnt thresholds are valid only for the method with which they were learnt: -EINVAL if an option
 * differs from it. `service` may be NULL: no service times were learnt. `file` names them in the
 * error. */
int method_options_agree(const struct method_options *o, const char *method, const char *service,
	const struct lp_params *params, const char *file, struct lp_err *err);

#endif
