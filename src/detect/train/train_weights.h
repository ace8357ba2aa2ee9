/* The weight of each function, learnt from recordings. The more a function varies among healthy
 * servers, the less it counts. If the server and the time of a fault are known, a function counts
 * more if it distinguished that server from the others, and less if it accused others.
 */
#ifndef DETECT_TRAIN_WEIGHTS_H
#define DETECT_TRAIN_WEIGHTS_H

#include "detect/detect.h"

/* A server that had a fault. */
struct weight_label {
	const char *observer;
	int64_t start_us, end_us;
};

struct weight_learner;

/* `opt` must outlive the learner. NULL: out of memory. */
struct weight_learner *weight_learner_new(const struct detect_options *opt);
void weight_learner_free(struct weight_learner *l);

/* Learn from one run. Its tables are on one grid, and are taken over. Without labels the whole run
 * counts as healthy. */
int weight_learner_add(struct weight_learner *l, struct lp_table **tables, uint32_t n_tables,
	const struct weight_label *labels, unsigned n_labels, struct lp_err *err);

/* Add the result of all runs to `ret`. 0 or -ENOMEM. */
int weight_learner_finish(const struct weight_learner *l, struct function_weights *ret);

#endif
