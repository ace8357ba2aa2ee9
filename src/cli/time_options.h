/* The options that choose a time, for all commands that read DATA. */
#ifndef CLI_TIME_OPTIONS_H
#define CLI_TIME_OPTIONS_H

#include "base/option.h"
#include <limpet/dataset.h>

struct time_options {
	int64_t since_us, until_us; /* 0: not given */
	int64_t last_us;
	bool utc;
};

/* Rows of a command's table; `type` has a member `struct time_options times`. */
#define TIME_OPTIONS(type)                                                                         \
	{"since", 0, OPTION_TIME, offsetof(type, times.since_us), "TIME",                          \
		"read data from this time on: 1h (ago), 12:34, yesterday, '2026-11-15 06:00', "    \
		"2026-11-15T06:00Z"},                                                              \
		{"until", 0, OPTION_TIME, offsetof(type, times.until_us), "TIME",                  \
			"read data up to this time"},                                              \
		{"last", 0, OPTION_SPAN, offsetof(type, times.last_us), "SPAN",                    \
			"read only this much data before its end, or before --until: 2h"},         \
	{                                                                                          \
		"utc", 0, OPTION_FLAG, offsetof(type, times.utc), NULL,                            \
			"use UTC instead of local time (TZ), in these options and in the output"   \
	}

/* Do the options contradict each other? */
int time_options_check(const struct time_options *t, struct lp_err *err);

/* Limit `ds` to these times, before remote sources are queried. */
void time_options_limit(const struct time_options *t, struct lp_dataset *ds);

/* Where --last ends: at --until, or at the last sample; this may have to read the data. */
int time_options_end(
	const struct time_options *t, struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err);

/* All of the above for one dataset; --last becomes --since. */
int time_options_settle(struct time_options *t, struct lp_dataset *ds, struct lp_err *err);

#endif
