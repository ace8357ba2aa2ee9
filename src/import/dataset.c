#include <limpet/archive.h>
#include <limpet/dataset.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include "import/dataset.h"
#include "import/dataset_team.h"
#include "import/unpack.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES 4096
#define DEPTH_MAX 16
#define REMOTE_SPAN_US (7200 * US_PER_SEC)
#define FAILURES_MAX 1000 /* failures to remember; more would not help */

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);
DEFINE_CLEANUP(struct lp_source *, lp_source_close);

void lp_dataset_close(struct lp_dataset *ds)
{
	if (!ds)
		return;
	for (size_t i = 0; i < ds->n; i++) {
		free(ds->files[i].path);
		free(ds->files[i].observer);
		free(ds->files[i].addresses);
		free(ds->files[i].worse);
		clock_release(&ds->files[i].clock);
		if (ds->files[i].remote)
			remote_release(&ds->files[i].copy);
	}
	free(ds->files);
	for (size_t i = 0; i < ds->n_failures; i++)
		free(ds->failures[i]);
	free(ds->failures);
	free(ds->skipped);
	for (size_t i = 0; i < ds->n_notes; i++)
		free(ds->notes[i]);
	free(ds->notes);
	for (size_t i = 0; i < ds->n_aside; i++)
		free(ds->aside[i].observer);
	free(ds->aside);
	for (size_t i = 0; i < ds->n_offsets; i++)
		free(ds->offsets[i].observer);
	free(ds->offsets);
	strmap_release(&ds->directories);
	free(ds);
}

size_t lp_dataset_n_files(const struct lp_dataset *ds)
{
	return ds->n;
}

const char *lp_dataset_path(const struct lp_dataset *ds, size_t file)
{
	return ds->files[file].path;
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/* The importer that is most certain about a file, or NULL. */
static const struct importer *importer_guess(const char *path, const unsigned char *head, size_t n)
{
	const struct importer *best = NULL;
	enum import_match best_match = IMPORT_NO;

	for (const struct importer *const *i = importers; *i; i++) {
		enum import_match match = (*i)->probe ? (*i)->probe(path, head, n) : IMPORT_NO;

		if (match > best_match) {
			best = *i;
			best_match = match;
		}
	}
	return best;
}

/* Describe why no importer reads a file that begins with `head`; `n_plain` bytes of it were
 * unpacked. */
static int refuse_unknown(
	const char *path, const unsigned char *head, size_t n, size_t n_plain, struct lp_err *err)
{
	const struct unpack_format *format = unpack_format_of(head, n);

	if (!n)
		return lp_err_set(err, -ENOMSG, "%s: the file is empty", path);
	if (!n_plain && unpack_is_packed(head, n))
		return lp_err_set(err, -ENOMSG,
			"%s is compressed, but its beginning is damaged or cut off", path);
	if (format && !unpack_is_packed(head, n))
		return lp_err_set(err, -ENOMSG,
			"%s is compressed with %s; decompress it first: %s %s", path, format->name,
			format->command, path);
	return lp_err_set(err, -ENOMSG,
		"%s: neither an archive nor a format that limpet imports (see 'limpet help "
		"import')",
		path);
}

/* The importer for a file. -ENOMSG: none. A file that the user named has the format that the user
 * named. A file in a directory must look like that format. */
static int file_probe(const struct lp_dataset *ds, const char *path, bool named,
	struct data_file *ret, struct lp_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char head[HEAD_BYTES];
	unsigned char plain[HEAD_BYTES];
	size_t n_plain = 0;
	ssize_t n;

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	n = file_pread_full(fd, head, sizeof(head), 0);
	if (n > 0)
		n_plain = unpack_head_of(fd, plain, sizeof(plain));
	if (n_plain) {
		memcpy(head, plain, n_plain);
		n = (ssize_t)n_plain;
	}
	if (n_plain >= 4 && !memcmp(head, "\x89LPA", 4))
		return lp_err_set(err, -EINVAL,
			"%s is a compressed archive: unpack it first (limpet compresses archives "
			"itself)",
			path);
	if (n == -ESPIPE)
		return lp_err_set(err, -EINVAL, "cannot read %s: it is not a regular file", path);
	if (n < 0)
		return lp_err_sys(err, (int)n, "cannot read %s", path);
	if ((n >= 4 && !memcmp(head, "\x89LPA", 4)) || has_suffix(path, LP_ARCHIVE_SUFFIX))
		return 0;
	if (!ds->forced || !ds->forced->probe)
		ret->importer = importer_guess(path, head, (size_t)n);
	else if (named || ds->forced->probe(path, head, (size_t)n) != IMPORT_NO)
		ret->importer = ds->forced;
	if (ret->importer)
		return 0;
	return refuse_unknown(path, head, (size_t)n, n_plain, err);
}

static int dataset_append(
	struct lp_dataset *ds, const char *path, struct data_file *f, struct lp_err *err)
{
	f->path = strdup(path);
	if (!f->path || array_reserve(&ds->files, &ds->cap, ds->n + 1, sizeof(*ds->files)) < 0) {
		free(f->path);
		return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
	}
	ds->files[ds->n++] = *f;
	return 0;
}

static int dataset_add_file(struct lp_dataset *ds, const char *path, bool named, struct lp_err *err)
{
	struct data_file f = {.interval_us = -1};
	int r = file_probe(ds, path, named, &f, err);

	return r < 0 ? r : dataset_append(ds, path, &f, err);
}

static int dataset_add_address(struct lp_dataset *ds, const char *path, struct lp_err *err)
{
	struct data_file f = {.interval_us = -1, .remote = true};

	f.importer = importer_find_address(path, err);
	return f.importer ? dataset_append(ds, path, &f, err) : -EINVAL;
}

static int dataset_add_dir(
	struct lp_dataset *ds, const char *path, unsigned depth, struct lp_err *err);

int dataset_remember(struct lp_dataset *ds, const struct lp_err *here)
{
	char *text;

	for (size_t i = 0; i < ds->n_failures; i++) {
		if (!strcmp(ds->failures[i], here->text))
			return 0;
	}
	if (ds->n_failures == FAILURES_MAX)
		return 0;
	text = strdup(here->text);
	if (!text ||
		array_reserve(&ds->failures, &ds->cap_failures, ds->n_failures + 1,
			sizeof(*ds->failures)) < 0) {
		free(text);
		return -ENOMEM;
	}
	ds->failures[ds->n_failures++] = text;
	return 0;
}

/* Count a file that is not data, and remember the first one. */
static int dataset_skip(struct lp_dataset *ds, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!ds->n_skipped++)
		ds->skipped = strdup(slash ? slash + 1 : path);
	return ds->skipped ? 0 : -ENOMEM;
}

