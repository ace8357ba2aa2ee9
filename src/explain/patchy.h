/* Observers whose data comes and goes within a minute: too briefly to be missed, too often to be
 * judged.
 */
#ifndef EXPLAIN_PATCHY_H
#define EXPLAIN_PATCHY_H

#include <limpet/verdict.h>

/* State as unknown who has no data in at least half of the time in which most others have, though
 * it is never away for longer than a minute. 0 or -ENOMEM. */
int patchy_judge(struct lp_verdict *v);

#endif
