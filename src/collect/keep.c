#include "collect/keep.h"

#include "archive/frames.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/time.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAMP_LEN 16 /* 20110509T000005Z */

int64_t keep_day_start(int64_t wall_us)
{
	return floor_div(wall_us - KEEP_DAY_OFFSET_US, US_PER_DAY) * US_PER_DAY +
		KEEP_DAY_OFFSET_US;
}

void keep_list_release(struct keep_list *l)
{
	for (size_t i = 0; l->files && i < l->n; i++)
		free(l->files[i].path);
	if (l->files)
		close(l->dir);
	free(l->files);
	*l = (struct keep_list){0};
}

/* Does the name consist of NAME-STAMP and the suffix? If so, return its time. */
static bool name_matches(
	const char *file, const char *name, const char *suffix, int64_t *ret_start_us)
{
	size_t len = strlen(name);
	char stamp[STAMP_LEN + 1];
	struct lp_err ignored;

	if (strncmp(file, name, len) || file[len] != '-' ||
		strlen(file + len + 1) != STAMP_LEN + strlen(suffix) ||
		strcmp(file + len + 1 + STAMP_LEN, suffix))
		return false;
	memcpy(stamp, file + len + 1, STAMP_LEN);
	stamp[STAMP_LEN] = '\0';
	return stamp[STAMP_LEN - 1] == 'Z' && time_parse(stamp, ret_start_us, &ignored) == 0;
}

static int list_add(struct keep_list *l, const char *dir, const char *file, int64_t start_us)
{
	struct keep_file f = {.start_us = start_us};
	struct stat st;

	if (fstatat(l->dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* it was just removed */
	if (array_reserve(&l->files, &l->cap, l->n + 1, sizeof(f)) < 0 ||
		asprintf(&f.path, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	f.bytes = (uint64_t)st.st_size;
	f.written_us = (int64_t)st.st_mtim.tv_sec * US_PER_SEC +
		st.st_mtim.tv_nsec / (NS_PER_SEC / US_PER_SEC);
	l->files[l->n++] = f;
	l->bytes += f.bytes;
	return 0;
}

static int list_fill(struct keep_list *l, const char *dir, const char *name, const char *suffix)
{
	struct dirent **entries = NULL;
	int n = dir_list(l->dir, &entries, NULL),
	    r = n < 0 ? n : 0; /* the order by name is the order by time */
	int64_t start_us;

	for (int i = 0; i < n; i++) {
		if (r == 0 && name_matches(entries[i]->d_name, name, suffix, &start_us))
			r = list_add(l, dir, entries[i]->d_name, start_us);
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int list_load(const char *dir, const char *name, const char *suffix, struct keep_list *ret,
	struct lp_err *err)
{
	_cleanup_close_ int fd = dir_open(dir, err);
	struct keep_list l = {.dir = fd};
	int r;

	if (fd == -ENOENT) {
		*ret = (struct keep_list){0};
		return 0;
	}
	if (fd < 0)
		return fd;
	r = list_fill(&l, dir, name, suffix);
	if (l.files)
		/* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the cleanup reads it */
		fd = -1; /* the list owns it now */
	if (r < 0) {
		keep_list_release(&l);
		return lp_err_sys(err, r, "cannot read directory %s", dir);
	}
	*ret = l;
	return 0;
}

int keep_list_load(const char *dir, const char *name, struct keep_list *ret, struct lp_err *err)
{
	return list_load(dir, name, LP_ARCHIVE_SUFFIX, ret, err);
}

int keep_remove_leftovers(const char *dir, const char *name, struct lp_err *err)
{
	_cleanup_(keep_list_release) struct keep_list l = {0};
	int r = list_load(dir, name, LP_ARCHIVE_SUFFIX ".tmp", &l, err);

	for (size_t i = 0; r == 0 && i < l.n; i++) {
		if (unlinkat(l.dir, path_basename(l.files[i].path), 0) < 0 && errno != ENOENT)
			r = lp_err_sys(err, -errno, "cannot remove %s", l.files[i].path);
	}
	return r;
}

/* The duration that the samples of a file cover, up to now. */
static int64_t file_covers_us(const struct keep_list *l, const struct keep_file *f, int64_t now_us)
{
	_cleanup_close_ int fd = dir_open_file(l->dir, path_basename(f->path), O_RDONLY);
	_cleanup_(frame_list_release) struct frame_list frames = {0};
	int64_t first_us = INT64_MAX, last_us = INT64_MIN;
	struct lp_err ignored = {0};

	if (fd < 0 || frame_list_load(fd, &frames, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < frames.n; i++) {
		const struct frame *frame = &frames.items[i];

		if (frame->type != FRAME_DATA && frame->type != FRAME_LOG)
			continue;
		first_us = frame->first_us < first_us ? frame->first_us : first_us;
		last_us = frame->last_us > last_us ? frame->last_us : last_us;
	}
	last_us = last_us < now_us ? last_us : now_us;
	return first_us < last_us ? last_us - first_us : 0;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Do the archives confirm that the clock is right? */
static bool clock_has_witnesses(const struct keep_list *l, const struct keep_limits *limits)
{
	int64_t now_us = limits->now_us, span_us = 0, cover_us = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct keep_file *f = &l->files[i];

		if (f->start_us > now_us || f->start_us < now_us - KEEP_WITNESS_US)
			continue;
		if (now_us - f->start_us > span_us)
			span_us = now_us - f->start_us;
		cover_us += file_covers_us(l, f, now_us);
	}
	return span_us >= least(KEEP_WITNESS_SPAN_US, limits->age_us) &&
		cover_us >= least(KEEP_WITNESS_COVER_US, limits->age_us);
}

/* Is the file too old? It ends where the next one begins. A modification time in the future is
 * ignored.
 */
static bool is_old(const struct keep_list *l, size_t i, const struct keep_limits *limits)
{
	int64_t limit_us = limits->now_us - limits->age_us, written_us = l->files[i].written_us;

	return limits->age_us && i + 1 < l->n && l->files[i + 1].start_us < limit_us &&
		(written_us < limit_us || written_us > limits->now_us);
}

/* The number of files that are too old, without the current one. */
static size_t count_old(
	const struct keep_list *l, const char *current, const struct keep_limits *limits)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += is_old(l, i, limits) && strcmp(l->files[i].path, current) != 0;
	return n;
}

int keep_expire(const char *dir, const char *name, const char *current,
	const struct keep_limits *limits, struct keep_result *ret, struct lp_err *err)
{
	_cleanup_(keep_list_release) struct keep_list l = {0};
	struct keep_result result = {0};
	int r = keep_list_load(dir, name, &l, err);

	if (r < 0)
		return r;
	result.n_waiting = count_old(&l, current, limits);
	if (result.n_waiting && clock_has_witnesses(&l, limits))
		result.n_waiting = 0;
	result.bytes = l.bytes;
	for (size_t i = 0; i < l.n; i++) {
		const struct keep_file *f = &l.files[i];
		bool old = is_old(&l, i, limits) && !result.n_waiting;
		bool large = limits->bytes && result.bytes > limits->bytes;

		if (!strcmp(f->path, current) || (!old && !large))
			continue;
		if (unlinkat(l.dir, path_basename(f->path), 0) == 0)
			result.bytes -= f->bytes;
		else
			r = lp_err_sys(err, -errno, "cannot remove %s", f->path);
	}
	for (size_t i = 0; i < l.n; i++) {
		if (!strcmp(l.files[i].path, current))
			result.bytes -= l.files[i].bytes;
	}
	*ret = result;
	return r;
}
