#include "collect/spool_file.h"

#include "archive/frames.h"
#include "archive/writer.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/time.h"
#include "collect/keep.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file may name twice the existing components, plus this many. */
#define SPARE_NAMES 4096
/* A file may have this many frames; the writer remembers the offset of each. */
#define FRAMES_MAX (1 << 18)

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static void seal(struct spool_file *f, const char *path)
{
	struct lp_err err = {0};

	if (f->config->written)
		return;
	if (f->sealer)
		sealer_add(f->sealer, path);
	else if (lp_archive_seal(path, f->config->warn, &err) < 0)
		lp_warn_raise(f->config->warn, "%s", err.text);
}

/* Was this file written with the current settings, so that it can be continued? */
static bool continues_settings(const struct spool_file *f, const char *path, int64_t *ret_last_us)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	struct lp_err err = {0};
	const char *observer;

	if (lp_archive_open(path, NULL, NULL, &source, &err) < 0)
		return false;
	observer = lp_archive_meta_get(source, "observer");
	*ret_last_us = source->last_us;
	return source->interval_us == f->config->interval_us && observer &&
		!strcmp(observer, f->config->observer);
}

void spool_file_tidy(struct spool_file *f)
{
	_cleanup_(keep_list_release) struct keep_list files = {0};
	struct lp_err err = {0};

	if (keep_list_load(f->config->dir, f->config->name, &files, &err) < 0)
		return;
	/* Do this before the sealer creates new ones. Files that cannot be removed are tried again
	 * next time. If the directory is unusable, the first write reports it. */
	keep_remove_leftovers(f->config->dir, f->config->name, &err);
	/* The newest file may be continued; the first batch decides that. */
	for (size_t i = 0; i + 1 < files.n; i++)
		seal(f, files.files[i].path);
}

/* Remove files beyond the limits. Called when a file begins, and when the files are too large. */
static void expire(struct spool_file *f, int64_t now_us)
{
	const struct spool_config *c = f->config;
	struct keep_limits limits = {
		.now_us = now_us, .age_us = c->keep_age_us, .bytes = c->keep_bytes};
	struct keep_result result = {.bytes = f->bytes_elsewhere};
	struct lp_err err = {0};
	int r;

	if (!c->keep_age_us && !c->keep_bytes)
		return;
	r = keep_expire(c->dir, c->name, f->path, &limits, &result, &err);
	if (r < 0 && !f->expire_warned)
		lp_warn_raise(c->warn, "%s (reported once)", err.text);
	if (r == 0 && result.n_waiting && !f->waiting_warned)
		lp_warn_raise(c->warn,
			"archives older than --keep stay until the clock has been right for a day: "
			"no samples confirm it yet");
	f->bytes_elsewhere = result.bytes;
	f->waiting_warned = result.n_waiting;
	f->expire_warned = r < 0;
}

/* The time at which the machine was started. */
static int64_t boot_us(void)
{
	return clock_us(CLOCK_REALTIME) - clock_us(CLOCK_BOOTTIME);
}

/* May the sender have treated this file as finished, or have sent data that did not survive? That
 * is possible if it has an index at its end, or was written before the last boot. */
static bool is_closed(const struct keep_list *files, const struct keep_file *file)
{
	_cleanup_(frame_list_release) struct frame_list frames = {0};
	_cleanup_close_ int fd = dir_open_file(files->dir, path_basename(file->path), O_RDONLY);
	struct lp_err ignored = {0};

	return file->written_us < boot_us() || fd < 0 ||
		frame_list_load(fd, &frames, &ignored) < 0 || frames.sealed;
}

/* After a crash, continue the newest file if it belongs to this recording day and this recorder. */
static bool file_resume(struct spool_file *f, int64_t first_us)
{
	_cleanup_(keep_list_release) struct keep_list files = {0};
	struct lp_err err = {0};
	const struct keep_file *newest;
	int64_t last_us = 0;

	f->resumed = true;
	if (keep_list_load(f->config->dir, f->config->name, &files, &err) < 0 || !files.n)
		return false;
	newest = &files.files[files.n - 1];
	if (newest->start_us < keep_day_start(first_us) || newest->start_us > first_us ||
		!continues_settings(f, newest->path, &last_us) ||
		(f->config->written && is_closed(&files, newest)) ||
		writer_append(files.dir, newest->path, &f->archive, &err) < 0) {
		seal(f, newest->path);
		return false;
	}
	snprintf(f->path, sizeof(f->path), "%s", newest->path);
	return true;
}

static mode_t dir_mode(const struct spool_config *c)
{
	return c->private ? 0700 : 0755;
}

static int create_in(struct spool_file *f, int dir, struct lp_err *err)
{
	const struct spool_config *c = f->config;
	struct lp_archive_meta meta = {
		.observer = c->observer, .interval_us = c->interval_us, .extra = c->meta};

	return writer_create(dir, f->path, c->private ? 0600 : 0644, &meta, &f->archive, err);
}

/* The file that the user named, or its next part. */
static int create_named(struct spool_file *f, struct lp_err *err)
{
	const char *path = f->config->path;
	size_t len = strlen(path), suffix = strlen(LP_ARCHIVE_SUFFIX);
	_cleanup_close_ int dir = dir_open_of(path, err);

	if (dir < 0)
		return dir;
	if (!f->n_parts)
		snprintf(f->path, sizeof(f->path), "%s", path);
	else if (snprintf(f->path, sizeof(f->path), "%.*s-%u" LP_ARCHIVE_SUFFIX,
			 (int)(len > suffix ? len - suffix : len), path,
			 f->n_parts + 1) >= (int)sizeof(f->path))
		return lp_err_set(err, -ENAMETOOLONG, "the name of the file is too long");
	return create_in(f, dir, err);
}

