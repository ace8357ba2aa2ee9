#include "archive/reader.h"

#include "archive/catalogue_codec.h"
#include "archive/data.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An archive as a source. */
struct reader {
	struct lp_source source; /* must be first */
	int fd;
	struct frame_list frames;
	size_t next;	  /* frame */
	uint8_t *needed;  /* [frame] must it be decoded? */
	char *meta;	  /* "key=value" lines */
	char *meta_lines; /* the same with a NUL after each line */
	const struct lp_select *select;
	struct lp_warn *warn;
	struct data_decoder *decoder;
	struct lp_batch *batch;
	uint64_t (*columns)[LP_COLUMNS_MAX / 64];
	uint8_t *components;
	unsigned n_damaged;
};

static void reader_close(struct lp_source *s)
{
	struct reader *r = (struct reader *)s;

	if (r->fd >= 0)
		close(r->fd);
	frame_list_release(&r->frames);
	data_decoder_free(r->decoder);
	lp_batch_free(r->batch);
	lp_catalogue_free(s->catalogue);
	free(s->path);
	free(r->meta);
	free(r->meta_lines);
	free(r->needed);
	free(r->columns);
	free(r->components);
	free(r);
}

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static bool frame_in_time(const struct reader *r, const struct frame *f)
{
	if (!r->select)
		return true;
	return (!r->select->from_us || f->last_us >= r->select->from_us) &&
		(!r->select->to_us || f->first_us < r->select->to_us);
}

/* Find the frames to decode: the selected ones, and those before them back to a key frame.
 */
static int frames_mark_needed(struct reader *r)
{
	bool for_next = false;

	r->needed = calloc(r->frames.n + 1, 1);
	if (!r->needed)
		return -ENOMEM;
	for (size_t i = r->frames.n; i-- > 0;) {
		const struct frame *f = &r->frames.items[i];

		if (f->type != FRAME_DATA)
			continue;
		r->needed[i] = for_next || frame_in_time(r, f);
		for_next = r->needed[i] && !(f->flags & FRAME_KEY);
	}
	return 0;
}

/* Report a damaged frame: its position and its time. */
static void reader_damage(struct reader *r, const struct frame *f, const char *why)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];

	r->n_damaged++;
	lp_warn_raise(r->warn,
		"%s: bytes %" PRIu64 "-%" PRIu64
		" are damaged (%s): %u samples from %s to %s are lost",
		r->source.path, f->offset, frame_end(f) - 1, why, f->n_samples,
		time_format(f->first_us, from), time_format(f->last_us, to));
}

static int reader_end(struct reader *r, struct lp_err *err)
{
	unsigned long unknown = data_decoder_unknown_rows(r->decoder);

	if (unknown)
		lp_warn_raise(r->warn,
			"%s: %lu rows are of components whose catalogue is lost; they were left "
			"out",
			r->source.path, unknown);
	if (r->n_damaged || unknown)
		return lp_err_set(err, -EBADMSG,
			"%s is damaged; its intact part was read ('limpet check --repair' rescues "
			"it)",
			r->source.path);
	return 0;
}

static int reader_next(struct lp_source *s, struct lp_batch **ret_batch, struct lp_err *err)
{
	struct reader *r = (struct reader *)s;
	struct data_want want = {.catalogue = s->catalogue,
		.columns = (const uint64_t(*)[LP_COLUMNS_MAX / 64]) r->columns,
		.components = r->components};

	for (; r->next < r->frames.n; r->next++) {
		const struct frame *f = &r->frames.items[r->next];
		struct frame_payload payload = {r->fd, f};
		int got;

		if (!r->needed[r->next])
			continue;
		got = data_decode(
			r->decoder, f, frame_payload_read, &payload, &want, &r->batch, err);
		if (got == -EBADMSG) {
			reader_damage(r, f, err->text);
			continue;
		}
		if (got < 0)
			return lp_err_prefix(err, "%s, byte %" PRIu64, s->path, f->offset);
		if (!frame_in_time(r, f))
			continue;
		r->next++;
		*ret_batch = r->batch;
		return 1;
	}
	return reader_end(r, err);
}

static const struct lp_source_ops reader_ops = {.next = reader_next, .close = reader_close};

/* Call the selection once for every column and component. */
static int reader_select(struct reader *r)
{
	const struct lp_catalogue *c = r->source.catalogue;
	const struct lp_select *sel = r->select;

	if (sel && sel->column) {
		r->columns = calloc(c->n_schemas + 1, sizeof(*r->columns));
		if (!r->columns)
			return -ENOMEM;
		for (uint32_t s = 0; s < c->n_schemas; s++) {
			for (uint32_t col = 0; col < c->schemas[s].n_columns; col++) {
				if (sel->column(sel->ctx, &c->schemas[s], col))
					r->columns[s][col / 64] |= UINT64_C(1) << (col % 64);
			}
		}
	}
	if (sel && sel->component) {
		r->components = calloc(c->n_components + 1, 1);
		if (!r->components)
			return -ENOMEM;
		for (uint32_t id = 0; id < c->n_components; id++)
			r->components[id] = sel->component(sel->ctx, c, id);
	}
	return 0;
}

