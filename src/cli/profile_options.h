/* The common part of `limpet record --collect profile` and `limpet trace samples`. */
#ifndef CLI_PROFILE_OPTIONS_H
#define CLI_PROFILE_OPTIONS_H

#include "base/option.h"
#include "trace/profile/profile.h"

struct profile_options {
	const char *frequency, *clock, *sampler;
	bool stacks;
};

/* Rows for a table of options; `base` is the offset of a struct profile_options. */
#define PROFILE_OPTIONS(base)                                                                      \
	{"frequency", 'F', OPTION_STRING, (base) + offsetof(struct profile_options, frequency),    \
		"N", "samples per second and CPU, 1 to 20000 [199]"},                              \
		{"clock", 0, OPTION_STRING, (base) + offsetof(struct profile_options, clock),      \
			"NAME",                                                                    \
			"when to sample: cycles (every so many cycles of a busy CPU), time, or "   \
			"auto: cycles where the machine counts them [auto]"},                      \
		{"sampler", 0, OPTION_STRING, (base) + offsetof(struct profile_options, sampler),  \
			"NAME",                                                                    \
			"how to collect samples: bpf (counts in the kernel), ring (the kernel "    \
			"delivers every sample), or auto: the first that works here [auto]"},      \
	{                                                                                          \
		"stacks", 0, OPTION_FLAG, (base) + offsetof(struct profile_options, stacks), NULL, \
			"keep whole stacks, for flame graphs ("                                    \
			"'limpet show --functions --flame')"                                       \
	}

/* Apply the options; -EINVAL if they are invalid. Other members do not change. */
int profile_options_apply(
	const struct profile_options *o, struct profile_config *config, struct lp_err *err);

#endif
