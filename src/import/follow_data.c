#include "import/follow_data.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "import/dataset.h"
#include "model/batch_slice.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 16
#define LOOK_US (1 * US_PER_SEC)     /* a changed directory is searched at this interval */
#define LOOK_ALL_US (5 * US_PER_SEC) /* and any directory at this interval */

/* A file found by a search. */
struct found {
	char *path;
	dev_t dev;
	ino_t ino;
	int64_t size, mtime_ns;
	bool taken; /* it is a known file */
};

struct followed {
	struct found file;
	struct follow *archive;	  /* NULL: not open */
	struct lp_source *source; /* of a foreign file */
	const struct data_file *foreign;
	struct follow_item
		rest;	  /* a batch that was not delivered completely; its `what` is 0: none */
	uint32_t rest_at; /* the first sample that was not delivered */
	char *observer;	  /* of an archive, once it was read; NULL: not known */
	struct lp_batch *right; /* the batch with times that were corrected, */
	int64_t *walls;		/* which are these */
	size_t cap_walls;
	int64_t held_us;      /* when the next item begins; INT64_MAX: nothing is held back */
	int64_t delivered_us; /* of what was delivered; INT64_MIN: nothing */
	int64_t interval_us;
	bool done;     /* it was read to its end and is closed until it changes */
	bool replaced; /* another file has its path: continue there after the end of this one */
	bool gone;     /* its path no longer exists */
	bool seen;     /* found by the current search */
	bool told;     /* one of its problems was reported */
};

struct directory {
	char *path;
	int64_t mtime_ns;
};

struct follow_data {
	char *root; /* NULL: do not search */
	const struct follow_options *opt;
	const struct follow_clocks *clocks; /* NULL: times are right */
	struct lp_dataset *ds;
	struct followed *files; /* by path */
	size_t n, cap;
	size_t at;		/* the current file */
	struct follow *current; /* the file of the last item */
	struct batch_slice slice;
	struct directory *dirs;
	size_t n_dirs, cap_dirs;
	struct found *found;
	size_t n_found, cap_found;
	struct strmap index; /* of `files` by path */
	bool look, told;
	int64_t looked_us; /* CLOCK_MONOTONIC */
	int64_t held_us;
};

DEFINE_CLEANUP(struct follow_data *, follow_data_close);

static void followed_stop(struct followed *e)
{
	follow_close(e->archive);
	lp_source_close(e->source);
	e->archive = NULL;
	e->source = NULL;
	e->rest.what = FOLLOW_NOTHING;
}

static void followed_release(struct followed *e)
{
	followed_stop(e);
	free(e->file.path);
	free(e->observer);
	free(e->right);
	free(e->walls);
}

static void found_clear(struct follow_data *d)
{
	for (size_t i = 0; i < d->n_found; i++)
		free(d->found[i].path);
	d->n_found = 0;
}

static void dirs_clear(struct follow_data *d)
{
	for (size_t i = 0; i < d->n_dirs; i++)
		free(d->dirs[i].path);
	d->n_dirs = 0;
}

void follow_data_close(struct follow_data *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		followed_release(&d->files[i]);
	free(d->files);
	found_clear(d);
	free(d->found);
	dirs_clear(d);
	free(d->dirs);
	strmap_release(&d->index);
	batch_slice_release(&d->slice);
	free(d->root);
	free(d);
}

static int64_t mtime_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_SEC + st->st_mtim.tv_nsec;
}

static bool is_archive_name(const char *name)
{
	size_t n = strlen(name), m = strlen(LP_ARCHIVE_SUFFIX);

	return n > m && name[0] != '.' && !strcmp(name + n - m, LP_ARCHIVE_SUFFIX);
}

static int found_add(struct follow_data *d, char *path, const struct stat *st)
{
	if (array_reserve(&d->found, &d->cap_found, d->n_found + 1, sizeof(*d->found)) < 0) {
		free(path);
		return -ENOMEM;
	}
	d->found[d->n_found++] = (struct found){.path = path,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime_ns = mtime_ns(st)};
	return 0;
}

