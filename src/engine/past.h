/* One server without peers, compared with itself: the end of the data beside the same hours of the
 * days before, or beside the time just before where there are no two days. */
#ifndef ENGINE_PAST_H
#define ENGINE_PAST_H

#include <limpet/diagnose.h>

/* `*verdict` could not compare anybody for want of peers: where the data reaches far enough back,
 * put a verdict in its place whose peer groups are a component and its own past. `now` is what is
 * judged, the past only its measure. Nothing changes where that cannot be. 1: it was replaced, 0:
 * it was not. */
int diagnose_past(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **verdict, struct lp_err *err);

/* Is it a component's past, "oss5@-2d/disk:sdb"? */
bool past_is_row(const struct lp_identity *component);

#endif
