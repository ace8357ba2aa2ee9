#include "serve/ingest.h"

#include "archive/frames.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/time.h"
#include "serve/ingest_chores.h"
#include "serve/ingest_file.h"
#include "serve/ingest_tail.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limpet/archive.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Open files per server: that of the recorder, and those of traces. */
#define OPEN_MAX 4
/* The maximum number of files of a server. */
#define FILES_MAX 16384
#define STAMP_LEN 16

/* A file of a server. */
struct known {
	char *name;
	bool complete; /* once set, it stays set */
};

struct observer {
	char *name;
	pthread_mutex_t mutex;
	struct ingest_file open[OPEN_MAX];
	struct known *files; /* sorted by name */
	size_t n_files, cap_files;
	struct ingest_host host; /* without its name */
};

struct ingest {
	struct ingest_config config;
	int dir;
	struct chores *chores;
	struct tails *tails;
	pthread_mutex_t mutex; /* protects the following */
	struct strmap by_name;
	struct observer **observers;
	size_t n, cap;
	struct ingest_stats stats;
};

static void observer_free(struct observer *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < OPEN_MAX; i++)
		ingest_file_close(&o->open[i]);
	for (size_t i = 0; i < o->n_files; i++)
		free(o->files[i].name);
	pthread_mutex_destroy(&o->mutex);
	free(o->files);
	free(o->name);
	free(o);
}

static struct observer *observer_new(const char *name)
{
	struct observer *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	for (size_t i = 0; i < OPEN_MAX; i++)
		o->open[i].fd = -1;
	pthread_mutex_init(&o->mutex, NULL);
	o->host.last_us = o->host.arrived_us = INT64_MIN;
	o->name = strdup(name);
	if (!o->name) {
		observer_free(o);
		return NULL;
	}
	return o;
}

/* The server with this name, added if `create` is set. NULL: none, or out of memory. */
static struct observer *observer_get(struct ingest *in, const char *name, bool create)
{
	struct observer *o = NULL;
	uint32_t place;

	pthread_mutex_lock(&in->mutex);
	if (strmap_get(&in->by_name, name, &place)) {
		o = in->observers[place];
	} else if (create) {
		o = observer_new(name);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
		if (!o || array_reserve(&in->observers, &in->cap, in->n + 1, sizeof(o)) < 0 ||
			strmap_put(&in->by_name, name, (uint32_t)in->n) < 0) {
			observer_free(o);
			o = NULL;
		} else {
			in->observers[in->n++] = o;
		}
	}
	pthread_mutex_unlock(&in->mutex);
	return o;
}

void ingest_count(struct ingest *in, const char *observer, enum ingest_refusal kind)
{
	struct observer *o = observer ? observer_get(in, observer, false) : NULL;

	pthread_mutex_lock(&in->mutex);
	in->stats.refused[kind]++;
	pthread_mutex_unlock(&in->mutex);
	if (!o)
		return;
	pthread_mutex_lock(&o->mutex);
	o->host.refused++;
	pthread_mutex_unlock(&o->mutex);
}