/* An entry of a directory that cannot be read does not prevent reading the rest; it is reported at
 * the end.
 */
static int dataset_pass_over(
	struct lp_dataset *ds, const char *path, const struct lp_err *here, struct lp_err *err)
{
	if (here->code == -ENOMEM) {
		*err = *here;
		return -ENOMEM;
	}
	if (here->code == -ENOMSG)
		return dataset_skip(ds, path) < 0 ? lp_err_sys(err, -ENOMEM, "cannot open data")
						  : 0;
	if (dataset_remember(ds, here) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot open data");
	if (ds->unread.code)
		lp_warn_raise(ds->warn, "%s", here->text);
	else
		ds->unread = *here;
	return 0;
}

/* Is this directory new? Links may form cycles. */
static int dataset_enter(struct lp_dataset *ds, const struct stat *st, struct lp_err *err)
{
	char key[64];
	uint32_t ignored;

	snprintf(key, sizeof(key), "%jx:%jx", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
	if (strmap_get(&ds->directories, key, &ignored))
		return 0;
	if (strmap_put(&ds->directories, key, 0) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot open data");
	return 1;
}

/* One entry of a directory: files of an unknown format are skipped. */
static int dataset_add_entry(
	struct lp_dataset *ds, const char *path, unsigned depth, struct lp_err *err)
{
	struct lp_err here = {0};
	struct stat st;
	int r = 0;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT && errno != ELOOP) /* broken links */
			r = lp_err_sys(&here, -errno, "cannot read %s", path);
	} else if (S_ISDIR(st.st_mode) && depth >= DEPTH_MAX) {
		r = lp_err_set(&here, -ELOOP, "%s: limpet does not look deeper than %d directories",
			path, DEPTH_MAX);
	} else if (S_ISDIR(st.st_mode)) {
		r = dataset_enter(ds, &st, &here);
		if (r > 0)
			r = dataset_add_dir(ds, path, depth + 1, &here);
	} else if (S_ISREG(st.st_mode)) {
		r = dataset_add_file(ds, path, false, &here);
	}
	return r < 0 ? dataset_pass_over(ds, path, &here, err) : 0;
}

static int not_hidden(const struct dirent *e)
{
	/* PATH.tmp is an archive that is being sealed; the original still exists. */
	return e->d_name[0] != '.' && !has_suffix(e->d_name, LP_ARCHIVE_SUFFIX ".tmp");
}

static int dataset_add_dir(
	struct lp_dataset *ds, const char *path, unsigned depth, struct lp_err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, not_hidden, alphasort), r = 0;

