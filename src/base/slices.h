/* Work that is done in slices: as much of it as fits into a given time, the rest another time.
 *
 * The work is an ordinary function, on the stack of a thread of its own, which calls slices_rest()
 * where it can be put aside. The thread works only while slices_run() waits for it, so that nothing
 * that the two share needs a lock: what the caller changes between two slices must be such that the
 * work can go on from any place where it rests. */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

struct slices;

/* For slices_run(): to the end. */
#define SLICES_WHOLE INT64_MAX

/* Prepare for `work(arg)`. NULL: out of memory. */
struct slices *slices_new(void (*work)(void *arg), void *arg);

/* What is left is carried out first. */
void slices_free(struct slices *s);

/* Go on with the work, or begin it anew if it has ended, until it ends or first rests after
 * `budget_us` of CPU time: time that others had the CPU does not bring it further. Has it ended?
 * Without a thread, because none can be had, it does so. */
bool slices_run(struct slices *s, int64_t budget_us);

/* Is there work that was begun and has not ended? */
bool slices_rests(const struct slices *s);

/* Called by the work where it may be put aside: returns at once, or once it may go on.
 * Does nothing in other threads, those of OpenMP among them. It takes about as long as reading a
 * clock.
 */
void slices_rest(void);

/* The same, in a loop that has come to item `i`: now and then only. */
static inline void slices_rest_at(uint32_t i)
{
	if (i % 256 == 0)
		slices_rest();
}

#endif