static int dir_note(struct follow_data *d, const char *path, int fd)
{
	struct stat st;
	char *copy;

	if (fstat(fd, &st) < 0)
		return 0;
	copy = strdup(path);
	if (!copy || array_reserve(&d->dirs, &d->cap_dirs, d->n_dirs + 1, sizeof(*d->dirs)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	d->dirs[d->n_dirs++] = (struct directory){.path = copy, .mtime_ns = mtime_ns(&st)};
	return 0;
}

static int dir_search(struct follow_data *d, const char *path, unsigned depth);

static int entry_search(
	struct follow_data *d, int dir, const char *path, const char *name, unsigned depth)
{
	_cleanup_free_ char *full = NULL;
	struct stat st;

	if (name[0] == '.' || fstatat(dir, name, &st, 0) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode) && !(S_ISREG(st.st_mode) && is_archive_name(name)))
		return 0;
	if (asprintf(&full, "%s/%s", path, name) < 0) {
		full = NULL;
		return -ENOMEM;
	}
	if (S_ISDIR(st.st_mode))
		return depth < DEPTH_MAX ? dir_search(d, full, depth + 1) : 0;
	return found_add(d, TAKE_PTR(full), &st);
}

/* A directory that does not exist (yet) counts as empty. */
static int dir_search(struct follow_data *d, const char *path, unsigned depth)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *e;
	int r;

	if (!dir) {
		if (errno != ENOENT && !d->told)
			lp_warn_raise(d->opt->warn, "cannot read directory %s: %s", path,
				strerror(errno));
		d->told |= errno != ENOENT;
		return 0;
	}
	r = dir_note(d, path, dirfd(dir));
	while (r == 0 && (e = readdir(dir)))
		r = entry_search(d, dirfd(dir), path, e->d_name, depth);
	return r;
}

