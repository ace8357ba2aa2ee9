/* The windows of a lane: comparing each once, keeping the results, and weighing them. */
#ifndef ENGINE_WINDOWS_H
#define ENGINE_WINDOWS_H

#include "engine/lane.h"

/* Free it when peers, rows or tracks have changed. */
void window_view_release(struct window_view *f);

/* The number of slots before a window that its result depends on. */
uint32_t windows_context(const struct lane *l);

/* Compare the windows `first` .. `end - 1` with the peers and thresholds of the last epoch, and
 * keep them. */
int windows_compare(struct lane *l, int64_t first, int64_t end, struct lp_err *err);

/* The verdict on the kept windows of the span, or on all of them. `lazy`: its tables need no
 * values, because only findings matter. */
int windows_verdict(const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err);

/* Turn the accusing findings of a verdict of the lane into episodes. 0 or -ENOMEM. */
int windows_episodes(const struct lane *l, const struct lp_verdict *v, struct episodes *ret);

/* Keep the findings of the span as episodes, before its windows are forgotten. */
int windows_note(struct lane *l, struct lp_err *err);

#endif
