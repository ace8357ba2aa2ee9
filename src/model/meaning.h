/* The meaning of metrics as the user gave it: which side of the peers is the worse one. */
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
/* Parse an option that takes both and may be repeated: side, metric, side, metric, ... */
int meanings_parse(struct meanings *m, const char *const *texts, unsigned n, struct lp_err *err);
/* Add all meanings of another. 0 or -ENOMEM, or -E2BIG. */
int meanings_copy(struct meanings *m, const struct meanings *from, struct lp_err *err);
/* As one line, for archives: side, metric, side, metric, ... with tabs between them. */
void meanings_format(const struct meanings *m, struct strbuf *to);
/* Read such a line, ignoring metrics that are already known and words without meaning. 0 or
 * -ENOMEM. */
int meanings_read(struct meanings *m, const char *line);
void meanings_release(struct meanings *m);

/* The role of a metric whose own role (lp_metric_role()) is `own`. `m` may be NULL. */
enum lp_role meanings_role(const struct meanings *m, const char *metric, enum lp_role own);

#endif