static int found_compare(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

static int followed_compare(const void *a, const void *b)
{
	return strcmp(
		((const struct followed *)a)->file.path, ((const struct followed *)b)->file.path);
}

/* A known path was found: is it the same file, and has it grown? */
static void followed_check(struct followed *e, const struct found *f)
{
	e->seen = true;
	e->gone = false;
	if (f->ino != e->file.ino || f->dev != e->file.dev) {
		e->replaced = true;
		if (e->done) {
			e->done = e->replaced = false;
			e->file.ino = f->ino;
			e->file.dev = f->dev;
		}
	} else if (e->done && (f->size != e->file.size || f->mtime_ns != e->file.mtime_ns)) {
		e->done = e->told = false;
	}
	e->file.size = f->size;
	e->file.mtime_ns = f->mtime_ns;
}

/* An unknown path: is it a known file under another name? */
static bool followed_renamed(struct follow_data *d, struct found *f)
{
	for (size_t i = 0; i < d->n; i++) {
		struct followed *e = &d->files[i];

		if (e->seen || e->foreign || e->file.ino != f->ino || e->file.dev != f->dev)
			continue;
		if (e->archive && follow_rename(e->archive, f->path) < 0)
			return false;
		free(e->file.path);
		e->file.path = TAKE_PTR(f->path);
		followed_check(e, f);
		return true;
	}
	return false;
}

static int followed_add(struct follow_data *d, struct found *f)
{
	if (array_reserve(&d->files, &d->cap, d->n + 1, sizeof(*d->files)) < 0)
		return -ENOMEM;
	d->files[d->n++] = (struct followed){
		.file = *f, .seen = true, .held_us = INT64_MAX, .delivered_us = INT64_MIN};
	f->path = NULL;
	return 0;
}

/* Update the list of files from the search. */
static int found_apply(struct follow_data *d)
{
	uint32_t at;
	int r = 0;

	for (size_t i = 0; i < d->n; i++)
		d->files[i].seen = false;
	for (size_t i = 0; i < d->n_found; i++) {
		d->found[i].taken = strmap_get(&d->index, d->found[i].path, &at);
		if (d->found[i].taken)
			followed_check(&d->files[at], &d->found[i]);
	}
	for (size_t i = 0; r == 0 && i < d->n_found; i++) {
		if (!d->found[i].taken && !followed_renamed(d, &d->found[i]))
			r = followed_add(d, &d->found[i]);
	}
	for (size_t i = 0; i < d->n; i++)
		d->files[i].gone = !d->files[i].seen && !d->files[i].foreign;
	return r;
}

/* Forget files that are gone and completely read, and sort the rest. */
static int files_settle(struct follow_data *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (d->files[i].gone && !d->files[i].archive)
			followed_release(&d->files[i]);
		else
			d->files[n++] = d->files[i];
	}
	d->n = n;
	if (n)
		qsort(d->files, n, sizeof(*d->files), followed_compare);
	strmap_release(&d->index);
	for (size_t i = 0; i < n; i++) {
		if (strmap_put(&d->index, d->files[i].file.path, (uint32_t)i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool dirs_changed(const struct follow_data *d)
{
	struct stat st;

	if (!d->n_dirs)
		return true;
	for (size_t i = 0; i < d->n_dirs; i++) {
		if (stat(d->dirs[i].path, &st) < 0 || mtime_ns(&st) != d->dirs[i].mtime_ns)
			return true;
	}
	return false;
}

static int search(struct follow_data *d, struct lp_err *err)
{
	int64_t now = clock_us(CLOCK_MONOTONIC);
	int r;

	if (!d->root || (!d->look && now - d->looked_us < LOOK_US))
		return 0;
	if (!d->look && now - d->looked_us < LOOK_ALL_US && !dirs_changed(d))
		return 0;
	d->look = false;
	d->looked_us = now;
	found_clear(d);
	dirs_clear(d);
	r = dir_search(d, d->root, 0);
	if (r == 0 && d->n_found)
		qsort(d->found, d->n_found, sizeof(*d->found), found_compare);
	if (r == 0)
		r = found_apply(d);
	if (r == 0)
		r = files_settle(d);
	found_clear(d);
	return r < 0 ? lp_err_sys(err, r, "cannot search %s", d->root) : 0;
}

int follow_data_open(const char *dir, const struct follow_options *options,
	struct follow_data **ret, struct lp_err *err)
{
	_cleanup_(follow_data_closep) struct follow_data *d = calloc(1, sizeof(*d));
	size_t n = strlen(dir);

	if (d)
		d->root = strdup(dir);
	if (!d || !d->root)
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", dir);
	while (n > 1 && d->root[n - 1] == '/')
		d->root[--n] = '\0';
	d->opt = options;
	d->look = true;
	*ret = TAKE_PTR(d);
	return 0;
}

int follow_data_open_dataset(struct lp_dataset *ds, const struct follow_options *options,
	struct follow_data **ret, struct lp_err *err)
{
	_cleanup_(follow_data_closep) struct follow_data *d = calloc(1, sizeof(*d));
	int r = d ? 0 : -ENOMEM;

	if (d) {
		d->opt = options;
		d->ds = ds;
	}
	for (size_t i = 0; r == 0 && i < ds->n; i++) {
		struct found f = {.path = strdup(ds->files[i].path)};

		r = f.path ? followed_add(d, &f) : -ENOMEM;
		free(f.path);
		if (r == 0 && ds->files[i].importer)
			d->files[d->n - 1].foreign = &ds->files[i];
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot follow data");
	*ret = TAKE_PTR(d);
	return 0;
}

/* A file has a problem: ignore it until it changes. */
static int followed_fail(
	struct follow_data *d, struct followed *e, const struct lp_err *here, struct lp_err *err)
{
	if (here->code == -ENOMEM) {
		*err = *here;
		return -ENOMEM;
	}
	if (d->ds && dataset_remember(d->ds, here) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", e->file.path);
	if (!e->told && here->code != -ENOENT)
		lp_warn_raise(d->opt->warn, "%s", here->text);
	e->told = true;
	e->done = here->code != -EMFILE && here->code != -ENFILE;
	e->held_us = INT64_MAX;
	followed_stop(e);
	return 0;
}

void follow_data_correct(struct follow_data *d, const struct follow_clocks *clocks)
{
	d->clocks = clocks;
}

/* How far the times in a file are ahead of the times by which the file is read. */
static int64_t ahead_of(const struct follow_data *d, const struct followed *e)
{
	const char *observer = e->foreign ? "" : e->observer;
	int64_t ahead = d->clocks && observer ? d->clocks->ahead_us(d->clocks->ctx, observer) : 0;

	return ahead > 0 ? ahead : 0;
}

static int64_t file_until(const struct follow_data *d, const struct followed *e, int64_t until_us)
{
	int64_t until;

	if (until_us == INT64_MIN || __builtin_add_overflow(until_us, ahead_of(d, e), &until))
		return until_us;
	return until;
}

/* A time in a file, according to the right clock. */
static int64_t right_time(const struct follow_data *d, const struct followed *e, int64_t us)
{
	int64_t right;

	if (us == INT64_MAX || __builtin_sub_overflow(us, ahead_of(d, e), &right))
		return us;
	return right;
}

/* The samples of the current batch up to a time: 1; 0: all remaining ones are later. */
static int rest_next(struct follow_data *d, struct followed *e, int64_t until_us,
	struct follow_item *ret, struct lp_err *err)
{
	const struct lp_batch *b = e->rest.batch;
	uint32_t end = e->rest_at;

	if (e->rest.what != FOLLOW_BATCH) {
		if (e->held_us > until_us)
			return 0;
		*ret = e->rest;
		e->rest.what = FOLLOW_NOTHING;
		e->held_us = INT64_MAX;
		return 1;
	}
	if (e->foreign)
		until_us = file_until(d, e, until_us);
	while (end < b->n_samples && b->wall_us[end] <= until_us)
		end++;
	e->held_us = INT64_MAX;
	if (end < b->n_samples)
		e->held_us = e->foreign ? right_time(d, e, b->wall_us[end]) : b->wall_us[end];
	if (end == e->rest_at)
		return 0;
	*ret = e->rest;
	if (batch_slice_make(&d->slice, b, e->rest_at, end, &ret->batch) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", e->file.path);
	e->rest_at = end;
	if (end == b->n_samples)
		e->rest.what = FOLLOW_NOTHING;
	return 1;
}

/* An item of an archive: the batch gets its right times. */
static int item_correct(const struct follow_data *d, struct followed *e, struct follow_item *item)
{
	const struct lp_batch *b = item->batch;
	size_t size;

	if (!d->clocks || item->what != FOLLOW_BATCH || !*item->observer)
		return 0;
	size = b->n_samples * sizeof(*e->walls);
	if (array_reserve(&e->walls, &e->cap_walls, (size_t)b->n_samples + 1, sizeof(*e->walls)) <
			0 ||
		d->clocks->correct(d->clocks->ctx, item->observer, b, e->walls) < 0)
		return -ENOMEM;
	if (!memcmp(e->walls, b->wall_us, size))
		return 0;
	if (!e->right)
		e->right = malloc(sizeof(*e->right));
	if (!e->right)
		return -ENOMEM;
	*e->right = *b;
	e->right->wall_us = e->walls;
	item->batch = e->right;
	return 0;
}

/* Deliver an item; of a batch only the samples up to `until_us`. */
static int item_give(struct follow_data *d, struct followed *e, int64_t until_us,
	struct follow_item *ret, struct lp_err *err)
{
	if (ret->what != FOLLOW_BATCH)
		return 1;
	e->rest = *ret;
	e->rest_at = ret->batch->carry ? 1 : 0;
	if (e->rest_at >= ret->batch->n_samples)
		e->rest.what = FOLLOW_NOTHING;
	return e->rest.what ? rest_next(d, e, until_us, ret, err) : 1;
}

/* The next batch of a foreign file. 1, or 0. */
static int foreign_next(struct follow_data *d, struct followed *e, int64_t until_us,
	struct follow_item *ret, struct lp_err *err)
{
	const struct importer *importer = e->foreign->importer;
	const void *options = importer == d->ds->forced ? d->ds->options : NULL;
	struct lp_batch *b = NULL;
	int r = 1;

	if (!e->source)
		r = importer->open(
			e->file.path, options, d->opt->select, d->opt->warn, &e->source, err);
	if (r >= 0)
		r = lp_source_next(e->source, &b, err);
	if (r == -EAGAIN)
		return 0;
	if (r <= 0) {
		e->done = true;
		return r;
	}
	e->interval_us = e->source->interval_us;
	*ret = (struct follow_item){
		.what = FOLLOW_BATCH, .source = e->source, .observer = "", .batch = b};
	return item_give(d, e, until_us, ret, err);
}

/* Remember that an archive of a dataset is damaged. */
static int damage_note(const struct follow_data *d, const struct followed *e)
{
	struct lp_err here = {0};

	if (!d->ds || !follow_n_damaged(e->archive))
		return 0;
	lp_err_set(&here, -EBADMSG,
		"%s is damaged; its intact part was read ('limpet check --repair' rescues it)",
		e->file.path);
	return dataset_remember(d->ds, &here);
}

/* An archive is at its end for now: must it stay open? */
static void archive_rest(const struct follow_data *d, struct followed *e)
{
	e->held_us = right_time(d, e, follow_held_us(e->archive));
	e->delivered_us = follow_delivered_us(e->archive);
	if (e->replaced && e->held_us == INT64_MAX) {
		struct stat st;

		followed_stop(e);
		e->replaced = false;
		if (stat(e->file.path, &st) == 0) {
			e->file.ino = st.st_ino;
			e->file.dev = st.st_dev;
		}
	} else if (e->gone && e->held_us == INT64_MAX) {
		followed_stop(e);
		e->done = true;
	} else if (follow_closed(e->archive)) {
		const struct stat *st = follow_stat(e->archive);

		e->done = true;
		e->file.size = st->st_size;
		e->file.mtime_ns = mtime_ns(st);
		followed_stop(e);
	} else if (e->held_us < INT64_MAX && !follow_has_begun(e->archive)) {
		followed_stop(e); /* not yet due */
	}
}

/* The archive's observer is known once something was read. */
static int observer_note(struct followed *e)
{
	const char *observer = follow_observer(e->archive);

	if (e->observer || !*observer)
		return 0;
	e->observer = strdup(observer);
	return e->observer ? 0 : -ENOMEM;
}

/* Report up to which time an archive of a directory holds back data. */
static int waiting_tell(const struct follow_data *d, const struct followed *e)
{
	int64_t newest;

	if (!d->clocks || !d->root || !e->observer || follow_held_us(e->archive) == INT64_MAX)
		return 0;
	newest = follow_newest_us(e->archive);
	return newest > INT64_MIN ? d->clocks->waits(d->clocks->ctx, e->observer, newest) : 0;
}

/* Look at data that is held back: its times may come from a clock that was set. Records of a log
 * stay held back. */
static int archive_peek(const struct follow_data *d, struct followed *e, struct follow_item *ret,
	struct lp_err *err)
{
	int64_t held = follow_held_us(e->archive);
	int r;

	if (!d->clocks || held == INT64_MAX || follow_delivered_us(e->archive) == INT64_MIN)
		return 0;
	r = follow_next(e->archive, held, ret, err);
	if (r <= 0 || ret->what != FOLLOW_LOG)
		return r;
	e->held_us = right_time(d, e, held);
	e->rest = *ret;
	return 0;
}

static int archive_next(struct follow_data *d, struct followed *e, int64_t until_us,
	struct follow_item *ret, struct lp_err *err)
{
	int r = 0;

	if (!e->archive)
		r = follow_open(e->file.path, d->opt, e->delivered_us, &e->archive, err);
	if (r == 0)
		r = follow_next(e->archive, file_until(d, e, until_us), ret, err);
	if (r == 0 && (observer_note(e) < 0 || waiting_tell(d, e) < 0))
		r = lp_err_sys(err, -ENOMEM, "cannot follow %s", e->file.path);
	if (r == 0)
		r = archive_peek(d, e, ret, err);
	if (r < 0)
		return r;
	e->interval_us = follow_interval_us(e->archive);
	if (r == 0 && e->rest.what)
		return 0;
	e->held_us = INT64_MAX;
	if (observer_note(e) < 0 || damage_note(d, e) < 0 || (r > 0 && item_correct(d, e, ret) < 0))
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", e->file.path);
	if (r == 0) {
		archive_rest(d, e);
		return 0;
	}
	return item_give(d, e, until_us, ret, err);
}

/* Is there nothing to do for this file? */
static bool followed_rests(const struct followed *e, int64_t until_us)
{
	return e->done || (e->held_us < INT64_MAX && e->held_us > until_us && !e->replaced);
}

static int followed_next(struct follow_data *d, struct followed *e, int64_t until_us,
	struct follow_item *ret, struct lp_err *err)
{
	int r = 0;

	if (e->rest.what)
		r = rest_next(d, e, until_us, ret, err);
	if (r != 0 || e->rest.what)
		return r;
	return e->foreign ? foreign_next(d, e, until_us, ret, err)
			  : archive_next(d, e, until_us, ret, err);
}

int follow_data_next(
	struct follow_data *d, int64_t until_us, struct follow_item *ret_item, struct lp_err *err)
{
	int r = d->at == 0 ? search(d, err) : 0;

	d->current = NULL;
	for (; r >= 0 && d->at < d->n; d->at++) {
		struct followed *e = &d->files[d->at];
		struct lp_err here = {0};

		if (followed_rests(e, until_us))
			continue;
		r = followed_next(d, e, until_us, ret_item, &here);
		if (r > 0) {
			d->current = e->archive;
			return 1;
		}
		if (r < 0)
			r = followed_fail(d, e, &here, err);
	}
	d->at = 0;
	d->held_us = INT64_MAX;
	for (size_t i = 0; i < d->n; i++) {
		if (!d->files[i].done && d->files[i].held_us < d->held_us)
			d->held_us = d->files[i].held_us;
	}
	return r;
}

int64_t follow_data_held_us(const struct follow_data *d)
{
	return d->held_us;
}

size_t follow_data_n_near(const struct follow_data *d, int64_t us, int64_t span_us)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct followed *e = &d->files[i];
		int64_t apart;

		n += !e->done && e->held_us < INT64_MAX &&
			!__builtin_sub_overflow(e->held_us, us, &apart) && apart >= -span_us &&
			apart <= span_us;
	}
	return n;
}

size_t follow_data_n_held(const struct follow_data *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += !d->files[i].done && d->files[i].held_us < INT64_MAX;
	return n;
}

int64_t follow_data_newest_us(const char *dir)
{
	static const struct follow_options none = {0};
	_cleanup_(follow_data_closep) struct follow_data *d = NULL;
	int64_t newest_ns = 0;

	if (follow_data_open(dir, &none, &d, NULL) < 0 || !d || dir_search(d, d->root, 0) < 0)
		return 0;
	for (size_t i = 0; i < d->n_found; i++)
		newest_ns = d->found[i].mtime_ns > newest_ns ? d->found[i].mtime_ns : newest_ns;
	return newest_ns / 1000;
}

void follow_data_look(struct follow_data *d)
{
	d->look = true;
}

int64_t follow_data_interval_us(const struct follow_data *d)
{
	int64_t longest = 0;

	for (size_t i = 0; i < d->n; i++)
		longest = d->files[i].interval_us > longest ? d->files[i].interval_us : longest;
	return longest;
}

const char *follow_data_meta(struct follow_data *d, const char *key)
{
	return d->current ? follow_meta(d->current, key) : NULL;
}

size_t follow_data_n_files(const struct follow_data *d)
{
	return d->n;
}
