#include "archive/dense.h"

#include <errno.h>

int dense_init(struct dense *d, struct lp_archive_writer *writer, struct lp_err *err)
{
	d->writer = writer;
	d->pending = lp_batch_new(LP_ARCHIVE_DENSE_SAMPLES + 1);
	return d->pending ? 0 : lp_err_sys(err, -ENOMEM, "cannot write an archive");
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

int dense_flush(struct dense *d, const struct lp_catalogue *c, struct lp_err *err)
{
	int r = 0;

	if (d->pending->n_samples && fresh_samples(d->pending))
		r = lp_archive_write(d->writer, c, d->pending, LP_ARCHIVE_DENSE, err);
	lp_batch_clear(d->pending);
	return r;
}

int dense_add(
	struct dense *d, const struct lp_catalogue *c, const struct lp_batch *b, struct lp_err *err)
{
	bool large = fresh_samples(b) >= LP_ARCHIVE_DENSE_SAMPLES / 2;
	int r = 0;

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
