#include "archive/writer.h"

#include "archive/catalogue_codec.h"
#include "archive/data.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/crc32c.h"
#include "base/dir.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The interval of key frames: after a lost frame, counters are relative until the next key
 * frame. */
#define KEY_EVERY 60
/* The whole catalogue is repeated soon after it has grown (later if it is large, because that takes
 * time and space), and then at this interval. */
#define CATALOGUE_SOON 6
#define CATALOGUE_SOON_SHARE 64
#define CATALOGUE_EVERY 360
/* In the map of ids: a free place in the caller's catalogue. */
#define NOBODY UINT32_MAX

struct lp_archive_writer {
	int fd;
	char *path;
	char *meta;
	struct frame_list frames; /* frames.end is the offset of the next frame */
	struct data_encoder *encoder;
	struct lp_catalogue *catalogue; /* with the numbers of the file */
	uint32_t schemas_written, components_written;
	bool relabelled; /* the labels of a component in the file have changed */
	uint64_t cells_max;
	/* The map from the caller's catalogue to the numbers of the file. */
	uint64_t mapped, mapped_changes; /* the catalogue, and its state; 0: none */
	uint32_t *schema_map, *id_map;
	size_t cap_schema_map, n_id_map, cap_id_map;
	/* The chain of loose frames. */
	struct chain {
		bool open;		      /* a loose frame may continue the last one */
		int64_t last_wall, last_mono; /* last sample written */
		unsigned since_key, since_catalogue;
		bool catalogue_soon; /* the catalogue has grown since its last copy */
	} chain;
	/* The state before the last batch, and how much of the file survives power loss. */
	struct before {
		struct chain chain;
		size_t n_frames;
		uint64_t end;
		uint32_t schemas_written, components_written;
	} before;
	uint64_t synced_end;
	/* The logs in the file, known when the first one is written. */
	struct log_encoder *log_encoder; /* NULL before the first log */
	struct log_count {
		char *name;
		uint64_t n_records;
	} logs[LOG_LOGS_MAX];
	size_t n_logs;
};

void lp_archive_abandon(struct lp_archive_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	free(w->meta);
	frame_list_release(&w->frames);
	data_encoder_free(w->encoder);
	lp_catalogue_free(w->catalogue);
	log_encoder_free(w->log_encoder);
	for (size_t i = 0; i < w->n_logs; i++)
		free(w->logs[i].name);
	free(w->schema_map);
	free(w->id_map);
	free(w);
}

DEFINE_CLEANUP(struct lp_archive_writer *, lp_archive_abandon);

static struct lp_archive_writer *writer_new(const char *path)
{
	struct lp_archive_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->cells_max = FRAME_CELLS_MAX;
	w->path = strdup(path);
	w->encoder = data_encoder_new();
	w->catalogue = lp_catalogue_new();
	if (!w->path || !w->encoder || !w->catalogue) {
		lp_archive_abandon(w);
		return NULL;
	}
	return w;
}

void writer_limit_cells(struct lp_archive_writer *w, uint64_t cells_max)
{
	w->cells_max = cells_max;
}

