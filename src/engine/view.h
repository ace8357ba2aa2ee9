/* A part of what a horizon has gathered, ready to be compared: a verdict with tables and
 * components, connections pooled, and when each observer was last heard of. */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include "detect/compare/compare.h"
#include "model/hosts.h"
#include "model/table_view.h"

struct view {
	struct lp_verdict *v;
	struct presence presence; /* of v's components; points to the two arrays */
	uint32_t *observer;
	int32_t *last;
	uint32_t left_out; /* components that have too few values, see table_builder_view() */
};

/* An observer that was silent for less than this is late, and nothing is missing. */
#define VIEW_LATENESS_US (INT64_C(60) * 1000000)

/* Make a view of the part. `hosts` may be NULL: connections stay as they are. */
int view_make(const struct lp_table_builder *b, const struct table_part *part,
	const struct hosts *hosts, struct view *ret, struct lp_err *err);
void view_release(struct view *view);

#endif