static void reader_tell_gaps(struct reader *r)
{
	for (size_t i = 0; i < r->frames.n_gaps; i++) {
		r->n_damaged++;
		lp_warn_raise(r->warn,
			"%s: bytes %" PRIu64 "-%" PRIu64 " are damaged and were skipped",
			r->source.path, r->frames.gaps[i].from, r->frames.gaps[i].to - 1);
	}
	if (r->frames.unfinished)
		lp_warn_raise(r->warn,
			"%s: the last %" PRIu64 " bytes are an unfinished block (its recorder was "
			"killed, or is writing now)",
			r->source.path, r->frames.unfinished);
}

/* The time range of all frames of a type; false if there are none. */
static bool reader_span(struct reader *r, uint8_t type)
{
	bool any = false;

	for (size_t i = 0; i < r->frames.n; i++) {
		const struct frame *f = &r->frames.items[i];

		if (f->type != type)
			continue;
		if (!any || f->first_us < r->source.first_us)
			r->source.first_us = f->first_us;
		if (!any || f->last_us > r->source.last_us)
			r->source.last_us = f->last_us;
		any = true;
	}
	return any;
}

/* Set the nominal interval and the time range of the data, or of the logs if there is no data. */
static void reader_describe(struct reader *r)
{
	size_t len;
	const char *interval = meta_find(r->meta, "interval_us", &len);

	if (interval)
		r->source.interval_us = strtoll(interval, NULL, 10);
	if (!reader_span(r, FRAME_DATA))
		reader_span(r, FRAME_LOG);
}

static int lines_split(struct reader *r)
{
	r->meta_lines = strdup(r->meta ? r->meta : "");
	for (char *p = r->meta_lines; p && *p; p++) {
		if (*p == '\n')
			*p = '\0';
	}
	return r->meta_lines ? 0 : -ENOMEM;
}

static int reader_load(struct reader *r, struct lp_err *err)
{
	struct meta_warn warn = {.to = r->warn, .path = r->source.path};
	int got = frame_list_load(r->fd, &r->frames, err);

	if (got == 0)
		got = meta_load(r->fd, &r->frames, r->source.catalogue, &r->meta, &warn, err);
	if (got < 0)
		return got;
	r->n_damaged += (unsigned)got;
	reader_tell_gaps(r);
	reader_describe(r);
	return reader_select(r) < 0 || frames_mark_needed(r) < 0 || lines_split(r) < 0
		? lp_err_sys(err, -ENOMEM, "cannot read")
		: 0;
}

int reader_open(int fd, const char *path, const struct lp_select *select, struct lp_warn *warn,
	struct lp_source **ret_source, struct lp_err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	_cleanup_(lp_source_closep) struct lp_source *owned = NULL;
	int got;

	if (!r) {
		close(fd);
		return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
	}
	owned = &r->source;
	r->source = (struct lp_source){
		.ops = &reader_ops, .catalogue = lp_catalogue_new(), .path = strdup(path)};
	r->fd = fd;
	r->select = select;
	r->warn = warn;
	r->decoder = data_decoder_new();
	if (!r->source.catalogue || !r->source.path || !r->decoder)
		return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
	got = reader_load(r, err);
	if (got < 0)
		return lp_err_prefix(err, "%s", path);
	*ret_source = TAKE_PTR(owned);
	return 0;
}

int lp_archive_open(const char *path, const struct lp_select *select, struct lp_warn *warn,
	struct lp_source **ret_source, struct lp_err *err)
{
	int fd = file_open_input(path, O_RDONLY, err);

	if (fd < 0)
		return fd;
	return reader_open(fd, path, select, warn, ret_source, err);
}

const char *reader_meta(const struct lp_source *source)
{
	return ((const struct reader *)source)->meta;
}

const char *lp_archive_meta_get(const struct lp_source *source, const char *key)
{
	const struct reader *r = (const struct reader *)source;
	const char *value;
	size_t len;

	if (source->ops != &reader_ops)
		return NULL;
	value = meta_find(r->meta, key, &len);
	return value ? r->meta_lines + (value - r->meta) : NULL;
}

