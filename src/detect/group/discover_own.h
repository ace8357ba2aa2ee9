/* The common part of discovery. */
#ifndef DETECT_GROUP_DISCOVER_OWN_H
#define DETECT_GROUP_DISCOVER_OWN_H

#include "detect/group/discover.h"
#include "detect/group/discover_work.h"

/* A group that is being taken apart. */
struct splitter {
	struct lp_verdict *v;
	const struct lp_peer_group *g; /* the current one */
	struct discover_memory *memory;
	bool parts; /* its members are parts of their observers, like disks of a host */
	struct group_work w;
	uint32_t *observer; /* [member] */
	uint32_t n_observers;
	double *x, *scratch; /* room for one value per member, and for the statistics */
	struct lp_peer_group *out;
	size_t n_out, cap_out;
	uint32_t n_families; /* branches that were split by observer so far */
};

/* Some members of the group that may be split further. */
struct branch {
	const char *name;
	const char *path;	 /* the same without amounts, which change: the key of decisions */
	const uint32_t *members; /* positions in the group */
	uint32_t n;
	unsigned depth;
	bool idle; /* a class that does next to nothing, in which nothing can be distinguished */
};

/* What the data shows about the observers of a branch. */
struct observers_look {
	struct stats_spread spread;   /* in the quantity in which they differ most clearly */
	const struct work_feature *f; /* that quantity; NULL: none is clear */
	bool spread_speaks;	      /* they differ, more or less all of them */
	uint32_t n_known, n_off;      /* observers; those that differ from the others as a whole */
	const struct work_feature *off_in; /* the quantity in which most do */
	double off_most;		   /* logarithm of the largest ratio in it */
	bool *off;			   /* [observer] */
	bool split;			   /* the decision */
};

/* Look, decide whether each observer's members are a group of their own, and remember that. 0 or
 * -ENOMEM; release it in any case. */
int observers_judge(struct splitter *s, const struct branch *b, struct observers_look *ret);
void observers_look_release(struct observers_look *l);

/* The levels of a branch in a feature over some blocks, without missing ones; returns their
 * number. */
size_t branch_levels(const struct branch *b, const struct group_work *w,
	const struct work_feature *f, uint32_t from, uint32_t to, double *ret);

/* Components of the branch below this are idle. 0: none works. Uses s->x. */
double branch_idle_limit(struct splitter *s, const struct branch *b, const struct work_feature *f);

#endif
