#include "archive/dense.h"

#include <errno.h>

/* Values that are gathered in memory at the most, 32 MB: sealing must fit into a small agent, also
 * on a server with thousands of devices. */
#define DENSE_CELLS (UINT64_C(1) << 22)
#define DENSE_SAMPLES_MIN 60

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

/* How many samples of a batch like this one make a frame. */
static uint32_t frame_samples(const struct lp_batch *b)
{
	uint64_t cells = 1, n;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		cells += (uint64_t)b->kinds[i].n_components * b->kinds[i].n_columns;
	n = DENSE_CELLS / cells;
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

int dense_add(
	struct dense *d, const struct lp_catalogue *c, const struct lp_batch *b, struct lp_err *err)
{
	bool large;
	int r = 0;

	if (!d->pending)
		d->pending = lp_batch_new(frame_samples(b) + 1);
	if (!d->pending)
		return lp_err_sys(err, -ENOMEM, "cannot gather samples");
	large = fresh_samples(b) >= d->pending->cap_samples / 2;
	if (d->pending->n_samples &&
		(large || !lp_batch_continues(d->pending, b) ||
			fresh_samples(b) > d->pending->cap_samples - d->pending->n_samples))
		r = dense_flush(d, c, err);
	if (r < 0)
		return r;
	if (large)
		return lp_archive_write(d->writer, c, b, LP_ARCHIVE_DENSE, err);
	r = lp_batch_append(d->pending, b);
	return r < 0 ? lp_err_sys(err, r, "cannot gather samples") : 0;
}