/* Create a file named after its first sample, or after the next free second if that name exists. */
static int file_create(struct spool_file *f, int64_t first_us, struct lp_err *err)
{
	const struct spool_config *c = f->config;
	_cleanup_close_ int dir = -1;
	char stamp[TIME_TEXT_MAX];
	int r = 0;

	if (c->path)
		return create_named(f, err);
	dir = dir_make(c->dir, dir_mode(c), err);
	if (dir < 0)
		return dir;
	for (int64_t tries = 0; r == 0 && tries < 3600; tries++) {
		snprintf(f->path, sizeof(f->path), "%s/%s-%s" LP_ARCHIVE_SUFFIX, c->dir, c->name,
			time_format_compact(first_us + tries * US_PER_SEC, stamp));
		r = create_in(f, dir, err);
		if (r != -EEXIST)
			break;
		r = 0;
	}
	if (r == 0 && !f->archive)
		r = lp_err_set(err, -EEXIST, "cannot find a free name like %s", f->path);
	if (r == 0)
		dir_sync(dir);
	return r;
}

static int file_begin(struct spool_file *f, int64_t first_us, struct lp_err *err)
{
	struct stat st;
	int r = 0;

	if (f->resumed || f->config->anew || !file_resume(f, first_us))
		r = file_create(f, first_us, err);
	if (r < 0)
		return r;
	if (writer_stat(f->archive, &st) == 0) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
	}
	f->n_files++;
	f->bytes_before = f->bytes_written - lp_archive_size(f->archive);
	expire(f, first_us);
	return 0;
}

/* Is the file no longer at its path? It may have been removed, or its file system may have been
 * unmounted lazily, so the open file is invisible to others. */
static bool file_vanished(const struct spool_file *f)
{
	struct stat st;

	if (lp_archive_vanished(f->archive))
		return true;
	if (lstat(f->path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ESTALE;
	return st.st_dev != f->dev || st.st_ino != f->ino;
}

int spool_file_lock(struct spool_file *f, struct lp_err *err)
{
	const struct spool_config *c = f->config;

	return c->path ? 0 : spool_lock_take(&f->lock, c->dir, c->name, dir_mode(c), err);
}

int spool_file_ready(struct spool_file *f, int64_t first_us, bool new_file, struct lp_err *err)
{
	int r = spool_file_lock(f, err);

	if (r < 0)
		return r;
	if (f->archive && new_file) {
		spool_file_finish(f);
		f->n_parts++;
	}
	if (f->archive && file_vanished(f)) {
		lp_warn_raise(f->config->warn, "%s is gone; beginning a new file", f->path);
		lp_archive_abandon(f->archive);
		f->archive = NULL;
	}
	if (f->archive)
		return 0;
	return file_begin(f, first_us, err);
}

bool spool_file_crowded(const struct spool_file *f, const struct lp_catalogue *c)
{
	return f->archive &&
		(writer_components(f->archive) / 2 > c->n_components + SPARE_NAMES / 2 ||
			writer_frames(f->archive) > FRAMES_MAX);
}

/* Make written data survive power loss. 0 if the file system does not support that, which is
 * reported once. */
static int file_sync(struct spool_file *f, struct lp_err *err)
{
	int64_t now_us = f->config->sync_us ? clock_us(CLOCK_MONOTONIC) : 0;
	int r;

	if (f->config->sync_us && f->synced_us && now_us - f->synced_us < f->config->sync_us)
		return 0;
	r = lp_archive_sync(f->archive, err);
	if (r == 0)
		f->synced_us = now_us;
	if (r != -EINVAL && r != -ENOSYS && r != -EOPNOTSUPP)
		return r;
	if (!f->sync_warned)
		lp_warn_raise(f->config->warn, "%s (reported once)", err->text);
	f->sync_warned = true;
	return 0;
}

int spool_file_write(struct spool_file *f, const struct lp_catalogue *c,
	const struct lp_batch *batch, struct lp_err *err)
{
	int r = lp_archive_write(f->archive, c, batch, LP_ARCHIVE_LOOSE, err);

	if (r < 0)
		return r;
	r = file_sync(f, err);
	if (r < 0) {
		writer_take_back(f->archive);
		return r;
	}
	f->bytes_written = f->bytes_before + lp_archive_size(f->archive);
	if (f->config->keep_bytes &&
		f->bytes_elsewhere + lp_archive_size(f->archive) > f->config->keep_bytes &&
		f->bytes_elsewhere)
		expire(f, batch->wall_us[batch->n_samples - 1]);
	return 0;
}

int spool_file_write_log(struct spool_file *f, struct trace_log *log, struct lp_err *err)
{
	int r = trace_log_write(log, f->archive, err);

	if (r == 0)
		f->bytes_written = f->bytes_before + lp_archive_size(f->archive);
	return r;
}

void spool_file_finish(struct spool_file *f)
{
	struct lp_err err = {0};

	if (!f->archive)
		return;
	if (lp_archive_close(f->archive, &err) < 0)
		lp_warn_raise(f->config->warn, "%s", err.text);
	f->archive = NULL;
	seal(f, f->path);
}

void spool_file_release(struct spool_file *f)
{
	lp_archive_abandon(f->archive);
	f->archive = NULL;
	spool_lock_release(&f->lock);
}
