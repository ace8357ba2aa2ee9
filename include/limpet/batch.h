/* A batch: some consecutive samples of some components, as raw columns. All data moves in this
 * form: collectors fill batches, the archive stores and returns them, importers produce them and
 * tables are computed from them.
 *
 *     wall_us   t0  t1  t2 ...           one entry per sample
 *     kind[0] "disk"  ids     sda  sdb   one entry per component
 *             state   [sda: 1 1 1 ...] [sdb: 0 3 1 ...]
 *             column "rd_ios" [sda: ...] [sdb: ...]
 *
 * Values are the counters themselves, not their differences. If `carry` is set, sample 0 is a copy
 * of the last sample of the previous batch, so that the first difference can be computed.
 * Differences are only computed within a batch.
 */
#ifndef LIMPET_BATCH_H
#define LIMPET_BATCH_H

#include <limpet/catalogue.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* State of one component in one sample (bits). */
#define LP_ABSENT 0u  /* not seen in this sample */
#define LP_PRESENT 1u /* seen */
#define LP_FRESH                                                                                   \
	2u /* with LP_PRESENT: not the continuation of the sample before (it is new, was           \
	    * replaced or renamed), so no difference may be taken */

#define LP_RELATIVE                                                                                \
	4u /* with LP_PRESENT: earlier samples were lost, so counters are known up to a constant   \
	      only; their growth is right, their values are not */

struct lp_batch_kind {
	uint32_t schema;    /* index in the catalogue */
	uint32_t n_columns; /* of its schema */
	uint32_t n_components, cap_components;
	uint32_t *ids;	   /* [component] id in the catalogue */
	uint8_t *state;	   /* [component * cap_samples + sample] */
	int64_t **columns; /* [column][component * cap_samples + sample]; NULL if not selected */
};

struct lp_batch {
	uint32_t n_samples, cap_samples;
	bool carry;	  /* sample 0 belongs to the previous batch */
	int64_t *wall_us; /* [sample] microseconds since 1970 UTC; may repeat or step back */
	int64_t *mono_us; /* [sample] a clock that never steps; only its differences have a
			   * meaning */
	struct lp_batch_kind *kinds;
	uint32_t n_kinds;
};

/* A batch with room for `cap_samples` samples (including the carried one). NULL: out of memory. */
struct lp_batch *lp_batch_new(uint32_t cap_samples);
void lp_batch_free(struct lp_batch *b);

/* Forget all samples and components, keep the memory. */
void lp_batch_clear(struct lp_batch *b);

/* Add a sample, which becomes the current one; its components are LP_ABSENT until they are set.
 * -ENOSPC if the batch is full. */
int lp_batch_add_sample(struct lp_batch *b, int64_t wall_us, int64_t mono_us);

/* The kind of schema `schema`, with room for `n_columns` columns. It is added if it is new.
 * `columns` is a bit mask of the columns to allocate (LP_COLUMNS_MAX bits, NULL for all). The
 * pointer is valid until the next kind is added. */
int lp_batch_kind_get(struct lp_batch *b, uint32_t schema, uint32_t n_columns,
	const uint64_t *columns, struct lp_batch_kind **ret_kind);

/* Append a component to a kind, LP_ABSENT in all samples. The caller makes sure that it is new.
 * `*ret_row` is its index in the kind. */
int lp_batch_add_component(
	struct lp_batch *b, struct lp_batch_kind *k, uint32_t id, uint32_t *ret_row);

/* Begin `to` with the last sample of `from` as its carried sample: the same kinds, and the
 * components present in that sample. Allocates only if `to` has less room than it needs. */
int lp_batch_carry(struct lp_batch *to, const struct lp_batch *from);

/* Can the samples of `next` follow those of `b`, i.e. does it carry the last sample of `b`? */
bool lp_batch_continues(const struct lp_batch *b, const struct lp_batch *next);

/* Append the samples of `from` to those of `b`. The carried sample is included only if `b` is
 * empty. Both use the same catalogue. -ENOSPC if they do not fit; `b` is unchanged then. */
int lp_batch_append(struct lp_batch *b, const struct lp_batch *from);

/* LP_REAL columns keep their doubles in the int64_t cells, bit for bit. */
static inline double lp_cell_to_real(int64_t cell)
{
	union {
		int64_t i;
		double r;
	} u;

	u.i = cell;
	return u.r;
}

static inline int64_t lp_cell_from_real(double real)
{
	union {
		int64_t i;
		double r;
	} u;

	u.r = real;
	return u.i;
}

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
