#include "serve/remote_write.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "import/remote/write_request.h"
#include <errno.h>
#include <limpet/archive.h>
#include <pthread.h>
#include <snappy-c.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOLD_MS 10000

struct remote_write {
	const char *dir;
	struct lp_warn *warn;
	pthread_mutex_t mutex; /* protects everything below */
	struct mapping mapping;
	struct lp_catalogue *catalogue;
	struct gather gather;
	struct lp_archive_writer *writer;
	int64_t day;		    /* the day of the archive */
	struct lp_batch *unwritten; /* a batch that could not be written, for instance because the
				     * disk is full */
	struct remote_write_stats stats;
};

int remote_write_open(
	const char *dir, struct lp_warn *warn, struct remote_write **ret, struct lp_err *err)
{
	struct remote_write *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return lp_err_sys(err, -ENOMEM, "cannot receive");
	w->dir = dir;
	w->warn = warn;
	pthread_mutex_init(&w->mutex, NULL);
	w->catalogue = lp_catalogue_new();
	r = w->catalogue ? mapping_load_builtin(&w->mapping, "prometheus", err)
			 : lp_err_sys(err, -ENOMEM, "cannot receive");
	if (r == 0)
		r = gather_init(
			&w->gather, &w->mapping, w->catalogue, NULL, warn, REMOTE_WRITE_NAME, err);
	if (r < 0) {
		remote_write_close(w);
		return r;
	}
	w->gather.hold_ms = HOLD_MS;
	gather_begin(&w->gather, INT64_MIN);
	*ret = w;
	return 0;
}

static int archive_close(struct remote_write *w, struct lp_err *err)
{
	return w->writer ? lp_archive_close(TAKE_PTR(w->writer), err) : 0;
}

/* Open the archive. There is one per day on which samples arrive. */
static int archive_open(struct remote_write *w, struct lp_err *err)
{
	const struct lp_archive_meta meta = {
		.observer = "", .interval_us = gather_interval_us(&w->gather)};
	int64_t now = clock_us(CLOCK_REALTIME);
	char path[4096], stamp[TIME_TEXT_MAX];
	int r = 0;

	if (w->writer && now / US_PER_DAY != w->day)
		r = archive_close(w, err);
	if (r < 0 || w->writer)
		return r;
	w->day = now / US_PER_DAY;
	snprintf(path, sizeof(path), "%s/" REMOTE_WRITE_NAME "-%s" LP_ARCHIVE_SUFFIX, w->dir,
		time_format_compact(now / US_PER_SEC * US_PER_SEC, stamp));
	return lp_archive_create(path, &meta, &w->writer, err);
}

/* Write data that need not be held any longer. A batch that cannot be written is kept and written
 * first the next time: gather.h has delivered it, and would treat it as late if it was sent
 * again. */
static int flush(struct remote_write *w, struct lp_err *err)
{
	int r = 1;

	w->gather.next = 0;
	for (;;) {
		if (!w->unwritten)
			r = gather_next(&w->gather, &w->unwritten, err);
		if (r <= 0)
			return r;
		r = archive_open(w, err);
		if (r == 0)
			r = lp_archive_write(
				w->writer, w->catalogue, w->unwritten, LP_ARCHIVE_DENSE, err);
		if (r < 0)
			return r;
		w->unwritten = NULL;
	}
}

static int series_take(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	struct remote_write *w = ctx;

	return gather_take(&w->gather, in, err);
}

/* Refuse requests while earlier data cannot be written: the sender keeps the data and sends it
 * again. */
static int message_take(struct remote_write *w, const void *data, size_t size, struct lp_err *err)
{
	struct lp_err later = {0};
	int r;

	pthread_mutex_lock(&w->mutex);
	w->stats.requests++;
	r = w->unwritten ? flush(w, err) : 0;
	if (r == 0)
		r = write_request_parse(data, size, series_take, w, err);
	/* The samples are held in memory, even if they cannot be written now. */
	if (r == 0 && flush(w, &later) < 0)
		lp_warn_raise(w->warn,
			"%s; what was received is kept in memory, and requests are refused until "
			"it can be written",
			later.text);
	w->stats.refused += r < 0;
	w->stats.samples = w->gather.n_samples;
	pthread_mutex_unlock(&w->mutex);
	return r;
}

int remote_write_take(struct remote_write *w, const void *body, size_t size, struct lp_err *err)
{
	_cleanup_free_ char *plain = NULL;
	size_t len;

	if (snappy_uncompressed_length(body, size, &len) != SNAPPY_OK)
		return lp_err_set(err, -EBADMSG, "the body is not compressed with snappy");
	if (len > REMOTE_WRITE_BYTES_MAX)
		return lp_err_set(err, -E2BIG, "the body unpacks to more than %zu MiB",
			REMOTE_WRITE_BYTES_MAX >> 20);
	plain = malloc(len + 1);
	if (!plain)
		return lp_err_sys(err, -ENOMEM, "cannot receive");
	if (snappy_uncompress(body, size, plain, &len) != SNAPPY_OK)
		return lp_err_set(err, -EBADMSG, "the body is not compressed with snappy");
	return message_take(w, plain, len, err);
}

struct remote_write_stats remote_write_stats(struct remote_write *w)
{
	struct remote_write_stats stats;

	pthread_mutex_lock(&w->mutex);
	stats = w->stats;
	pthread_mutex_unlock(&w->mutex);
	return stats;
}

void remote_write_close(struct remote_write *w)
{
	struct lp_err err = {0};

	if (!w)
		return;
	w->gather.hold_ms = 0;
	if (w->gather.groups && (flush(w, &err) < 0 || archive_close(w, &err) < 0))
		lp_warn_raise(w->warn, "%s", err.text);
	lp_archive_abandon(w->writer);
	gather_release(&w->gather);
	mapping_release(&w->mapping);
	lp_catalogue_free(w->catalogue);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
