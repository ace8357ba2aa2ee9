/* The parameters of a comparison, with defaults filled in. */
#ifndef DETECT_PARAMS_H
#define DETECT_PARAMS_H

#include "detect/detect.h"

/* Take what the options say, else what the training used, else the method's own. Where the data is
 * too short for 2k-1 windows and the window was not chosen by hand, it shrinks; `v` gets a note.
 * Refuses what makes no sense. */
int params_resolve(const struct detect_options *opt, uint32_t n_slots, struct lp_verdict *v,
	struct lp_params *ret, struct lp_err *err);

/* A method whose default window is a time (struct measure) gets so many samples of the tables, if
 * these are of functions. */
void params_in_time(
	const struct measure *m, struct lp_table *const *tables, uint32_t n, struct lp_params *p);

#endif
