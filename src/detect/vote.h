/* From distances to a vote. */
#ifndef DETECT_VOTE_H
#define DETECT_VOTE_H

#include <stddef.h>
#include <stdint.h>

/* A vote is the (floor(n/2)+1)-th largest of the distances to n others. Among the n + 1 distances
 * to all, of which its own is 0 and so one of the smallest, it has this rank (0: the smallest). */
static inline size_t vote_rank(uint32_t n_all)
{
	return n_all - 1 - (n_all - 1) / 2;
}

#endif
