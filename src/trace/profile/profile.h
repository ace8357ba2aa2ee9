/* The instrument that samples CPUs: samples of the whole machine, summed by program, image and
 * function.
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

/* Begin to sample. `why` (may be NULL) says why a better sampler is not used. -EPERM, -EOPNOTSUPP,
 * -EINVAL with a message: it is impossible here. */
int profile_new(const struct profile_config *config, struct profile **ret, struct lp_err *why,
	struct lp_err *err);
void profile_free(struct profile *p);

/* For the loop: loop_instrument.config is the profile, which outlives the loop. */
const struct instrument *profile_instrument(const struct profile *p);

const struct profile_totals *profile_totals(const struct profile *p);
const struct profile_rows *profile_counts(const struct profile *p);
/* The active sampler, and its clock. */
const char *profile_sampler(const struct profile *p);
const char *profile_clock(const struct profile *p);

/* Turn a name into a word: colons separate the parts of names of rows, semicolons the frames of
 * stacks, and blanks the columns of printed output. */
void profile_word_make(char *word, bool colons);

/* "kworker/0:1" becomes "kworker": the common name of a program on all servers, without a colon,
 * which separates parts of names. */
void profile_program_name(const char *comm, char ret[SAMPLER_COMM_MAX]);

#endif
