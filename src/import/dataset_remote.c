#include "import/dataset_remote.h"

#include "archive/writer.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/temp.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void remote_release(struct remote_copy *copy)
{
	if (copy->tried && copy->fd >= 0)
		close(copy->fd);
	*copy = (struct remote_copy){.fd = -1};
}

/* An archive that is being written, in its own directory. */
struct fetch {
	char *dir, *path;
	struct lp_archive_writer *writer;
};

static void fetch_release(struct fetch *f)
{
	lp_archive_abandon(f->writer);
	if (f->path)
		unlink(f->path);
	if (f->dir)
		rmdir(f->dir);
	free(f->path);
	free(f->dir);
}

static int fetch_begin(
	struct fetch *f, const struct lp_source *source, const char *worse, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf extra = {0};
	struct lp_archive_meta meta = {.observer = "", .interval_us = source->interval_us};
	int r = temp_dir_make(&f->dir, err);

	if (r < 0)
		return r;
	if (asprintf(&f->path, "%s/fetched" LP_ARCHIVE_SUFFIX, f->dir) < 0)
		f->path = NULL;
	if (worse && *worse)
		strbuf_printf(&extra, "worse=%s\n", worse);
	if (!f->path || extra.failed)
		return lp_err_sys(err, -ENOMEM, "cannot fetch %s", source->path);
	meta.extra = extra.text;
	return writer_create(AT_FDCWD, f->path, 0600, &meta, &f->writer, err);
}

static void fetch_tell(const struct remote_progress *progress, const struct lp_source *source,
	const struct lp_batch *b)
{
	double span = (double)(source->last_us - source->first_us);
	double done = (double)(b->wall_us[b->n_samples - 1] - source->first_us);

	if (progress && progress->tell && span > 0)
		progress->tell(progress->ctx, "fetching", done < span ? done / span : 1);
}

static int fetch_all(struct fetch *f, struct lp_source *source, const char *worse,
	const struct remote_progress *progress, struct lp_err *err)
{
	struct lp_batch *b;
	int r;

	while ((r = lp_source_next(source, &b, err)) == 1) {
		if (!f->writer)
			r = fetch_begin(f, source, worse, err);
		if (r >= 0)
			r = lp_archive_write(
				f->writer, source->catalogue, b, LP_ARCHIVE_DENSE, err);
		if (r < 0)
			return r;
		if (b->n_samples)
			fetch_tell(progress, source, b);
	}
	return r;
}

void remote_fetch(struct lp_source *source, const char *worse,
	const struct remote_progress *progress, struct remote_copy *copy)
{
	_cleanup_(fetch_release) struct fetch f = {0};
	struct lp_err here = {0};

	fetch_all(&f, source, worse, progress, &copy->failure);
	if (!f.writer || !f.path)
		return;
	if (lp_archive_close(TAKE_PTR(f.writer), &here) < 0 && !copy->failure.code)
		copy->failure = here;
	copy->interval_us = source->interval_us;
	copy->fd = open(f.path, O_RDONLY | O_CLOEXEC);
	if (copy->fd < 0 && !copy->failure.code)
		lp_err_sys(&copy->failure, -errno, "cannot open %s", f.path);
}

int remote_open(const struct remote_copy *copy, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	char path[64];

	if (copy->fd < 0) {
		*err = copy->failure;
		return copy->failure.code;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy->fd);
	return lp_archive_open(path, select, warn, ret, err);
}
