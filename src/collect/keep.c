#include "collect/keep.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include <dirent.h>
#include <errno.h>
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
	for (size_t i = 0; i < l->n; i++)
		free(l->files[i].path);
	free(l->files);
	*l = (struct keep_list){0};
}

/* Is this NAME-STAMP and the suffix? Then when does it begin? */
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

	if (asprintf(&f.path, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	if (stat(f.path, &st) < 0) { /* removed just now */
		free(f.path);
		return 0;
	}
	f.bytes = (uint64_t)st.st_size;
	if (array_reserve(&l->files, &l->cap, l->n + 1, sizeof(f)) < 0) {
		free(f.path);
		return -ENOMEM;
	}
	l->files[l->n++] = f;
	l->bytes += f.bytes;
	return 0;
}

static int list_load(const char *dir, const char *name, const char *suffix, struct keep_list *ret,
	struct lp_err *err)
{
	struct keep_list l = {0};
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, NULL, alphasort), r = 0; /* by name is by time */
	int64_t start_us;

	if (n < 0 && errno != ENOENT)
		return lp_err_sys(err, -errno, "cannot read directory %s", dir);
	for (int i = 0; i < n; i++) {
		if (r == 0 && name_matches(entries[i]->d_name, name, suffix, &start_us))
			r = list_add(&l, dir, entries[i]->d_name, start_us);
		free(entries[i]);
	}
	free(entries);
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
		if (unlink(l.files[i].path) < 0 && errno != ENOENT)
			r = lp_err_sys(err, -errno, "cannot remove %s", l.files[i].path);
	}
	return r;
}

int keep_expire(const char *dir, const char *name, const char *current, int64_t now_us,
	int64_t age_us, uint64_t bytes, uint64_t *ret_bytes, struct lp_err *err)
{
	_cleanup_(keep_list_release) struct keep_list l = {0};
	int r = keep_list_load(dir, name, &l, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++) {
		const struct keep_file *f = &l.files[i];
		bool old = age_us && i + 1 < l.n && l.files[i + 1].start_us < now_us - age_us;
		bool large = bytes && l.bytes > bytes;

		if (!strcmp(f->path, current) || (!old && !large))
			continue;
		if (unlink(f->path) == 0)
			l.bytes -= f->bytes;
		else
			r = lp_err_sys(err, -errno, "cannot remove %s", f->path);
	}
	*ret_bytes = l.bytes;
	for (size_t i = 0; i < l.n; i++) {
		if (!strcmp(l.files[i].path, current))
			*ret_bytes -= l.files[i].bytes;
	}
	return r;
}