/* The index of a file with this name in the list, or where it would be inserted. */
static size_t known_place(const struct observer *o, const char *name, bool *ret_there)
{
	size_t low = 0, high = o->n_files;

	*ret_there = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(o->files[middle].name, name);

		if (order == 0) {
			*ret_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int known_add(struct observer *o, const char *name)
{
	bool there;
	size_t place = known_place(o, name, &there);
	char *copy;

	if (there)
		return 0;
	if (o->n_files == FILES_MAX)
		return -ENOSPC;
	copy = strdup(name);
	if (!copy ||
		array_reserve(&o->files, &o->cap_files, o->n_files + 1, sizeof(*o->files)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	memmove(o->files + place + 1, o->files + place, (o->n_files - place) * sizeof(*o->files));
	o->files[place] = (struct known){.name = copy};
	o->n_files++;
	return 0;
}

/* The name of the server that an archive with this name belongs to, in `buf`. */
static bool observer_of(const char *file, char buf[INGEST_NAME_MAX])
{
	size_t len = strlen(file), tail = 1 + STAMP_LEN + strlen(LP_ARCHIVE_SUFFIX), series;
	char *dash;

	if (len <= tail || len - tail >= INGEST_NAME_MAX)
		return false;
	memcpy(buf, file, len - tail);
	buf[len - tail] = '\0';
	if (!ingest_observer_name(buf)) {
		dash = strrchr(buf, '-');
		if (!dash)
			return false;
		*dash = '\0';
	}
	return ingest_observer_name(buf) && ingest_file_name(file, buf, &series);
}

static int scan_file(struct ingest *in, const char *file)
{
	char name[INGEST_NAME_MAX], whole[NAME_MAX + 1];
	struct observer *o;

	if (ingest_file_marked(file, whole)) /* it was to be sealed */
		chores_finish(in->chores, whole);
	if (!observer_of(file, name))
		return 0;
	o = observer_get(in, name, true);
	return o ? known_add(o, file) : -ENOMEM;
}

/* Scan for existing archives. */
static int scan(struct ingest *in, struct lp_err *err)
{
	struct dirent **entries = NULL;
	int n = dir_list(in->dir, &entries, NULL), r = n < 0 ? n : 0;

	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = scan_file(in, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return r < 0 ? lp_err_sys(err, r, "cannot read directory %s", in->config.dir) : 0;
}

int ingest_open(const struct ingest_config *config, struct ingest **ret, struct lp_err *err)
{
	struct ingest *in = calloc(1, sizeof(*in));
	struct chores_config chores = {.dir = config->dir,
		.keep_age_us = config->keep_age_us,
		.keep_bytes = config->keep_bytes,
		.warn = config->warn};
	int r;

	if (!in)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	in->config = *config;
	pthread_mutex_init(&in->mutex, NULL);
	in->tails = tails_new();
	r = in->dir = in->tails ? dir_make(config->dir, 0750, err)
				: lp_err_sys(err, -ENOMEM, "cannot serve");
	chores.dir_fd = in->dir;
	if (r >= 0)
		r = chores_open(&chores, &in->chores, err);
	if (r == 0)
		r = scan(in, err);
	if (r < 0) {
		ingest_close(in);
		return r;
	}
	*ret = in;
	return 0;
}

void ingest_close(struct ingest *in)
{
	if (!in)
		return;
	chores_close(in->chores);
	for (size_t i = 0; i < in->n; i++)
		observer_free(in->observers[i]);
	free(in->observers);
	strmap_release(&in->by_name);
	tails_free(in->tails);
	if (in->dir >= 0)
		close(in->dir);
	pthread_mutex_destroy(&in->mutex);
	free(in);
}

/* Was an open file removed? */
static bool is_gone(const struct ingest_file *f)
{
	struct stat st;

	return fstat(f->fd, &st) < 0 || st.st_nlink == 0;
}

/* The entry of the open file with this name, or the least recently used one. */
static struct ingest_file *open_place(struct observer *o, const char *name)
{
	struct ingest_file *place = &o->open[0];

	for (size_t i = 0; i < OPEN_MAX; i++) {
		if (!strcmp(o->open[i].name, name))
			return &o->open[i];
		if (o->open[i].used_us < place->used_us)
			place = &o->open[i];
	}
	return place;
}

/* Open a file to append to it. -ENOENT: it does not exist. */
static int file_get(struct ingest *in, struct observer *o, const char *name, bool create,
	struct ingest_file **ret, struct lp_err *err)
{
	struct ingest_file *f = open_place(o, name);
	int r = 0;

	if (strcmp(f->name, name) != 0 || f->fd < 0 || is_gone(f)) {
		ingest_file_close(f);
		if (create)
			r = known_add(o, name);
		if (r < 0)
			return lp_err_sys(err, r, "there are too many files of %s", o->name);
		r = ingest_file_open(f, in->dir, name, create, err);
	}
	if (r < 0)
		return r;
	f->used_us = clock_us(CLOCK_MONOTONIC);
	*ret = f;
	return 0;
}

/* Do the frames continue where the file ends? */
static enum ingest_refusal place_check(
	const struct ingest_put *put, const struct ingest_file *f, struct lp_err *err)
{
	if (f->complete) {
		lp_err_set(err, -EEXIST, "%s is complete", put->file);
		return INGEST_REPLAY;
	}
	if (put->from < f->n_frames) {
		lp_err_set(err, -EEXIST,
			"frame %" PRIu64 " of %s exists already: the next is %" PRIu64, put->from,
			put->file, f->n_frames);
		return INGEST_REPLAY;
	}
	if (put->from > f->n_frames) {
		lp_err_set(err, -ENOENT, "frames %" PRIu64 " to %" PRIu64 " of %s are missing",
			f->n_frames, put->from - 1, put->file);
		return INGEST_GAP;
	}
	if (put->sum == f->sum)
		return INGEST_FINE;
	lp_err_set(err, -EEXIST, "another file %s is already being received", put->file);
	return INGEST_OTHER_FILE;
}

/* Count a failure to open or write a file. */
static enum ingest_refusal failure(struct ingest *in, int r, const struct lp_err *err)
{
	bool told;

	if (r == -EBUSY)
		return INGEST_BUSY;
	if (r == -EBADMSG || r == -EPROTONOSUPPORT)
		return INGEST_OTHER_FILE;
	pthread_mutex_lock(&in->mutex);
	told = in->stats.disk_failing;
	in->stats.disk_failing = true;
	pthread_mutex_unlock(&in->mutex);
	if (!told)
		lp_warn_raise(in->config.warn,
			"%s; data is refused until that is fixed; servers keep it and send it "
			"later",
			err->text);
	return INGEST_DISK;
}

static void arrived(
	struct ingest *in, struct observer *o, const struct ingest_summary *s, size_t size)
{
	bool mended;

	o->host.frames += s->n_frames;
	o->host.samples += s->n_samples;
	o->host.bytes += size;
	if (s->last_us > o->host.last_us)
		o->host.last_us = s->last_us;
	o->host.arrived_us = clock_us(CLOCK_REALTIME);
	pthread_mutex_lock(&in->mutex);
	in->stats.frames += s->n_frames;
	in->stats.samples += s->n_samples;
	in->stats.bytes += size;
	mended = in->stats.disk_failing;
	in->stats.disk_failing = false;
	pthread_mutex_unlock(&in->mutex);
	if (mended)
		lp_warn_raise(in->config.warn, "writing to %s works again", in->config.dir);
}

static void place_set(struct ingest_place *ret, const struct ingest_file *f)
{
	*ret = (struct ingest_place){
		.n_frames = f->n_frames, .bytes = f->end, .sum = f->sum, .complete = f->complete};
}

/* Mark the file as complete: it will be sealed. */
static enum ingest_refusal file_finish(
	struct ingest *in, struct ingest_file *f, const char *name, struct lp_err *err)
{
	int r = ingest_file_mark(f, in->dir, err);

	if (r < 0)
		return failure(in, r, err);
	chores_finish(in->chores, name);
	return INGEST_FINE;
}

/* Call it with the mutex of the observer held. */
static enum ingest_refusal put_locked(struct ingest *in, struct observer *o,
	const struct ingest_put *put, struct ingest_place *ret, struct lp_err *err)
{
	struct ingest_summary summary = {.last_us = INT64_MIN};
	struct ingest_file *f;
	enum ingest_refusal no;
	int r = file_get(in, o, put->file, put->from == 0 && put->size, &f, err);

	*ret = (struct ingest_place){0};
	if (r == -ENOENT) {
		lp_err_set(err, r, "there is no data of %s yet", put->file);
		return INGEST_GAP;
	}
	if (r < 0)
		return failure(in, r, err);
	no = place_check(put, f, err);
	if (no == INGEST_FINE)
		no = ingest_check(put->body, put->size, put->observer, put->sum, &summary, err);
	if (no == INGEST_FINE && put->size) {
		r = ingest_file_append(f, put->body, put->size, summary.n_frames, summary.sum, err);
		if (r < 0) {
			tails_keep(in->tails, put->file, f->end, put->body, put->size);
			no = failure(in, r, err);
		} else {
			tails_drop(in->tails, put->file);
			arrived(in, o, &summary, put->size);
		}
	}
	place_set(ret, f);
	if (no == INGEST_FINE && put->last)
		no = file_finish(in, f, put->file, err);
	return no;
}

enum ingest_refusal ingest_put(struct ingest *in, const struct ingest_put *put,
	struct ingest_place *ret, struct lp_err *err)
{
	struct observer *o;
	enum ingest_refusal no;
	size_t series;

	if (!ingest_observer_name(put->observer) ||
		!ingest_file_name(put->file, put->observer, &series)) {
		lp_err_set(err, -EINVAL, "'%.100s' is not the name of an archive of '%.100s'",
			put->file, put->observer);
		ingest_count(in, NULL, INGEST_BAD_REQUEST);
		return INGEST_BAD_REQUEST;
	}
	o = observer_get(in, put->observer, true);
	if (!o) {
		lp_err_sys(err, -ENOMEM, "cannot receive");
		return INGEST_BUSY;
	}
	pthread_mutex_lock(&o->mutex);
	no = put_locked(in, o, put, ret, err);
	pthread_mutex_unlock(&o->mutex);
	if (no != INGEST_FINE) {
		ingest_count(in, put->observer, no);
		return no;
	}
	if (put->from == 0) {
		_cleanup_free_ char *name = strndup(put->file, series);

		if (name)
			chores_expire(in->chores, name, put->file);
	}
	if (in->config.arrived && put->size)
		in->config.arrived(in->config.arrived_ctx, put->observer);
	return no;
}

size_t ingest_peek(void *ingest, const char *path, uint64_t offset, void *buf, size_t size)
{
	const struct ingest *in = ingest;

	return tails_peek(in->tails, path_basename(path), offset, buf, size);
}

/* The state of one file; NULL: it no longer exists. */
static json_t *file_json(struct ingest *in, struct observer *o, struct known *k)
{
	struct ingest_file *f = NULL;
	struct lp_err ignored = {0};
	char sum[16];
	int r = 0;

	if (!k->complete)
		k->complete = ingest_file_is_complete(in->dir, k->name);
	if (!k->complete)
		r = file_get(in, o, k->name, false, &f, &ignored);
	if (r == -ENOENT)
		return NULL;
	if (k->complete || r < 0) /* busy: it is being sealed */
		return json_pack("{s:s,s:b}", "file", k->name, "complete", (int)k->complete);
	snprintf(sum, sizeof(sum), "%08" PRIx32, f->sum);
	return json_pack("{s:s,s:b,s:I,s:s,s:I}", "file", k->name, "complete", (int)f->complete,
		"frames", (json_int_t)f->n_frames, "sum", sum, "bytes", (json_int_t)f->end);
}

static bool is_removed(const struct ingest *in, const struct known *k)
{
	return faccessat(in->dir, k->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* Call it with the mutex of the observer held. Files that no longer exist are forgotten. */
static void files_json(struct ingest *in, struct observer *o, json_t *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_files; i++) {
		json_t *item = is_removed(in, &o->files[i]) ? NULL : file_json(in, o, &o->files[i]);

		if (!item) {
			free(o->files[i].name);
			continue;
		}
		json_array_append_new(list, item);
		o->files[kept++] = o->files[i];
	}
	o->n_files = kept;
}

int ingest_list(struct ingest *in, const char *observer, struct strbuf *out, struct lp_err *err)
{
	struct observer *o = observer_get(in, observer, false);
	int64_t expired = chores_expired(in->dir, observer);
	json_t *list = json_array(), *answer = NULL;
	char when[TIME_TEXT_MAX], *text;

	if (o && list) {
		pthread_mutex_lock(&o->mutex);
		files_json(in, o, list);
		pthread_mutex_unlock(&o->mutex);
	}
	answer = json_pack("{s:s,s:o,s:s?}", "observer", observer, "files", list, "expired",
		expired == INT64_MIN ? NULL : time_format(expired, when));
	text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	if (text)
		strbuf_puts(out, text);
	json_decref(answer);
	free(text);
	return text ? 0 : lp_err_sys(err, -ENOMEM, "cannot list");
}

static int hosts_by_name(const void *a, const void *b)
{
	return strcmp(((const struct ingest_host *)a)->name, ((const struct ingest_host *)b)->name);
}

int ingest_hosts(struct ingest *in, struct ingest_host **ret, size_t *ret_n)
{
	struct ingest_host *hosts;
	size_t n;

	pthread_mutex_lock(&in->mutex);
	n = in->n;
	pthread_mutex_unlock(&in->mutex);
	hosts = calloc(n + 1, sizeof(*hosts));
	if (!hosts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct observer *o;

		pthread_mutex_lock(&in->mutex);
		o = in->observers[i];
		pthread_mutex_unlock(&in->mutex);
		pthread_mutex_lock(&o->mutex);
		hosts[i] = o->host;
		pthread_mutex_unlock(&o->mutex);
		snprintf(hosts[i].name, sizeof(hosts[i].name), "%s", o->name);
	}
	qsort(hosts, n, sizeof(*hosts), hosts_by_name);
	*ret = hosts;
	*ret_n = n;
	return 0;
}

void ingest_get_stats(struct ingest *in, struct ingest_stats *ret)
{
	pthread_mutex_lock(&in->mutex);
	*ret = in->stats;
	ret->observers = in->n;
	pthread_mutex_unlock(&in->mutex);
	ret->chores = chores_waiting(in->chores);
}