/* Two writers would overwrite each other. A file system without locks does not prevent that. */
static int writer_lock(struct lp_archive_writer *w, struct lp_err *err)
{
	if (flock(w->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return lp_err_set(err, -EBUSY, "another process is writing %s", w->path);
	return 0;
}

/* The name of a file in the directory. */
static const char *name_in(int dir, const char *path)
{
	return dir == AT_FDCWD ? path : path_basename(path);
}

int writer_create(int dir, const char *path, mode_t mode, const struct lp_archive_meta *meta,
	struct lp_archive_writer **ret_writer, struct lp_err *err)
{
	_cleanup_(lp_archive_abandonp) struct lp_archive_writer *w = writer_new(path);
	uint8_t header[FILE_HEADER_SIZE];
	int r;

	if (w)
		w->meta = meta_format(meta);
	if (!w || !w->meta)
		return lp_err_sys(err, -ENOMEM, "cannot create %s", path);
	w->fd = dir_create_file(dir, name_in(dir, path), mode);
	if (w->fd < 0)
		return lp_err_sys(err, w->fd, "cannot create %s", path);
	writer_lock(w, NULL);
	format_put_file_header(header);
	r = file_pwrite_full(w->fd, header, sizeof(header), 0);
	if (r < 0) {
		unlinkat(dir, name_in(dir, path), 0);
		return lp_err_sys(err, r, "cannot write %s", path);
	}
	w->frames.end = sizeof(header);
	*ret_writer = TAKE_PTR(w);
	return 0;
}

int lp_archive_create(const char *path, const struct lp_archive_meta *meta,
	struct lp_archive_writer **ret_writer, struct lp_err *err)
{
	return writer_create(AT_FDCWD, path, 0644, meta, ret_writer, err);
}

/* Read the catalogue of the file to continue. */
static int writer_load_catalogue(struct lp_archive_writer *w, struct lp_err *err)
{
	int r = meta_load(w->fd, &w->frames, w->catalogue, &w->meta, NULL, err);

	if (r < 0)
		return r;
	if (!w->meta)
		w->meta = strdup("");
	w->schemas_written = w->catalogue->n_schemas;
	w->components_written = w->catalogue->n_components;
	return w->meta ? 0 : lp_err_sys(err, -ENOMEM, "cannot append");
}

/* Continue an open file. A negative errno was already reported. */
static int append_to(
	int fd, const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err)
{
	_cleanup_close_ int owned = fd;
	_cleanup_(lp_archive_abandonp) struct lp_archive_writer *w = writer_new(path);
	int r;

	if (fd < 0)
		return fd;
	if (!w)
		return lp_err_sys(err, -ENOMEM, "cannot append to %s", path);
	w->fd = TAKE_FD(owned);
	r = writer_lock(w, err);
	if (r < 0)
		return r;
	r = frame_list_load(w->fd, &w->frames, err);
	if (r == 0)
		r = writer_load_catalogue(w, err);
	if (r < 0)
		return lp_err_prefix(err, "cannot append to %s", path);
	/* Damage after the last intact frame stays in the file: it may be possible to repair it by
	 * hand. */
	if (w->frames.n_gaps && w->frames.gaps[w->frames.n_gaps - 1].to == w->frames.size)
		w->frames.end = w->frames.size;
	if (ftruncate(w->fd, (off_t)w->frames.end) < 0)
		return lp_err_sys(err, -errno, "cannot append to %s", path);
	w->frames.sealed = false;
	w->synced_end = w->frames.end;
	*ret_writer = TAKE_PTR(w);
	return 0;
}

int lp_archive_append(const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err)
{
	return append_to(file_open_input(path, O_RDWR, err), path, ret_writer, err);
}

int writer_append(
	int dir, const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err)
{
	return append_to(dir_open_own_file(dir, name_in(dir, path), O_RDWR), path, ret_writer, err);
}

int writer_stat(const struct lp_archive_writer *w, struct stat *ret)
{
	return fstat(w->fd, ret) < 0 ? -errno : 0;
}

void writer_give(struct lp_archive_writer *w, const struct stat *like)
{
	if (fchown(w->fd, like->st_uid, like->st_gid) == 0)
		fchmod(w->fd, like->st_mode & 07777);
}

/* Write bytes to the end of the file. On failure none of them remain. */
static int writer_put(
	struct lp_archive_writer *w, const void *bytes, size_t size, struct lp_err *err)
{
	int r = file_pwrite_full(w->fd, bytes, size, (off_t)w->frames.end);

	if (r == 0)
		return 0;
	/* Remove the part of the frame that fit on a full disk. If that fails too, the next write
	 * begins at the same offset and overwrites it. */
	if (ftruncate(w->fd, (off_t)w->frames.end) < 0)
		return lp_err_sys(err, r, "cannot write %s (nor truncate it again)", w->path);
	return lp_err_sys(err, r, "cannot write %s", w->path);
}

/* Write a whole frame, and note it for the index. */
static int writer_put_frame(struct lp_archive_writer *w, const void *bytes, size_t size,
	struct frame *f, struct lp_err *err)
{
	int r;

	if (frame_list_reserve(&w->frames, 1) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	r = writer_put(w, bytes, size, err);
	if (r < 0)
		return r;
	f->offset = w->frames.end;
	w->frames.end += size;
	return frame_list_add(&w->frames, f); /* there is room */
}

/* Write a payload without chunks (catalogue, event) as a frame. */
static int writer_put_payload(struct lp_archive_writer *w, struct frame *f, const void *payload,
	size_t size, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf bytes = {0};
	uint8_t header[FRAME_HEADER_SIZE];

	f->payload_size = f->head_size = (uint32_t)size;
	f->head_crc = crc32c(0, payload, size);
	format_put_frame(header, f);
	strbuf_add(&bytes, header, sizeof(header));
	strbuf_add(&bytes, payload, size);
	if (bytes.failed)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	return writer_put_frame(w, bytes.text, bytes.len, f, err);
}

/* Write the new part of the catalogue, or all of it. Allocates memory for all frames until the next
 * whole catalogue, so that none is needed in between. */
static int writer_put_catalogue(struct lp_archive_writer *w, bool whole, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf payload = {0};
	struct frame f = {.type = FRAME_CATALOGUE};
	int r = catalogue_encode(&payload, w->meta, w->catalogue, whole ? 0 : w->schemas_written,
		whole ? 0 : w->components_written);

	if (r == 0)
		r = frame_list_reserve(&w->frames, CATALOGUE_EVERY + 16);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write the catalogue of %s", w->path);
	r = writer_put_payload(w, &f, payload.text, payload.len, err);
	if (r < 0)
		return r;
	w->schemas_written = w->catalogue->n_schemas;
	w->components_written = w->catalogue->n_components;
	w->relabelled = false;
	w->chain.since_catalogue = 0;
	w->chain.catalogue_soon = !whole;
	return 0;
}

/* Is a component still mapped to one with the same name and labels? */
static bool map_holds(struct lp_archive_writer *w, const struct lp_catalogue *c, uint32_t id)
{
	const struct lp_component *theirs = &c->components[id], *ours;

	if (w->id_map[id] == NOBODY)
		return false;
	ours = &w->catalogue->components[w->id_map[id]];
	return w->schema_map[theirs->schema] == ours->schema && !strcmp(theirs->name, ours->name) &&
		!strcmp(theirs->observer, ours->observer) && !strcmp(theirs->labels, ours->labels);
}

static int map_schemas(
	struct lp_archive_writer *w, const struct lp_catalogue *c, struct lp_err *err)
{
	int r = 0;

	if (array_reserve(&w->schema_map, &w->cap_schema_map, c->n_schemas, sizeof(uint32_t)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	for (uint32_t i = 0; i < c->n_schemas && r == 0; i++)
		r = lp_catalogue_add_schema(w->catalogue, &c->schemas[i], &w->schema_map[i], err);
	if (r == 0 && w->catalogue->n_schemas > CATALOGUE_SCHEMAS_MAX)
		r = lp_err_set(err, -E2BIG, "%s has too many kinds of components", w->path);
	return r;
}

static int map_component(
	struct lp_archive_writer *w, const struct lp_catalogue *c, uint32_t id, struct lp_err *err)
{
	const struct lp_component *comp = &c->components[id];
	uint32_t schema = w->schema_map[comp->schema];
	int r = lp_catalogue_add_component(
		w->catalogue, schema, comp->observer, comp->name, NULL, &w->id_map[id], err);

	if (r < 0)
		return r;
	if (w->catalogue->n_components > CATALOGUE_COMPONENTS_MAX)
		return lp_err_set(err, -E2BIG, "%s has too many components", w->path);
	if (!strcmp(w->catalogue->components[w->id_map[id]].labels, comp->labels))
		return 0;
	w->relabelled |= w->id_map[id] < w->components_written;
	return lp_catalogue_add_component(w->catalogue, schema, comp->observer, comp->name,
		comp->labels, &w->id_map[id], err);
}

/* Map the caller's schemas and components to numbers of the file. */
static int writer_map(struct lp_archive_writer *w, const struct lp_catalogue *c, struct lp_err *err)
{
	int r;

	if (w->mapped == c->serial && w->mapped_changes == c->changes)
		return 0;
	r = map_schemas(w, c, err);
	if (r < 0)
		return r;
	if (array_reserve(&w->id_map, &w->cap_id_map, c->n_components, sizeof(uint32_t)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	for (uint32_t id = 0; id < c->n_components && r == 0; id++) {
		if (!c->components[id].name)
			w->id_map[id] = NOBODY;
		else if (id >= w->n_id_map || !map_holds(w, c, id))
			r = map_component(w, c, id, err);
	}
	w->n_id_map = r == 0 ? c->n_components : 0;
	w->mapped = r == 0 ? c->serial : 0;
	w->mapped_changes = c->changes;
	return r;
}

static int batch_complete(const struct lp_batch *b)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		for (uint32_t c = 0; c < b->kinds[i].n_columns; c++) {
			if (!b->kinds[i].columns[c])
				return -EINVAL;
		}
	}
	return 0;
}

/* Does this slice continue exactly where the file ends? If so, counters need no bases. */
static bool writer_continues(const struct lp_archive_writer *w, const struct data_slice *sl)
{
	const struct lp_batch *b = sl->batch;

	return sl->carry && w->chain.open && w->chain.since_key < KEY_EVERY - 1 &&
		b->wall_us[sl->first - 1] == w->chain.last_wall &&
		b->mono_us[sl->first - 1] == w->chain.last_mono;
}

static int writer_put_slice(struct lp_archive_writer *w, const struct lp_catalogue *c,
	const struct data_slice *sl, enum lp_archive_density density, struct lp_err *err)
{
	unsigned flags = density == LP_ARCHIVE_LOOSE ? FRAME_PACKED : 0;
	const uint8_t *bytes;
	size_t size;
	struct frame f;
	int r;

	if (density == LP_ARCHIVE_DENSE || !writer_continues(w, sl))
		flags |= FRAME_KEY;
	r = data_encode(w->encoder, sl, c, w->schema_map, w->id_map, flags, &bytes, &size, &f);
	if (r < 0)
		return lp_err_sys(err, r, "cannot encode %u samples", sl->n);
	r = writer_put_frame(w, bytes, size, &f, err);
	if (r < 0)
		return r;
	w->chain.since_key = flags & FRAME_KEY ? 0 : w->chain.since_key + 1;
	w->chain.since_catalogue++;
	w->chain.open = density == LP_ARCHIVE_LOOSE;
	w->chain.last_wall = sl->batch->wall_us[sl->first + sl->n - 1];
	w->chain.last_mono = sl->batch->mono_us[sl->first + sl->n - 1];
	return 0;
}

/* Write the part of the catalogue that the file lacks, or a copy if one is due. */
static int writer_update_catalogue(struct lp_archive_writer *w, struct lp_err *err)
{
	unsigned soon = CATALOGUE_SOON + w->catalogue->n_components / CATALOGUE_SOON_SHARE;
	unsigned due = w->chain.catalogue_soon && soon < CATALOGUE_EVERY ? soon : CATALOGUE_EVERY;

	if (w->relabelled || w->chain.since_catalogue >= due)
		return writer_put_catalogue(w, true, err);
	if (w->components_written < w->catalogue->n_components ||
		w->schemas_written < w->catalogue->n_schemas)
		return writer_put_catalogue(w, false, err);
	return 0;
}

/* Write the samples of a batch, in as many frames as necessary. */
static int writer_put_batch(struct lp_archive_writer *w, const struct lp_catalogue *c,
	const struct lp_batch *batch, enum lp_archive_density density, struct lp_err *err)
{
	struct data_slice sl = {.batch = batch, .first = batch->carry ? 1 : 0};
	uint32_t max = data_samples_max(batch, w->cells_max);
	int r = 0;

	if (!max)
		return lp_err_set(
			err, -E2BIG, "a sample has more than %" PRIu64 " values", w->cells_max);
	while (r == 0 && sl.first < batch->n_samples) {
		sl.n = batch->n_samples - sl.first < max ? batch->n_samples - sl.first : max;
		sl.carry = sl.first > 0;
		r = writer_put_slice(w, c, &sl, density, err);
		sl.first += sl.n;
	}
	return r;
}

static struct before writer_state(const struct lp_archive_writer *w)
{
	return (struct before){.chain = w->chain,
		.n_frames = w->frames.n,
		.end = w->frames.end,
		.schemas_written = w->schemas_written,
		.components_written = w->components_written};
}

/* Remove everything that was written to the file since then. */
static void writer_undo(struct lp_archive_writer *w, const struct before *before)
{
	if (w->frames.n == before->n_frames)
		return;
	w->frames.n = before->n_frames;
	w->frames.end = before->end;
	w->chain = before->chain;
	/* If this fails too, the next write overwrites it. */
	if (ftruncate(w->fd, (off_t)before->end) < 0)
		w->chain.open = false;
}

int lp_archive_write(struct lp_archive_writer *w, const struct lp_catalogue *catalogue,
	const struct lp_batch *batch, enum lp_archive_density density, struct lp_err *err)
{
	struct before before;
	int r;

	if (batch_complete(batch) < 0)
		return lp_err_set(err, -EINVAL, "cannot write a batch that lacks columns");
	w->before = writer_state(w);
	r = writer_map(w, catalogue, err);
	if (r == 0)
		r = writer_update_catalogue(w, err);
	if (r < 0)
		return r;
	before = writer_state(w);
	r = writer_put_batch(w, catalogue, batch, density, err);
	if (r < 0)
		writer_undo(w, &before);
	return r;
}

/* Write bytes of the file again: after a failed sync the kernel considers them written. Errors are
 * ignored, because there is no other copy. */
static void writer_rewrite(struct lp_archive_writer *w, uint64_t from, uint64_t to)
{
	uint8_t buf[4096];

	while (from < to) {
		size_t size = to - from < sizeof(buf) ? (size_t)(to - from) : sizeof(buf);
		ssize_t n = file_pread_full(w->fd, buf, size, (off_t)from);

		if (n <= 0 || file_pwrite_full(w->fd, buf, (size_t)n, (off_t)from) < 0)
			return;
		from += (uint64_t)n;
	}
}

void writer_take_back(struct lp_archive_writer *w)
{
	writer_undo(w, &w->before);
	w->schemas_written = w->before.schemas_written;
	w->components_written = w->before.components_written;
	w->relabelled = true; /* possibly: the whole catalogue will contain it */
	writer_rewrite(w, w->synced_end, w->frames.end);
}

int lp_archive_write_event(
	struct lp_archive_writer *w, int64_t wall_us, const char *text, struct lp_err *err)
{
	struct frame f = {.type = FRAME_EVENT, .first_us = wall_us, .last_us = wall_us};

	if (strlen(text) > EVENT_MAX)
		return lp_err_set(err, -E2BIG, "an event of %zu bytes is too long", strlen(text));
	return writer_put_payload(w, &f, text, strlen(text), err);
}

/* The number of records of a log; NULL if no further log is possible. */
static struct log_count *log_count_get(struct lp_archive_writer *w, const char *name)
{
	for (size_t i = 0; i < w->n_logs; i++) {
		if (!strcmp(w->logs[i].name, name))
			return &w->logs[i];
	}
	if (w->n_logs == LOG_LOGS_MAX)
		return NULL;
	w->logs[w->n_logs] = (struct log_count){.name = strdup(name)};
	return w->logs[w->n_logs].name ? &w->logs[w->n_logs++] : NULL;
}

DEFINE_CLEANUP(struct log_decoder *, log_decoder_free);

/* Note where the records of a log end, so that later ones continue after them. */
static int log_count_raise(
	struct lp_archive_writer *w, const char *name, uint64_t n_records, struct lp_err *err)
{
	struct log_count *count = log_count_get(w, name);

	if (count && count->n_records < n_records)
		count->n_records = n_records;
	return count ? 0 : lp_err_set(err, -E2BIG, "%s has too many logs", w->path);
}

/* Count the records of each log in a file that is continued. Damaged frames are not counted. */
static int logs_count(struct lp_archive_writer *w, struct lp_err *err)
{
	_cleanup_(log_decoder_freep) struct log_decoder *d = log_decoder_new();
	int r = 0;

	if (!d)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	for (size_t i = 0; r == 0 && i < w->frames.n; i++) {
		const struct frame *f = &w->frames.items[i];
		struct frame_payload payload = {w->fd, f};
		struct log_place place;

		if (f->type != FRAME_LOG)
			continue;
		r = log_locate(d, f, frame_payload_read, &payload, &place, err);
		if (r == -EBADMSG)
			r = 0;
		else if (r == 0)
			r = log_count_raise(w, place.name, place.first_record + f->n_samples, err);
	}
	return r;
}

static int logs_begin(struct lp_archive_writer *w, struct lp_err *err)
{
	struct log_encoder *encoder;
	int r;

	if (w->log_encoder)
		return 0;
	encoder = log_encoder_new();
	if (!encoder)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", w->path);
	r = logs_count(w, err);
	if (r < 0) {
		log_encoder_free(encoder);
		return r;
	}
	w->log_encoder = encoder;
	return 0;
}

int writer_put_log(struct lp_archive_writer *w, const struct lp_log *log,
	enum lp_archive_density density, struct lp_err *err)
{
	const uint8_t *bytes;
	size_t size;
	struct frame f;
	int r = logs_begin(w, err);

	if (r == 0)
		r = log_encode(w->log_encoder, log, density, &bytes, &size, &f, err);
	/* Add an entry for the log first, so that counting cannot fail after the write. */
	if (r == 0)
		r = log_count_raise(w, log->name, 0, err);
	/* The observer of the logs is written before the first log. */
	if (r == 0 && !w->frames.n)
		r = writer_put_catalogue(w, true, err);
	if (r == 0)
		r = writer_put_frame(w, bytes, size, &f, err);
	return r < 0 ? r : log_count_raise(w, log->name, log->first_record + log->n_records, err);
}

int lp_archive_write_log(struct lp_archive_writer *w, const struct lp_log *log, struct lp_err *err)
{
	struct lp_log numbered = *log;
	const struct log_count *count;
	int r = logs_begin(w, err);

	if (r < 0)
		return r;
	count = log_count_get(w, log->name);
	numbered.first_record = count ? count->n_records : 0;
	return writer_put_log(w, &numbered, LP_ARCHIVE_LOOSE, err);
}

int lp_archive_sync(struct lp_archive_writer *w, struct lp_err *err)
{
	if (fdatasync(w->fd) < 0)
		return lp_err_sys(err, -errno, "cannot flush %s", w->path);
	w->synced_end = w->frames.end;
	return 0;
}

uint32_t writer_components(const struct lp_archive_writer *w)
{
	return w->catalogue->n_components;
}

size_t writer_frames(const struct lp_archive_writer *w)
{
	return w->frames.n;
}

uint64_t lp_archive_size(const struct lp_archive_writer *w)
{
	return w->frames.end;
}

bool lp_archive_vanished(const struct lp_archive_writer *w)
{
	struct stat st;

	return fstat(w->fd, &st) == 0 && st.st_nlink == 0;
}

/* Write the whole catalogue again, the index and the trailer. */
static int writer_finish(struct lp_archive_writer *w, struct lp_err *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;
	int r = writer_put_catalogue(w, true, err);

	if (r < 0)
		return r;
	r = frame_list_encode(&w->frames, &bytes, &size);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write the index of %s", w->path);
	r = writer_put(w, bytes, size, err);
	if (r == 0)
		r = lp_archive_sync(w, err);
	return r;
}

int lp_archive_close(struct lp_archive_writer *w, struct lp_err *err)
{
	int r = writer_finish(w, err);

	lp_archive_abandon(w);
	return r;
}
