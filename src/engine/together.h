/* Comparing with several processes (base/team.h). All have the same data; a pair of a peer group
 * and a metric is compared by one of them, and the others get the result. So all know the same at
 * every epoch, and take the same decisions as a process that is alone. */
#ifndef ENGINE_TOGETHER_H
#define ENGINE_TOGETHER_H

#include "base/team.h"
#include "detect/compare/compare.h"
#include "engine/history.h"

/* Who compares what: each pair goes to the process that has the fewest members to compare so far.
 * It depends on the order of the pairs and their sizes only, so all processes divide alike. */
struct division {
	const struct team *team;
	uint64_t *loads; /* [rank] */
};

/* `team` may be NULL: this process compares all pairs. 0 or -ENOMEM. */
int division_begin(struct division *d, const struct team *team);
void division_release(struct division *d);

/* The process that compares the next pair, of a group with so many members. */
int division_next(struct division *d, uint32_t n_members);

/* Is that this one? */
bool division_mine(const struct division *d, int owner);

/* Write what was learnt about a pair (`worth`: anything); take it out. The metric and the method
 * are those of the pair itself. 0 or -EBADMSG. */
void look_pack(const struct comparison_look *look, bool worth, struct strbuf *ret);
int look_unpack(struct cursor *from, const struct lp_metric *metric, const char *method,
	struct comparison_look *ret, bool *ret_worth);

/* Write the results of a pair's windows, from number `number` on, as they are kept in the tracks
 * of its members; put them into the tracks of another process. 0, -ENOMEM or -EBADMSG. */
void results_pack(const struct tracks *t, const uint32_t *numbers, uint32_t n_members,
	uint32_t n_windows, int64_t number, struct strbuf *ret);
int results_unpack(struct tracks *t, const uint32_t *numbers, uint32_t n_members, int64_t number,
	struct cursor *from);

#endif