	if (n < 0)
		return lp_err_sys(err, -errno, "cannot read directory %s", path);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *full = NULL;

		if (r == 0 && asprintf(&full, "%s/%s", path, entries[i]->d_name) < 0) {
			full = NULL;
			r = lp_err_sys(err, -ENOMEM, "cannot read directory %s", path);
		}
		if (r == 0 && full)
			r = dataset_add_entry(ds, full, depth, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* A file that the user named. If there are several, they may come from a shell glob (recordings and
 * their descriptions are in one directory), so files that are not data are skipped. */
static int dataset_add_named(
	struct lp_dataset *ds, const char *path, bool alone, struct lp_err *err)
{
	struct lp_err here = {0};
	int r = dataset_add_file(ds, path, true, &here);

	if (r == -ENOMSG && !alone)
		return dataset_skip(ds, path) < 0 ? lp_err_sys(err, -ENOMEM, "cannot open data")
						  : 0;
	if (r < 0 && err)
		*err = here;
	return r;
}

/* A name that several files share, "20261117" for 20261117.meta and others. Returns 1, or 0 if
 * there is no such name.
 */
static int dataset_add_base(struct lp_dataset *ds, const char *path, struct lp_err *err)
{
	for (const struct importer *const *i = importers; *i; i++) {
		_cleanup_free_ char *full = NULL;

		if (!(*i)->base_suffix)
			continue;
		if (asprintf(&full, "%s%s", path, (*i)->base_suffix) < 0) {
			full = NULL;
			return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
		}
		if (access(full, F_OK) == 0) {
			int r = dataset_add_file(ds, full, true, err);

			return r < 0 ? r : 1;
		}
	}
	return 0;
}

static int dataset_add_path(struct lp_dataset *ds, const char *path, bool alone, struct lp_err *err)
{
	size_t before = ds->n;
	struct stat st;
	int r;

	if (importer_is_address(path))
		return dataset_add_address(ds, path, err);
	if (stat(path, &st) < 0) {
		int missing = -errno;

		r = missing == -ENOENT ? dataset_add_base(ds, path, err) : 0;
		return r < 0 ? r : r > 0 ? 0 : lp_err_sys(err, missing, "cannot open %s", path);
	}
	if (!S_ISDIR(st.st_mode))
		return dataset_add_named(ds, path, alone, err);
	r = dataset_enter(ds, &st, err);
	if (r <= 0)
		return r; /* 0: it was named twice */
	r = dataset_add_dir(ds, path, 0, err);
	if (r < 0 || ds->n > before)
		return r;
	if (!ds->unread.code)
		return lp_err_set(err, -ENOENT, "%s has no file that limpet can read", path);
	*err = ds->unread;
	return ds->unread.code;
}

/* "skipped 3 files that are not data (ddr-none-1.json and others)" */
static int tell_skipped(struct lp_dataset *ds, struct lp_err *err)
{
	if (!ds->n_skipped)
		return 0;
	if (!ds->n)
		return lp_err_set(err, -ENOMSG,
			"none of these is data: limpet can read neither %s nor %zu other files "
			"(see 'limpet help import')",
			ds->skipped, ds->n_skipped - 1);
	if (dataset_tell(ds, "skipped %zu file%s not data (%s%s)", ds->n_skipped,
		    ds->n_skipped == 1 ? " that is" : "s that are", ds->skipped,
		    ds->n_skipped == 1 ? "" : " and others") < 0)
		return lp_err_sys(err, -ENOMEM, "cannot open data");
	return 0;
}

int lp_dataset_open(const char *const *paths, size_t n_paths, const char *importer,
	const void *options, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = calloc(1, sizeof(*ds));
	int r = 0;

	if (!ds)
		return lp_err_sys(err, -ENOMEM, "cannot open data");
	ds->options = options;
	ds->opened_us = clock_us(CLOCK_REALTIME);
	ds->warn = warn;
	ds->forced = importer ? importer_find(importer) : NULL;
	if (importer && !ds->forced)
		return lp_err_set(err, -EINVAL, "there is no importer '%s'", importer);
	for (size_t i = 0; r == 0 && i < n_paths; i++)
		r = dataset_add_path(ds, paths[i], n_paths == 1, err);
	if (r == 0)
		r = tell_skipped(ds, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ds);
	return 0;
}

void lp_dataset_limit(struct lp_dataset *ds, int64_t from_us, int64_t to_us)
{
	ds->from_us = from_us;
	ds->to_us = to_us;
}

/* A remote source has no beginning and no end. The default is the last two hours; the range stays
 * the same if it is read again. */
static struct lp_select remote_select(const struct lp_dataset *ds, const struct lp_select *select)
{
	struct lp_select want = select ? *select : (struct lp_select){0};

	if (!want.from_us)
		want.from_us = ds->from_us;
	if (!want.to_us)
		want.to_us = ds->to_us;
	if (!want.to_us && !want.follow)
		want.to_us = ds->opened_us;
	if (!want.from_us)
		want.from_us = (want.to_us ? want.to_us : ds->opened_us) - REMOTE_SPAN_US;
	return want;
}

static int file_open(const struct lp_dataset *ds, const struct data_file *f,
	const struct lp_select *select, struct lp_warn *warn, struct lp_source **ret,
	struct lp_err *err)
{
	const void *options = f->importer == ds->forced ? ds->options : NULL;

	if (f->remote)
		return remote_open(&f->copy, select, warn, ret, err);
	if (!f->importer)
		return lp_archive_open(f->path, select, warn, ret, err);
	return f->importer->open(f->path, options, select, warn, ret, err);
}

/* Fetch a remote source, once. */
static int file_fetch(struct lp_dataset *ds, struct data_file *f, struct lp_err *err)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	const void *options = f->importer == ds->forced ? ds->options : NULL;
	struct lp_select want = remote_select(ds, NULL);
	const char *worse = NULL;

	if (!f->remote || f->copy.tried || !dataset_mine(ds, (size_t)(f - ds->files)))
		return 0;
	f->copy = (struct remote_copy){.tried = true, .fd = -1};
	f->importer->open(f->path, options, &want, ds->warn, &source, &f->copy.failure);
	if (source && f->importer->worse)
		worse = f->importer->worse(source);
	if (worse) {
		f->worse = strdup(worse);
		if (!f->worse)
			return lp_err_sys(err, -ENOMEM, "cannot fetch %s", f->path);
	}
	if (source)
		remote_fetch(source, worse, &ds->progress, &f->copy);
	if (f->copy.failure.code == -ENOMEM)
		*err = f->copy.failure;
	return f->copy.failure.code == -ENOMEM ? -ENOMEM : 0;
}

/* A source with a thread that watches it. */
struct watcher {
	struct lp_dataset *ds;
	struct data_file *file;
	struct lp_err err;
	pthread_t thread;
	bool started;
	int result;
};

static void *watcher_run(void *ctx)
{
	struct watcher *w = ctx;

	w->result = file_fetch(w->ds, w->file, &w->err);
	return NULL;
}

/* Watch all live sources at the same time, because peers are compared at the same time. */
static int live_fetch_all(struct lp_dataset *ds, struct lp_err *err)
{
	_cleanup_free_ struct watcher *watchers = calloc(ds->n + 1, sizeof(*watchers));
	int r = 0;

	if (!watchers)
		return lp_err_sys(err, -ENOMEM, "cannot fetch data");
	for (size_t i = 0; i < ds->n; i++) {
		struct watcher *w = &watchers[i];

		*w = (struct watcher){.ds = ds, .file = &ds->files[i]};
		w->started = w->file->remote && w->file->importer->live && !w->file->copy.tried &&
			dataset_mine(ds, i) && thread_start(&w->thread, watcher_run, w) == 0;
	}
	for (size_t i = 0; i < ds->n; i++) {
		struct watcher *w = &watchers[i];

		if (!w->started)
			continue;
		pthread_join(w->thread, NULL);
		if (w->result < 0 && r == 0) {
			r = w->result;
			*err = w->err;
		}
	}
	return r;
}

int dataset_fetch(struct lp_dataset *ds, struct lp_err *err)
{
	int r = live_fetch_all(ds, err);

	for (size_t i = 0; r == 0 && i < ds->n; i++)
		r = file_fetch(ds, &ds->files[i], err);
	return r;
}

void lp_dataset_progress(
	struct lp_dataset *ds, void (*tell)(void *ctx, const char *what, double done), void *ctx)
{
	ds->progress = (struct remote_progress){.tell = tell, .ctx = ctx};
}

int data_file_read(const struct lp_dataset *ds, const struct data_file *f,
	const struct lp_select *select, struct lp_warn *warn, lp_dataset_fn fn, void *ctx,
	int *ret_stop, struct lp_err *err)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	struct lp_batch *batch;
	int r = file_open(ds, f, select, warn, &source, err);

