/* Who is a peer of whom and what is usual among them, as of an epoch. */
#ifndef ENGINE_PEERS_H
#define ENGINE_PEERS_H

#include "detect/compare/compare.h"
#include "detect/group/discover.h"

struct peers {
	struct lp_verdict *v;	       /* groups, components, names of tables, notes; no values */
	int64_t seen_from;	       /* components that were seen from this slot on */
	struct comparison_look *looks; /* [group * n_tables + table] */
	bool *worth;		       /* the same: is there anything to compare? */
};

/* Look at a view, whose verdict is taken over: it gets its groups, and loses its values. `memory`
 * has what earlier looks decided. */
int peers_look(struct lp_verdict *v, const struct detect_options *opt,
	const struct lp_params *params, const struct comparison_past *past, int64_t seen_from,
	struct discover_memory *memory, struct peers **ret, struct lp_err *err);
void peers_free(struct peers *p);

/* Give a verdict, whose tables are there, these groups, with its own numbers of components. Who is
 * not in the verdict leaves its group. */
int peers_apply(const struct peers *p, struct lp_verdict *v, struct lp_err *err);

/* What is known of a metric in a group; NULL: nothing is compared. */
const struct comparison_look *peers_get(const struct peers *p, uint32_t group, const char *metric);

#endif
