/* Persistence: from anomalous windows to suspects (detection steps 6, 8 and 9). How windows are
 * marked is in compare.h. */
#ifndef DETECT_COMPARE_MARKS_H
#define DETECT_COMPARE_MARKS_H

#include <limpet/verdict.h>

/* Does the mark say that the window is anomalous? */
static inline bool mark_anomalous(uint8_t mark)
{
	return mark == LP_MARK_ABOVE || mark == LP_MARK_BELOW || mark == LP_MARK_ABSENT;
}

/* Are k of any 2k-1 windows in succession anomalous? At the beginning there may be fewer windows,
 * as long as k of them are. `*ret_first_window` (may be NULL) is the first at whose end that is so;
 * it is written only then. Windows of LP_MARK_NONE are not anomalous. k = 0 never fires. */
bool persist_fires(const uint8_t *marks, uint32_t n, uint32_t k, uint32_t *ret_first_window);

/* The accumulator after the windows from .. n-1: +1 for an anomalous one, -1 (not below 0) for a
 * normal one; LP_MARK_NONE changes nothing. `*ret_peak` (may be NULL) is its highest value. */
uint32_t persist_accumulate(const uint8_t *marks, uint32_t n, uint32_t from, uint32_t *ret_peak);

/* The smallest threshold with which (and with any higher one) the votes of n windows never make
 * persist_fires() true: the highest of all k-th largest votes of 2k-1 windows. NaN is no vote. 0 if
 * there are never k votes; never below 0. */
double persist_limit(const double *votes, uint32_t n, uint32_t k);

#endif