int lp_archive_events(const struct lp_source *source,
	int (*fn)(void *ctx, int64_t wall_us, const char *text), void *ctx, struct lp_err *err)
{
	const struct reader *r = (const struct reader *)source;
	int damage = 0;

	if (source->ops != &reader_ops)
		return 0;
	for (size_t i = 0; i < r->frames.n; i++) {
		_cleanup_free_ uint8_t *payload = NULL;
		const struct frame *f = &r->frames.items[i];
		int got;

		if (f->type != FRAME_EVENT)
			continue;
		got = frame_read(r->fd, f, &payload, err);
		if (got == -EBADMSG) {
			lp_warn_raise(r->warn, "%s: the event at byte %" PRIu64 " is damaged",
				source->path, f->offset);
			damage = lp_err_prefix(err, "%s, byte %" PRIu64, source->path, f->offset);
			continue;
		}
		if (got < 0)
			return lp_err_prefix(err, "%s, byte %" PRIu64, source->path, f->offset);
		payload[f->payload_size] = '\0';
		got = fn(ctx, f->first_us, (const char *)payload);
		if (got)
			return got;
	}
	return damage;
}

DEFINE_CLEANUP(struct log_decoder *, log_decoder_free);

/* Report a damaged log frame that was selected. */
static int log_damage(const struct reader *r, const struct frame *f, struct lp_err *err)
{
	lp_warn_raise(r->warn,
		"%s: bytes %" PRIu64 "-%" PRIu64 " are damaged (%s): %u records of a log are lost",
		r->source.path, f->offset, frame_end(f) - 1, err->text, f->n_samples);
	return lp_err_prefix(err, "%s, byte %" PRIu64, r->source.path, f->offset);
}

/* Decode the frame if it belongs to the log `name`. 1, or 0 if it belongs to another one. */
static int log_read(const struct reader *r, struct log_decoder *d, const struct frame *f,
	const char *name, struct lp_log *ret, struct lp_err *err)
{
	struct frame_payload payload = {r->fd, f};
	struct log_place place;
	int got;

	if (name) {
		got = log_locate(d, f, frame_payload_read, &payload, &place, err);
		if (got < 0 || strcmp(place.name, name))
			return got;
	}
	got = log_decode(d, f, frame_payload_read, &payload, ret, err);
	return got < 0 ? got : 1;
}

int lp_archive_logs(const struct lp_source *source, const char *name,
	int (*fn)(void *ctx, const struct lp_log *log), void *ctx, struct lp_err *err)
{
	const struct reader *r = (const struct reader *)source;
	_cleanup_(log_decoder_freep) struct log_decoder *d = NULL;
	int damage = 0;

	if (source->ops != &reader_ops)
		return 0;
	d = log_decoder_new();
	if (!d)
		return lp_err_sys(err, -ENOMEM, "cannot read the logs of %s", source->path);
	for (size_t i = 0; i < r->frames.n; i++) {
		const struct frame *f = &r->frames.items[i];
		struct lp_log log;
		int got;

		if (f->type != FRAME_LOG || !frame_in_time(r, f))
			continue;
		got = log_read(r, d, f, name, &log, err);
		if (got == -EBADMSG)
			damage = log_damage(r, f, err);
		else if (got < 0)
			return lp_err_prefix(err, "%s, byte %" PRIu64, source->path, f->offset);
		got = got > 0 ? fn(ctx, &log) : 0;
		if (got)
			return got;
	}
	return damage;
}

int reader_log_places(const struct lp_source *source,
	int (*fn)(void *ctx, const struct log_place *place), void *ctx, struct lp_err *err)
{
	const struct reader *r = (const struct reader *)source;
	_cleanup_(log_decoder_freep) struct log_decoder *d = NULL;

	if (source->ops != &reader_ops)
		return 0;
	d = log_decoder_new();
	if (!d)
		return lp_err_sys(err, -ENOMEM, "cannot read the logs of %s", source->path);
	for (size_t i = 0; i < r->frames.n; i++) {
		const struct frame *f = &r->frames.items[i];
		struct frame_payload payload = {r->fd, f};
		struct log_place place;
		int got;

		if (f->type != FRAME_LOG)
			continue;
		got = log_locate(d, f, frame_payload_read, &payload, &place, err);
		if (got == -EBADMSG)
			continue;
		place.frame = i;
		place.first_us = f->first_us;
		place.last_us = f->last_us;
		if (got == 0)
			got = fn(ctx, &place);
		if (got)
			return got;
	}
	return 0;
}

int reader_log_at(const struct lp_source *source, size_t frame,
	int (*fn)(void *ctx, const struct lp_log *log), void *ctx, struct lp_err *err)
{
	const struct reader *r = (const struct reader *)source;
	const struct frame *f = &r->frames.items[frame];
	_cleanup_(log_decoder_freep) struct log_decoder *d = log_decoder_new();
	struct lp_log log;
	int got = d ? log_read(r, d, f, NULL, &log, err)
		    : lp_err_sys(err, -ENOMEM, "cannot read the logs of %s", source->path);

	if (got == -EBADMSG)
		return log_damage(r, f, err);
	return got < 0 ? lp_err_prefix(err, "%s, byte %" PRIu64, source->path, f->offset)
		       : fn(ctx, &log);
}
