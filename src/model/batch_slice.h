/* Some consecutive samples of a batch as a separate batch, without copying values. */
#ifndef MODEL_BATCH_SLICE_H
#define MODEL_BATCH_SLICE_H

#include <limpet/batch.h>

/* Zero-initialise it. */
struct batch_slice {
	struct lp_batch batch;
	struct lp_batch_kind *kinds;
	int64_t **columns;
	size_t cap_kinds, cap_columns;
};

void batch_slice_release(struct batch_slice *s);

/* Samples first .. end - 1 of `b`; the sample before them is carried, if there is one. `*ret` is
 * valid until the next call and as long as `b`. Do not change it. 0 or -ENOMEM. */
int batch_slice_make(struct batch_slice *s, const struct lp_batch *b, uint32_t first, uint32_t end,
	const struct lp_batch **ret);

#endif