	if (r < 0)
		return r;
	*ret_stop = fn(ctx, source, NULL, err);
	while (!*ret_stop) {
		r = lp_source_next(source, &batch, err);
		/* Fetching may have stopped early. */
		if (r == 0 && f->remote && f->copy.failure.code) {
			*err = f->copy.failure;
			r = f->copy.failure.code;
		}
		if (r <= 0)
			return r;
		*ret_stop = fn(ctx, source, batch, err);
	}
	return 0;
}

bool dataset_note(struct lp_dataset *ds, const struct lp_err *here, int r, struct lp_err *first)
{
	if (r == -ENOMEM) {
		*first = *here;
		return false;
	}
	if (r < 0 && dataset_remember(ds, here) < 0) {
		lp_err_sys(first, -ENOMEM, "cannot read data");
		return false;
	}
	if (r < 0 && first->code)
		lp_warn_raise(ds->warn, "%s", here->text);
	else if (r < 0)
		*first = *here;
	return true;
}

int dataset_end(const struct lp_dataset *ds, struct lp_err *first, struct lp_err *err)
{
	if (first->code && ds->unread.code)
		lp_warn_raise(ds->warn, "%s", ds->unread.text);
	else if (!first->code)
		*first = ds->unread;
	if (first->code)
		*err = *first;
	return first->code;
}

