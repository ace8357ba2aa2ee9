#include <limpet/archive.h>

#include "archive/dense.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "archive/reader.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int is_sealed(const char *path, bool *ret, struct lp_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(frame_list_release) struct frame_list frames = {0};
	int r;

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	r = frame_list_load(fd, &frames, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", path);
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

/* Log after log, each in large frames. */
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

/* The catalogue, events, samples and logs of one file into another. */
static int copy_contents(struct lp_source *from, struct lp_archive_writer *to, struct lp_err *err)
{
	struct event_copy copy = {.to = to, .err = err};
	struct lp_batch nothing = {0}; /* brings the catalogue, also of a file without samples */
	int r = lp_archive_write(to, from->catalogue, &nothing, LP_ARCHIVE_DENSE, err);

	if (r == 0)
		r = copy_batches(from, to, err);
	if (r == 0)
		r = lp_archive_events(from, copy_event, &copy, err);
	if (r == 0)
		r = copy_logs(from, to, err);
	return r;
}

/* A new file with the same meta and contents. */
static int rewrite(struct lp_source *from, const char *tmp, struct lp_err *err)
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
	unlink(tmp); /* left by a seal that was interrupted */
	r = lp_archive_create(tmp, &meta, &to, err);
	if (r < 0)
		return r;
	r = copy_contents(from, to, err);
	if (r < 0) {
		lp_archive_abandon(to);
		return r;
	}
	return lp_archive_close(to, err);
}

/* The new file belongs to the same people as the old one, as far as we may say so. */
static void keep_owner(const char *path, const char *tmp)
{
	struct stat st;

	if (stat(path, &st) == 0 && chown(tmp, st.st_uid, st.st_gid) == 0)
		chmod(tmp, st.st_mode & 07777);
}

int lp_archive_seal(const char *path, struct lp_warn *warn, struct lp_err *err)
{
	_cleanup_free_ char *tmp = NULL;
	_cleanup_(lp_source_closep) struct lp_source *from = NULL;
	bool sealed = false;
	int r = is_sealed(path, &sealed, err);

	if (r < 0 || sealed)
		return r;
	if (asprintf(&tmp, "%s.tmp", path) < 0) {
		tmp = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot seal %s", path);
	}
	r = lp_archive_open(path, NULL, warn, &from, err);
	if (r == 0)
		r = rewrite(from, tmp, err);
	if (r == 0)
		keep_owner(path, tmp);
	if (r == 0 && rename(tmp, path) < 0)
		r = lp_err_sys(err, -errno, "cannot replace %s", path);
	if (r < 0) {
		unlink(tmp);
		return lp_err_prefix(err, "cannot seal");
	}
	file_sync_dir_of(path); /* best effort: the old file is as good as the new one */
	return 0;
}
