/* Work in slices: as much as fits into a given time, the rest later.
 *
 * The work is an ordinary function in a thread of its own, which calls slices_rest() at the places
 * where it can be suspended. The thread runs only while slices_run() waits for it, so data that the
 * two share needs no lock. Changes that the caller makes between two slices must be such that the
 * work can continue from any place where it rests. */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

struct slices;

/* For slices_run(): to the end. */
#define SLICES_WHOLE INT64_MAX

/* Prepare for `work(arg)`. NULL: out of memory. */
struct slices *slices_new(void (*work)(void *arg), void *arg);

/* Completes the remaining work first. */
void slices_free(struct slices *s);

/* Continue the work, or begin it again if it has ended, until it ends or first rests after
 * `budget_us` of CPU time (time in which others had the CPU does not count). Returns whether it has
 * ended. If no thread can be made, the work is done at once. */
bool slices_run(struct slices *s, int64_t budget_us);

/* Is there work that was begun and has not ended? */
bool slices_rests(const struct slices *s);

/* Called by the work where it may be suspended: returns at once, or when it may continue. Does
 * nothing in other threads, including those of OpenMP. It costs about as much as reading a clock.
 */
void slices_rest(void);

/* The same for a loop that has come to item `i`: only every so often. */
static inline void slices_rest_at(uint32_t i)
{
	if (i % 256 == 0)
		slices_rest();
}

#endif
