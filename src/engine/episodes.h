/* Episodes: findings that are kept after their windows are forgotten. */
#ifndef ENGINE_EPISODES_H
#define ENGINE_EPISODES_H

#include "engine/history.h"
#include <limpet/verdict.h>

/* A finding with the names it refers to, and the windows of its stretch. */
struct episode {
	char *component, *metric, *unit;
	struct lp_finding
		finding;    /* its numbers of components, groups and tables have no meaning here */
	const char *method; /* static */
	int64_t begin_us, shift_us,
		size_us; /* of the first window; from each to the next; of each */
	struct kept *windows;
	uint32_t n_windows;
};

struct episodes {
	struct episode *items;
	size_t n, cap;
};

void episodes_release(struct episodes *e);

/* Add an episode. It takes over the memory, even on failure. If an episode of the same component,
 * metric and direction overlaps with it, they are merged: the heavier one stays, and lasts from the
 * beginning of the first to the end of the last. 0 or -ENOMEM. */
int episodes_add(struct episodes *e, struct episode *item);

/* Add copies of all episodes of another list. */
int episodes_add_all(struct episodes *e, const struct episodes *from);

/* Add the episodes to a verdict as findings, each with its own series, if the verdict has their
 * components. If the verdict has the same finding, the heavier one stays. `since_us`: they come
 * from a finer horizon than the verdict, which reaches back to that time; mild slowness may be left
 * out. INT64_MIN: they do not come from a finer horizon. `finer` is the verdict of that horizon,
 * which provides the group of a component that is too new to have one in `v`; NULL: there is none.
 * Returns 1 if some were left out because they have no group, 0, or -ENOMEM. */
int episodes_join(const struct episodes *e, int64_t since_us, const struct lp_verdict *finer,
	struct lp_verdict *v);

void episode_release(struct episode *item);

#endif
