/* The instrument that looks where CPUs are: samples of the whole machine, summed by program, image
 * and function.
 */
#ifndef TRACE_PROFILE_H
#define TRACE_PROFILE_H

#include "collect/instrument.h"
#include "trace/profile/profile_rows.h"
#include "trace/profile/sampler.h"

#define PROFILE_INTERVAL_US (10 * INT64_C(1000000))
#define PROFILE_DEBUG_DIR "/usr/lib/debug"

struct profile_config {
	const char *observer;
	const char *sampler; /* NULL or "auto": the best that works */
	unsigned hz;	     /* 0: SAMPLER_HZ_DEFAULT */
	enum sampler_clock clock;
	bool stacks;
	uint64_t netns;	     /* only processes of this network namespace (netns.h); 0: all */
	int64_t interval_us; /* counts are read at multiples of it; 0: PROFILE_INTERVAL_US */
	bool at_ends;	     /* and when it begins and ends */
};

struct profile;

/* Begin to sample. `why` (may be NULL) says why a sampler is not used that would be better. -EPERM,
 * -EOPNOTSUPP, -EINVAL with a sentence: it cannot be done here. */
int profile_new(const struct profile_config *config, struct profile **ret, struct lp_err *why,
	struct lp_err *err);
void profile_free(struct profile *p);

/* For the loop: loop_instrument.config is the profile, which outlives the loop. */
const struct instrument *profile_instrument(const struct profile *p);

const struct profile_totals *profile_totals(const struct profile *p);
const struct profile_rows *profile_counts(const struct profile *p);
/* Which sampler is at work, and by what clock. */
const char *profile_sampler(const struct profile *p);
const char *profile_clock(const struct profile *p);

/* Make a word of a name: colons are between the parts of names of rows, semicolons between the
 * frames of stacks, and blanks between columns of what is printed. */
void profile_word_make(char *word, bool colons);

/* "kworker/0:1" is "kworker": what a program is called on all servers, without the colon, by which
 * parts of names are separated. */
void profile_program_name(const char *comm, char ret[SAMPLER_COMM_MAX]);

#endif
