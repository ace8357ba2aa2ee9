/* The windows of a lane: comparing them once, keeping what they say, and weighing what was kept. */
#ifndef ENGINE_WINDOWS_H
#define ENGINE_WINDOWS_H

#include "engine/lane.h"

/* Forget it: peers, rows or tracks are not what they were. */
void window_view_release(struct window_view *f);

/* Slots before a window that what is said of it depends on. */
uint32_t windows_context(const struct lane *l);

/* Compare the windows `first` .. `end - 1` with the peers and thresholds of the last epoch, and
 * keep them. */
int windows_compare(struct lane *l, int64_t first, int64_t end, struct lp_err *err);

/* The verdict on the windows that are kept: of the span, or all. `lazy`: its tables need not have
 * values, because only what was found matters. */
int windows_verdict(const struct lane *l, bool lazy, struct lp_verdict **ret, struct lp_err *err);

/* Turn the findings of a verdict of the lane that speak against somebody into episodes. 0 or
 * -ENOMEM. */
int windows_episodes(const struct lane *l, const struct lp_verdict *v, struct episodes *ret);

/* Note as episodes what was found in the span, before its windows are forgotten. */
int windows_note(struct lane *l, struct lp_err *err);

#endif
