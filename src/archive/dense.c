#include "archive/dense.h"

#include <errno.h>

/* Fewer samples are not worth collecting, whatever their size. */
#define DENSE_SAMPLES_MIN 8

void dense_init(struct dense *d, struct lp_archive_writer *writer)
{
	*d = (struct dense){.writer = writer};
}

void dense_release(struct dense *d)
{
	lp_batch_free(d->pending);
	d->pending = NULL;
}

static uint32_t fresh_samples(const struct lp_batch *b)
{
	return b->n_samples - (b->carry ? 1 : 0);
}

/* The number of values per sample, for all rows of the batch. */
static uint64_t sample_cells(const struct lp_batch *b)
{
	uint64_t cells = 0;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		cells += (uint64_t)b->kinds[i].n_components * b->kinds[i].n_columns;
	return cells;
}

/* The number of samples of a batch like this one that make a frame. */
static uint32_t frame_samples(const struct lp_batch *b)
{
	uint64_t n = DENSE_CELLS / (sample_cells(b) + 1);

	if (n < DENSE_SAMPLES_MIN)
		n = DENSE_SAMPLES_MIN;
	return n < LP_ARCHIVE_DENSE_SAMPLES ? (uint32_t)n : LP_ARCHIVE_DENSE_SAMPLES;
}

int dense_flush(struct dense *d, const struct lp_catalogue *c, struct lp_err *err)
{
	int r = 0;

	if (!d->pending)
		return 0;
	if (d->pending->n_samples && fresh_samples(d->pending))
		r = lp_archive_write(d->writer, c, d->pending, LP_ARCHIVE_DENSE, err);
	lp_batch_clear(d->pending);
	return r;
}

/* Allocate memory for batches like this one. */
static int dense_begin(struct dense *d, const struct lp_batch *b, struct lp_err *err)
{
	uint32_t n = frame_samples(b);

	if (d->most && d->most < n)
		n = d->most;
	d->pending = lp_batch_new(n + 1);
	return d->pending ? 0 : lp_err_sys(err, -ENOMEM, "cannot gather samples");
}

/* Write the pending samples and free their memory. */
static int dense_end(struct dense *d, const struct lp_catalogue *c, struct lp_err *err)
{
	int r = dense_flush(d, c, err);

	dense_release(d);
	return r;
}

/* Do batches like this one need far more memory than there is? */
static bool outgrown(const struct dense *d, const struct lp_batch *b)
{
	return d->pending && d->pending->cap_samples / 2 > frame_samples(b);
}

static const struct lp_batch_kind *find_kind(const struct lp_batch *b, uint32_t schema)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		if (b->kinds[i].schema == schema)
			return &b->kinds[i];
	}
	return NULL;
}

static bool has_row(const struct lp_batch_kind *k, uint32_t id, uint32_t hint)
{
	if (hint < k->n_components && k->ids[hint] == id)
		return true;
	for (uint32_t row = 0; row < k->n_components; row++) {
		if (k->ids[row] == id)
			return true;
	}
	return false;
}

/* The number of components of a kind after adding those of `more`, which belong to another
 * batch. */
static uint64_t rows_with(const struct lp_batch_kind *k, const struct lp_batch_kind *more)
{
	uint64_t rows = k->n_components, cap = k->cap_components;

	for (uint32_t row = 0; more && row < more->n_components; row++)
		rows += !has_row(k, more->ids[row], row);
	while (cap < rows) /* like a batch grows */
		cap *= 2;
	return cap;
}

/* Every component that was present for some time has a row in all pending samples. Is there no room
 * for the components of another batch? */
static bool overflows(const struct dense *d, const struct lp_batch *b)
{
	uint64_t cells = 0;

	for (uint32_t i = 0; i < d->pending->n_kinds; i++) {
		const struct lp_batch_kind *k = &d->pending->kinds[i];

		cells += rows_with(k, find_kind(b, k->schema)) * k->n_columns;
	}
	return cells * d->pending->cap_samples > 2 * DENSE_CELLS;
}

/* Collect fewer samples next time, so that they fit; and more again later. */
static int dense_overflow(struct dense *d, const struct lp_catalogue *c, struct lp_err *err)
{
	uint32_t n = 2 * fresh_samples(d->pending);

	d->most = n < DENSE_SAMPLES_MIN ? DENSE_SAMPLES_MIN : n;
	return dense_end(d, c, err);
}

static int dense_full(struct dense *d, const struct lp_catalogue *c, struct lp_err *err)
{
	if (!d->most || d->most >= LP_ARCHIVE_DENSE_SAMPLES)
		return dense_flush(d, c, err);
	d->most *= 2;
	return dense_end(d, c, err);
}

/* Make sure that there is a batch for pending samples. */
static int dense_ready(
	struct dense *d, const struct lp_catalogue *c, const struct lp_batch *b, struct lp_err *err)
{
	int r = outgrown(d, b) ? dense_end(d, c, err) : 0;

	if (r == 0 && d->pending && d->pending->n_samples &&
		fresh_samples(b) > d->pending->cap_samples - d->pending->n_samples)
		r = dense_full(d, c, err);
	if (r == 0 && d->pending && d->pending->n_samples && overflows(d, b))
		r = dense_overflow(d, c, err);
	if (r == 0 && !d->pending)
		r = dense_begin(d, b, err);
	return r;
}

int dense_add(
	struct dense *d, const struct lp_catalogue *c, const struct lp_batch *b, struct lp_err *err)
{
	int r = dense_ready(d, c, b, err);
	bool large;

	if (r < 0 || !d->pending)
		return r;
	large = fresh_samples(b) >= d->pending->cap_samples / 2;
	if (d->pending->n_samples && (large || !lp_batch_continues(d->pending, b)))
		r = dense_flush(d, c, err);
	if (r < 0)
		return r;
	if (large)
		return lp_archive_write(d->writer, c, b, LP_ARCHIVE_DENSE, err);
	r = lp_batch_append(d->pending, b);
	return r < 0 ? lp_err_sys(err, r, "cannot gather samples") : 0;
}
