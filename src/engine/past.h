/* One server without peers, compared with itself: the end of the data with the same hours of the
 * days before, or with the time just before if there are not two days. */
#ifndef ENGINE_PAST_H
#define ENGINE_PAST_H

#include <limpet/diagnose.h>

/* Call this if `*verdict` compared nothing for lack of peers. If the data reaches far enough back,
 * it is replaced by a verdict in which each component is compared with its own past. Only `now` is
 * judged; the past is the reference. If that is impossible, a note says what would make the server
 * comparable. 1: it was replaced, 0: it was not. */
int diagnose_past(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **verdict, struct lp_err *err);

/* Is this a row of a component's past, "oss5@-2d/disk:sdb"? */
bool past_is_row(const struct lp_identity *component);

#endif
