/* Components that are slightly slow, but steadily, and far outside the differences among their
 * peers. That is too little for a suspect, but certain enough for a warning. */
#ifndef DETECT_MILD_H
#define DETECT_MILD_H

#include "detect/weigh.h"

/* From this ratio on it matters, after correcting for a greater load. */
#define MILD_RATIO_LEAST 1.15

/* Add a mild finding for each such member of a comparison, unless the member already has a finding.
 * The findings of this comparison are those from number `first` on. 0 or -ENOMEM. */
int mild_find(const struct comparison *c, uint32_t series, size_t first, struct findings *f);

#endif
