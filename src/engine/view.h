/* A part of the data of a horizon, ready to be compared: a verdict with tables and components, and
 * with pooled connections; on request, also with the time at which each observer last delivered
 * data. */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include "detect/compare/compare.h"
#include "detect/group/discover.h"
#include "model/hosts.h"
#include "model/table_view.h"

struct team;

struct view {
	struct lp_verdict *v;
	struct presence presence; /* see view_presence(); points to the arrays below */
	uint32_t *observer;
	int32_t *last;
	uint32_t *gaps; /* [observer] slots in which it measured nothing */
	uint32_t n_observers;
	uint32_t left_out; /* components that have too few values, see table_builder_view() */
	struct table_refill *refills; /* [table]; see view_fix() */
	uint32_t n_refills;
	uint64_t n_changes; /* of the builder */
	bool fixed;
};

/* An observer that was silent for less than this is only late; its data is not missing. */
#define VIEW_LATENESS_US (INT64_C(60) * 1000000)

/* Make a view of the part. `hosts` may be NULL: connections are not pooled. */
int view_make(const struct lp_table_builder *b, const struct table_part *part,
	const struct hosts *hosts, struct view *ret, struct lp_err *err);
void view_release(struct view *view);

/* Find out when each observer last delivered data, for comparing windows. 0 or -ENOMEM. */
int view_presence(struct view *view);

/* Prepare a view to be moved to later parts that begin at the same slot. 0 or -ENOMEM. */
int view_fix(struct view *view, const struct lp_table_builder *b);

/* Would a new view of a later part have the same components in the same places? */
bool view_holds(const struct view *view, const struct lp_table_builder *b);

/* Move such a view to that part, and update when observers last delivered data in it. */
int view_move(struct view *view, const struct lp_table_builder *b, const struct table_part *part,
	struct lp_err *err);

/* Note in a verdict how many components table_builder_view() left out, if any. 0 or -ENOMEM. */
int view_note_left_out(struct lp_verdict *v, uint32_t n);

/* Peer groups and their usual values, as of an epoch. */
struct peers {
	struct lp_verdict *v;	       /* groups, components, names of tables, notes; no values */
	int64_t seen_from;	       /* components that have data from this slot on */
	struct comparison_look *looks; /* [group * n_tables + table] */
	bool *worth;		       /* the same: is there anything to compare? */
};

/* Determine peers from the verdict of a view. This takes over the verdict, adds groups, and drops
 * the values. `memory` has earlier decisions. `team` may be NULL. */
int peers_look(struct lp_verdict *v, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, int64_t seen_from,
	struct discover_memory *memory, struct team *team, struct peers **ret, struct lp_err *err);
void peers_free(struct peers *p);

/* Add these groups to a verdict that has its tables, with its own numbers of components. Components
 * that the verdict does not have are dropped from the groups. */
int peers_apply(const struct peers *p, struct lp_verdict *v, struct lp_err *err);

/* The facts that are known about a metric in a group; NULL: it is not compared. */
const struct comparison_look *peers_get(const struct peers *p, uint32_t group, const char *metric);

#endif
