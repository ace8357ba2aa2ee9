/* Internal to discovery. */
#ifndef DETECT_GROUP_DISCOVER_OWN_H
#define DETECT_GROUP_DISCOVER_OWN_H

#include "detect/group/discover.h"
#include "detect/group/discover_work.h"

/* The group that is being split. */
struct splitter {
	struct lp_verdict *v;
	const struct lp_peer_group *g; /* the current one */
	struct discover_memory *memory;
	bool parts; /* its members are parts of their observers, like the disks of a host */
	struct group_work w;
	uint32_t *observer; /* [member] the number of its observer */
	uint32_t n_observers;
	double *x, *scratch; /* room for one value per member; work space for statistics */
	struct lp_peer_group *out;
	size_t n_out, cap_out;
	uint32_t n_families; /* the number of branches that were split by observer so far */
};

/* Some members of the group, which may be split further. */
struct branch {
	const char *name;
	const char *path;	 /* the same without amounts, which change; the key of decisions */
	const uint32_t *members; /* positions in the group */
	uint32_t n;
	unsigned depth;
	bool idle; /* a class with hardly any work, in which nothing can be distinguished */
};

/* How much the observers of a branch differ, as far as the data shows it. */
struct observers_look {
	struct stats_spread spread;   /* in the quantity that shows the clearest difference */
	const struct work_feature *f; /* that quantity; NULL: none is clear */
	bool spread_speaks;	      /* most observers differ from each other */
	uint32_t n_known, n_off;      /* the number of known observers, and of those that differ
				       * from the others as a whole */
	const struct work_feature *off_in; /* the quantity in which most of them do */
	double off_most;		   /* logarithm of the largest ratio in it */
	bool *off;			   /* [observer] */
	bool split;			   /* the decision */
};

/* Look at the data, decide whether the members of each observer are a separate group, and remember
 * the decision. 0 or -ENOMEM; release `ret` in any case. */
int observers_judge(struct splitter *s, const struct branch *b, struct observers_look *ret);
void observers_look_release(struct observers_look *l);

/* The levels of a branch in a feature over some blocks, without missing ones; returns their
 * number. */
size_t branch_levels(const struct branch *b, const struct group_work *w,
	const struct work_feature *f, uint32_t from, uint32_t to, double *ret);

/* Components of the branch with less work than this are idle. 0: none of them works. Uses s->x. */
double branch_idle_limit(struct splitter *s, const struct branch *b, const struct work_feature *f);

#endif