int lp_dataset_read(struct lp_dataset *ds, const struct lp_select *select, lp_dataset_fn fn,
	void *ctx, struct lp_err *err)
{
	struct lp_err first = {0};

	if (dataset_fetch(ds, err) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ds->n; i++) {
		struct lp_err here = {0};
		int stop = 0;
		int r = data_file_read(ds, &ds->files[i], select, ds->warn, fn, ctx, &stop, &here);

		if (stop) {
			*err = here;
			return stop;
		}
		if (!dataset_note(ds, &here, r, &first)) {
			*err = first;
			return first.code;
		}
	}
	return dataset_end(ds, &first, err);
}

/* The observer of an archive, its addresses, and the meaning of its metrics. */
static int file_ask_host(struct data_file *f, const struct lp_source *source)
{
	const char *observer = lp_archive_meta_get(source, "observer");
	const char *addresses = lp_archive_meta_get(source, "addresses");
	const char *worse = lp_archive_meta_get(source, DATASET_WORSE);

	if (worse && *worse) {
		f->worse = strdup(worse);
		if (!f->worse)
			return -ENOMEM;
	}
	if (!observer || !*observer)
		return 0;
	f->observer = strdup(observer);
	if (addresses && *addresses)
		f->addresses = strdup(addresses);
	return f->observer && (f->addresses || !addresses || !*addresses) ? 0 : -ENOMEM;
}

/* No tool samples more often than every millisecond, or less often than once per month: other
 * values are wrong. */
static int64_t interval_plausible(int64_t interval_us)
{
	return interval_us >= US_PER_SEC / 1000 && interval_us <= 31 * US_PER_DAY ? interval_us : 0;
}

