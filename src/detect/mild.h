/* Slow by little, but steadily, and far outside what the peers differ by among themselves: too
 * little to weigh as a finding that makes a suspect, too certain to say nothing. */
#ifndef DETECT_MILD_H
#define DETECT_MILD_H

#include "detect/weigh.h"

/* From here on it matters, after what a greater load explains. */
#define MILD_RATIO_LEAST 1.15

/* Add a mild finding for each member of a comparison that is one and has none among `f` from
 * number `first` on, those of this comparison. 0 or -ENOMEM. */
int mild_find(const struct comparison *c, uint32_t series, size_t first, struct findings *f);

#endif
