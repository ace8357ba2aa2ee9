#include <limpet/archive.h>

#include "archive/dense.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/strbuf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static bool frames_are_dense(const struct frame_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		bool packs = l->items[i].type == FRAME_DATA || l->items[i].type == FRAME_LOG;

		if (packs && l->items[i].flags & FRAME_PACKED)
			return false;
	}
	return l->sealed;
}

/* A file that is being sealed, in a directory that is held open. */
struct sealing {
	int dir, fd;
	struct stat st;
	const char *path;
	char *tmp; /* the full name of the new file */
};

static void sealing_release(struct sealing *s)
{
	if (s->dir >= 0)
		close(s->dir);
	if (s->fd >= 0)
		close(s->fd);
	free(s->tmp);
}

/* Open the file, and make sure that no other process writes to it. */
static int sealing_open(struct sealing *s, struct lp_err *err)
{
	s->dir = dir_open_of(s->path, err);
	if (s->dir < 0)
		return s->dir;
	s->fd = dir_open_file(s->dir, path_basename(s->path), O_RDONLY);
	if (s->fd < 0)
		return lp_err_sys(err, s->fd, "cannot open %s", s->path);
	if (fstat(s->fd, &s->st) < 0)
		return lp_err_sys(err, -errno, "cannot open %s", s->path);
	if (flock(s->fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return lp_err_set(err, -EBUSY, "another process is writing %s", s->path);
	if (asprintf(&s->tmp, "%s.tmp", s->path) < 0) {
		s->tmp = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot seal %s", s->path);
	}
	return 0;
}

static int is_sealed(const struct sealing *s, bool *ret, struct lp_err *err)
{
	_cleanup_(frame_list_release) struct frame_list frames = {0};
	int r = frame_list_load(s->fd, &frames, err);

	if (r < 0)
		return lp_err_prefix(err, "%s", s->path);
	*ret = frames_are_dense(&frames);
	return 0;
}

struct event_copy {
	struct lp_archive_writer *to;
	struct lp_err *err;
};

static int copy_event(void *ctx, int64_t wall_us, const char *text)
{
	struct event_copy *copy = ctx;

	return lp_archive_write_event(copy->to, wall_us, text, copy->err);
}

static int copy_batches(struct lp_source *from, struct lp_archive_writer *to, struct lp_err *err)
{
	_cleanup_(dense_release) struct dense dense = {0};
	struct lp_batch *batch;
	int r = 0;

	dense_init(&dense, to);
	while (r == 0) {
		r = lp_source_next(from, &batch, err);
		if (r <= 0)
			break;
		r = dense_add(&dense, from->catalogue, batch, err);
	}
	if (r == 0)
		r = dense_flush(&dense, from->catalogue, err);
	return r;
}

/* The names of the logs in a file, in the order in which they begin. */
struct log_names {
	struct log_place items[LOG_LOGS_MAX];
	size_t n;
};

static int add_log_name(void *ctx, const struct log_place *place)
{
	struct log_names *names = ctx;

	for (size_t i = 0; i < names->n; i++) {
		if (!strcmp(names->items[i].name, place->name))
			return 0;
	}
	if (names->n == LOG_LOGS_MAX)
		return -E2BIG;
	names->items[names->n++] = *place;
	return 0;
}

struct log_copy {
	struct log_merge *merge;
	struct lp_err *err;
};

static int copy_log(void *ctx, const struct lp_log *log)
{
	struct log_copy *copy = ctx;

	return log_merge_add(copy->merge, log, copy->err);
}

DEFINE_CLEANUP(struct log_merge *, log_merge_free);

/* Copy the logs one after the other, each in large frames. */
static int copy_logs(struct lp_source *from, struct lp_archive_writer *to, struct lp_err *err)
{
	struct log_names names = {0};
	_cleanup_(log_merge_freep) struct log_merge *merge = log_merge_new(to);
	struct log_copy copy = {.merge = merge, .err = err};
	int r = merge ? reader_log_places(from, add_log_name, &names, err) : -ENOMEM;

	if (r < 0)
		return lp_err_sys(err, r, "cannot copy the logs");
	for (size_t i = 0; i < names.n && r == 0; i++) {
		r = lp_archive_logs(from, names.items[i].name, copy_log, &copy, err);
		if (r == 0)
			r = log_merge_flush(merge, err);
	}
	return r;
}

/* The meta lines that lp_archive_create() does not write by itself; the caller frees them. */
static char *extra_lines(const char *meta)
{
	static const char *const own[] = {"observer=", "interval_us=", "limpet="};
	struct strbuf extra = {0};

	while (meta && *meta) {
		size_t len = strcspn(meta, "\n");
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(own); i++)
			known |= !strncmp(meta, own[i], strlen(own[i]));
		if (!known) {
			strbuf_add(&extra, meta, len);
			strbuf_putc(&extra, '\n');
		}
		meta += len + (meta[len] == '\n');
	}
	return strbuf_take(&extra);
}

/* Copy the catalogue, events, samples and logs of one file to another. */
static int copy_contents(struct lp_source *from, struct lp_archive_writer *to, struct lp_err *err)
{
	struct event_copy copy = {.to = to, .err = err};
	struct lp_batch nothing = {0}; /* writes the catalogue, even for a file without samples */
	int r = lp_archive_write(to, from->catalogue, &nothing, LP_ARCHIVE_DENSE, err);

	if (r == 0)
		r = copy_batches(from, to, err);
	if (r == 0)
		r = lp_archive_events(from, copy_event, &copy, err);
	if (r == 0)
		r = copy_logs(from, to, err);
	return r;
}

/* Write a new file with the same meta, contents, owner and permissions. */
static int rewrite(const struct sealing *s, struct lp_source *from, struct lp_err *err)
{
	_cleanup_free_ char *extra = extra_lines(reader_meta(from));
	const char *observer = lp_archive_meta_get(from, "observer");
	struct lp_archive_meta meta = {.observer = observer ? observer : "",
		.interval_us = from->interval_us,
		.extra = extra};
	struct lp_archive_writer *to;
	int r;

	if (!extra)
		return lp_err_sys(err, -ENOMEM, "cannot seal");
	unlinkat(s->dir, path_basename(s->tmp), 0); /* left by an interrupted seal */
	r = writer_create(s->dir, s->tmp, 0600, &meta, &to, err);
	if (r < 0)
		return r;
	writer_give(to, &s->st);
	r = copy_contents(from, to, err);
	if (r < 0) {
		lp_archive_abandon(to);
		return r;
	}
	return lp_archive_close(to, err);
}

/* Is it still the file that was read? */
static bool is_same(const struct sealing *s)
{
	struct stat now;

	return fstatat(s->dir, path_basename(s->path), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		now.st_dev == s->st.st_dev && now.st_ino == s->st.st_ino;
}

static int replace(const struct sealing *s, struct lp_err *err)
{
	const char *from = path_basename(s->tmp), *to = path_basename(s->path);

	if (!is_same(s))
		return lp_err_set(err, -ESTALE, "%s is no longer there", s->path);
	if (renameat(s->dir, from, s->dir, to) < 0)
		return lp_err_sys(err, -errno, "cannot replace %s", s->path);
	return 0;
}

int lp_archive_seal(const char *path, struct lp_warn *warn, struct lp_err *err)
{
	_cleanup_(sealing_release) struct sealing s = {.dir = -1, .fd = -1, .path = path};
	_cleanup_(lp_source_closep) struct lp_source *from = NULL;
	bool sealed = false;
	int r = sealing_open(&s, err), fd;

	if (r == 0)
		r = is_sealed(&s, &sealed, err);
	if (r < 0 || sealed)
		return r;
	fd = dup(s.fd);
	r = fd < 0 ? lp_err_sys(err, -errno, "cannot open %s", path)
		   : reader_open(fd, path, NULL, warn, &from, err);
	if (r == 0)
		r = rewrite(&s, from, err);
	if (r == 0)
		r = replace(&s, err);
	if (r < 0) {
		unlinkat(s.dir, path_basename(s.tmp), 0);
		return lp_err_prefix(err, "cannot seal");
	}
	dir_sync(s.dir); /* best effort: the old file has the same data */
	return 0;
}
