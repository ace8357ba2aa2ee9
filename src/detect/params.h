/* The parameters of a comparison, with defaults filled in. */
#ifndef DETECT_PARAMS_H
#define DETECT_PARAMS_H

#include "detect/detect.h"

/* Use the parameters of the options, else those of the training, else the defaults of the method.
 * If the data is too short for 2k-1 windows and the user did not choose the window, make it smaller
 * and add a note to `v`. Refuses values that make no sense. */
int params_resolve(const struct detect_options *opt, uint32_t n_slots, struct lp_verdict *v,
	struct lp_params *ret, struct lp_err *err);

/* If the default window of a method is a time (struct measure) and the tables contain functions,
 * convert it to samples. */
void params_in_time(
	const struct measure *m, struct lp_table *const *tables, uint32_t n, struct lp_params *p);

#endif
