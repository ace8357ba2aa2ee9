/* Persistence: from anomalous windows to suspects (detection steps 6, 8 and 9). compare.h describes
 * how windows are marked. */
#ifndef DETECT_COMPARE_MARKS_H
#define DETECT_COMPARE_MARKS_H

#include <limpet/verdict.h>

/* Does the mark say that the window is anomalous? */
static inline bool mark_anomalous(uint8_t mark)
{
	return mark == LP_MARK_ABOVE || mark == LP_MARK_BELOW || mark == LP_MARK_ABSENT;
}

/* Are k of any 2k-1 windows in succession anomalous? At the beginning there may be fewer windows,
 * as long as k of them are. `*ret_first_window` (may be NULL) is the window at the end of which
 * this is first so; it is written only if the result is true. Windows of LP_MARK_NONE are not
 * anomalous. k = 0 never fires. */
bool persist_fires(const uint8_t *marks, uint32_t n, uint32_t k, uint32_t *ret_first_window);

/* The accumulator after the windows from .. n-1: +1 for an anomalous one, -1 (not below 0) for a
 * normal one; LP_MARK_NONE changes nothing. `*ret_peak` (may be NULL) is its highest value. */
uint32_t persist_accumulate(const uint8_t *marks, uint32_t n, uint32_t from, uint32_t *ret_peak);

/* The smallest threshold from which on the votes of n windows never make persist_fires() true: the
 * maximum of the k-th largest votes of all 2k-1 consecutive windows. NaN is no vote. The result is
 * not negative, and 0 if there are never k votes. */
double persist_limit(const double *votes, uint32_t n, uint32_t k);

#endif
