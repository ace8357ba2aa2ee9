/* Work in slices: does as much as possible in a given time, and the rest later.
 *
 * The work is an ordinary function in a separate thread. It calls slices_rest() where it can be
 * suspended. The thread runs only while slices_run() waits for it, so shared data needs no lock.
 * After changes that the caller makes between two slices, the work must be able to continue from
 * any of these places. */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

struct slices;

/* For slices_run(): run to the end. */
#define SLICES_WHOLE INT64_MAX

/* Prepare for `work(arg)`. NULL: out of memory. */
struct slices *slices_new(void (*work)(void *arg), void *arg);

/* Completes the remaining work first. */
void slices_free(struct slices *s);

/* Continue the work, or begin it again if it has ended, until it ends or calls slices_rest() after
 * `budget_us` of CPU time (time in which other threads had the CPU does not count). Returns whether
 * it has ended. If no thread can be created, all work is done immediately. */
bool slices_run(struct slices *s, int64_t budget_us);

/* Is there work that was begun and has not ended? */
bool slices_rests(const struct slices *s);

/* Called by the work where it may be suspended. Returns immediately, or when it may continue. Does
 * nothing in other threads, including those of OpenMP. It costs about as much as reading a clock.
 */
void slices_rest(void);

/* The same for a loop at item `i`; checks only at some of the items. */
static inline void slices_rest_at(uint32_t i)
{
	if (i % 256 == 0)
		slices_rest();
}

#endif
