/* Comparing with several processes (base/team.h). All have the same data; a pair of a peer group
 * and a metric is compared by one of them, and the others get the result. So all processes have the
 * same results at every epoch, and make the same decisions as a single process. */
#ifndef ENGINE_TOGETHER_H
#define ENGINE_TOGETHER_H

#include "base/team.h"
#include "detect/compare/compare.h"
#include "engine/history.h"

/* Assigns pairs to processes: each pair goes to the process that has the fewest members to compare
 * so far. The assignment depends only on the order and the sizes of the pairs, so it is the same in
 * all processes. */
struct division {
	const struct team *team;
	uint64_t *loads; /* [rank] */
};

/* `team` may be NULL: this process compares all pairs. 0 or -ENOMEM. */
int division_begin(struct division *d, const struct team *team);
void division_release(struct division *d);

/* The process that compares the next pair, which has `n_members` members. */
int division_next(struct division *d, uint32_t n_members);

/* Is `owner` this process? */
bool division_mine(const struct division *d, int owner);

/* Pack and unpack what was learnt about a pair (`worth`: whether there is anything to compare). The
 * metric and the method are those of the pair itself. 0 or -EBADMSG. */
void look_pack(const struct comparison_look *look, bool worth, struct strbuf *ret);
int look_unpack(struct cursor *from, const struct lp_metric *metric, const char *method,
	struct comparison_look *ret, bool *ret_worth);

/* Pack the results of a pair's windows from `number` on, as the tracks of its members hold them,
 * and unpack them into the tracks of another process. 0, -ENOMEM or -EBADMSG. */
void results_pack(const struct tracks *t, const uint32_t *numbers, uint32_t n_members,
	uint32_t n_windows, int64_t number, struct strbuf *ret);
int results_unpack(struct tracks *t, const uint32_t *numbers, uint32_t n_members, int64_t number,
	struct cursor *from);

#endif
