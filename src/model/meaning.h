/* The meaning of metrics according to the user: which side of the peers is worse. */
#ifndef MODEL_MEANING_H
#define MODEL_MEANING_H

#include "base/strbuf.h"
#include <limpet/err.h>
#include <limpet/metric.h>

#define MEANINGS_MAX 64

struct meanings {
	struct {
		char *metric;
		bool lower; /* lower is worse; else higher is */
	} items[MEANINGS_MAX];
	unsigned n;
};

/* Declare that "lower" or "higher" (`side`) values of a metric are worse. The last declaration
 * counts. */
int meanings_add(struct meanings *m, const char *side, const char *metric, struct lp_err *err);
/* Parse the values of an option that takes both and may be repeated: side, metric, side, metric,
 * ... */
int meanings_parse(struct meanings *m, const char *const *texts, unsigned n, struct lp_err *err);
/* Add all meanings of another list. 0, -ENOMEM or -E2BIG. */
int meanings_copy(struct meanings *m, const struct meanings *from, struct lp_err *err);
/* Format as one line for archives: side, metric, side, metric, ... separated by tabs. */
void meanings_format(const struct meanings *m, struct strbuf *to);
/* Parse such a line; known metrics and unknown words are ignored. 0 or -ENOMEM. */
int meanings_read(struct meanings *m, const char *line);
void meanings_release(struct meanings *m);

/* The role of a metric; `own` is its role from lp_metric_role(). `m` may be NULL. */
enum lp_role meanings_role(const struct meanings *m, const char *metric, enum lp_role own);

#endif