/* Get the description of a file before it is read. If it does not open, reading it reports that. */
static int file_ask(struct lp_dataset *ds, struct data_file *f, struct lp_err *err)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	struct lp_err here = {0};

	if (f->interval_us >= 0)
		return 0;
	if ((f->remote && f->importer->live && live_fetch_all(ds, err) < 0) ||
		file_fetch(ds, f, err) < 0)
		return -ENOMEM;
	if (file_open(ds, f, NULL, NULL, &source, &here) == -ENOMEM) {
		*err = here;
		return -ENOMEM;
	}
	f->interval_us = source ? interval_plausible(source->interval_us) : 0;
	f->first_us = source ? source->first_us : 0;
	f->last_us = source ? source->last_us : 0;
	if (source && !f->importer && file_ask_host(f, source) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", f->path);
	return 0;
}

int dataset_ask(struct lp_dataset *ds, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ds->n; i++) {
		if (dataset_mine(ds, i))
			r = file_ask(ds, &ds->files[i], err);
	}
	return r;
}

int lp_dataset_interval(struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err)
{
	int64_t longest = 0;

	for (size_t i = 0; i < ds->n; i++) {
		int r = file_ask(ds, &ds->files[i], err);

		if (r < 0)
			return r;
		if (ds->files[i].interval_us > longest)
			longest = ds->files[i].interval_us;
	}
	*ret_us = longest ? longest : US_PER_SEC;
	return 0;
}

int lp_dataset_span(
	struct lp_dataset *ds, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err)
{
	int64_t first = 0, last = 0;

	for (size_t i = 0; i < ds->n; i++) {
		const struct data_file *f = &ds->files[i];
		int r = file_ask(ds, &ds->files[i], err);

		if (r < 0)
			return r;
		if (f->first_us && (!first || f->first_us < first))
			first = f->first_us;
		if (f->last_us > last)
			last = f->last_us;
	}
	*ret_first_us = first;
	*ret_last_us = last;
	return 0;
}

int dataset_meanings(struct lp_dataset *ds, struct meanings *meanings, struct lp_err *err)
{
	for (size_t i = 0; i < ds->n; i++) {
		int r = file_ask(ds, &ds->files[i], err);

		if (r < 0)
			return r;
		if (ds->files[i].worse && meanings_read(meanings, ds->files[i].worse) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read %s", ds->files[i].path);
	}
	return 0;
}

int dataset_hosts(struct lp_dataset *ds, struct hosts *hosts, struct lp_err *err)
{
	for (size_t i = 0; i < ds->n; i++) {
		const struct data_file *f = &ds->files[i];
		int r = file_ask(ds, &ds->files[i], err);

		if (r < 0)
			return r;
		if (f->addresses && hosts_add(hosts, f->observer, f->addresses) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read %s", f->path);
	}
	return 0;
}

bool dataset_has_observer(
	const struct lp_dataset *ds, const char *observer, int64_t from_us, int64_t to_us)
{
	for (size_t i = 0; i < ds->n; i++) {
		const struct data_file *f = &ds->files[i];

		if (f->observer && !strcmp(f->observer, observer) && f->last_us > from_us &&
			(!to_us || f->first_us < to_us))
			return true;
	}
	return false;
}

int dataset_open_archive(struct lp_dataset *ds, size_t i, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	*ret = NULL;
	return ds->files[i].importer ? 0 : file_open(ds, &ds->files[i], select, warn, ret, err);
}

int dataset_archives(struct lp_dataset *ds, const struct lp_select *select, struct lp_warn *warn,
	int (*fn)(void *ctx, struct lp_source *source, struct lp_err *err), void *ctx,
	struct lp_err *err)
{
	struct lp_err first = {0};

	for (size_t i = 0; i < ds->n; i++) {
		_cleanup_(lp_source_closep) struct lp_source *source = NULL;
		struct lp_err here = {0};
		int r = 0;

		if (!ds->files[i].importer)
			r = file_open(ds, &ds->files[i], select, warn, &source, &here);
		if (source)
			r = fn(ctx, source, &here);
		else if (r != -ENOMEM)
			continue;
		if (r && r != -EBADMSG) {
			*err = here;
			return r;
		}
		if (r && dataset_remember(ds, &here) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read %s", ds->files[i].path);
		if (r && !first.code)
			first = here;
	}
	if (first.code)
		*err = first;
	return first.code;
}
