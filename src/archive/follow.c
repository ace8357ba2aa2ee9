#include "archive/follow.h"

#include "archive/catalogue_codec.h"
#include "archive/data.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "model/batch_slice.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct follow {
	struct lp_source source; /* batches refer to it; it is never read */
	int fd;
	struct stat st;
	const struct follow_options *opt;
	const struct lp_select *select;
	bool begun;	     /* the file header was read, and the first frame was chosen */
	uint64_t at;	     /* offset of the next frame */
	uint64_t tried_size; /* there is no frame up to this size of the file */
	/* Log and event frames of a sealed file, which are at its end, sorted by the time at which
	 * they begin; the next of them; and the offset where they end. */
	struct frame_list apart;
	size_t next_apart;
	uint64_t apart_end;
	bool closed;		 /* the file ends with an index */
	bool given;		 /* an item was delivered */
	int64_t held_us;	 /* see follow_held_us() */
	int64_t wanted_us;	 /* frames that end earlier are not delivered */
	int64_t delivered_us;	 /* the last delivered sample; INT64_MIN: none */
	int64_t again_us;	 /* samples up to this time were delivered from an older file */
	char *meta, *meta_lines; /* "key=value" lines; the same with a NUL after each */
	char *observer;
	struct data_decoder *decoder;
	struct log_decoder *logs;
	struct lp_batch *batch;
	struct batch_slice part; /* the part of the batch that was not delivered yet */
	uint8_t *payload;
	size_t cap_payload;
	struct lp_log log;
	/* The selected data, by the numbers of the file; NULL: everything. */
	uint64_t (*columns)[LP_COLUMNS_MAX / 64];
	uint8_t *components;
	size_t cap_columns, cap_components;
	uint32_t n_columns, n_components;
	unsigned n_damaged;
};

DEFINE_CLEANUP(struct follow *, follow_close);

void follow_close(struct follow *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	lp_catalogue_free(f->source.catalogue);
	free(f->source.path);
	data_decoder_free(f->decoder);
	log_decoder_free(f->logs);
	frame_list_release(&f->apart);
	lp_batch_free(f->batch);
	batch_slice_release(&f->part);
	free(f->payload);
	free(f->meta);
	free(f->meta_lines);
	free(f->observer);
	free(f->columns);
	free(f->components);
	free(f);
}

/* Begin with an open file. */
static int follow_begin(struct follow *f, int fd, struct lp_err *err)
{
	struct lp_catalogue *catalogue = lp_catalogue_new();
	struct data_decoder *decoder = data_decoder_new();

	if (!catalogue || !decoder || fstat(fd, &f->st) < 0) {
		lp_catalogue_free(catalogue);
		data_decoder_free(decoder);
		close(fd);
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", f->source.path);
	}
	if (f->fd >= 0)
		close(f->fd);
	lp_catalogue_free(f->source.catalogue);
	data_decoder_free(f->decoder);
	f->fd = fd;
	f->source.catalogue = catalogue;
	f->decoder = decoder;
	f->begun = f->closed = false;
	f->at = FILE_HEADER_SIZE;
	f->tried_size = 0;
	frame_list_release(&f->apart);
	f->next_apart = 0;
	f->apart_end = 0;
	f->n_columns = f->n_components = 0;
	f->held_us = INT64_MAX;
	return 0;
}

int follow_open(const char *path, const struct follow_options *options, int64_t after_us,
	struct follow **ret, struct lp_err *err)
{
	_cleanup_(follow_closep) struct follow *f = calloc(1, sizeof(*f));
	int fd, r;

	if (!f)
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", path);
	f->fd = -1;
	f->opt = options;
	f->select = options->select;
	f->delivered_us = f->again_us = after_us;
	f->wanted_us = options->from_us ? options->from_us : INT64_MIN;
	f->source.path = strdup(path);
	f->observer = strdup("");
	f->logs = log_decoder_new();
	if (!f->source.path || !f->observer || !f->logs)
		return lp_err_sys(err, -ENOMEM, "cannot follow %s", path);
	fd = file_open_input(path, O_RDONLY, err);
	if (fd < 0)
		return fd;
	r = follow_begin(f, fd, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

bool follow_has_begun(const struct follow *f)
{
	return f->given;
}

int64_t follow_delivered_us(const struct follow *f)
{
	return f->delivered_us;
}

const struct stat *follow_stat(const struct follow *f)
{
	return &f->st;
}

const char *follow_path(const struct follow *f)
{
	return f->source.path;
}

int follow_rename(struct follow *f, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(f->source.path);
	f->source.path = copy;
	return 0;
}

void follow_select(struct follow *f, const struct lp_select *select)
{
	f->select = select;
	f->n_columns = f->n_components = 0;
}

int64_t follow_held_us(const struct follow *f)
{
	return f->held_us;
}

bool follow_closed(const struct follow *f)
{
	return f->closed;
}

unsigned follow_n_damaged(const struct follow *f)
{
	return f->n_damaged;
}

int64_t follow_interval_us(const struct follow *f)
{
	return f->source.interval_us;
}

const char *follow_observer(const struct follow *f)
{
	return f->observer;
}

const char *follow_meta(struct follow *f, const char *key)
{
	size_t len;
	const char *value = f->meta ? meta_find(f->meta, key, &len) : NULL;

	return value ? f->meta_lines + (value - f->meta) : NULL;
}

/* The description of the file was read, or has changed. */
static int meta_note(struct follow *f)
{
	const char *observer, *interval;
	char *copy;

	free(f->meta_lines);
	f->meta_lines = f->meta ? strdup(f->meta) : NULL;
	if (f->meta && !f->meta_lines)
		return -ENOMEM;
	for (char *p = f->meta_lines; p && *p; p++) {
		if (*p == '\n')
			*p = '\0';
	}
	interval = follow_meta(f, "interval_us");
	f->source.interval_us = interval ? strtoll(interval, NULL, 10) : 0;
	observer = follow_meta(f, "observer");
	copy = strdup(observer ? observer : "");
	if (!copy)
		return -ENOMEM;
	free(f->observer);
	f->observer = copy;
	return 0;
}

static void damage_tell(struct follow *f, uint64_t from, uint64_t to, const char *why)
{
	f->n_damaged++;
	lp_warn_raise(f->opt->warn,
		"%s: bytes %" PRIu64 "-%" PRIu64 " are damaged and were skipped%s%s",
		f->source.path, from, to - 1, why ? ": " : "", why ? why : "");
}

/* Choose where to begin in a file that already has frames: at the first selected data frame, or at
 * the key frame that it needs. Also reads the catalogue before it. */
static int place_choose(struct follow *f, struct lp_err *err)
{
	_cleanup_(frame_list_release) struct frame_list list = {0};
	struct meta_warn warn = {.path = f->source.path};
	int64_t wanted = f->again_us > f->wanted_us ? f->again_us : f->wanted_us;
	int r = frame_list_load(f->fd, &list, err);
	size_t first;

	if (r < 0)
		return lp_err_prefix(err, "%s", f->source.path);
	r = meta_load(f->fd, &list, f->source.catalogue, &f->meta, &warn, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", f->source.path);
	for (first = 0; first < list.n; first++) {
		const struct frame *frame = &list.items[first];

		if ((frame->type == FRAME_DATA || frame->type == FRAME_LOG) &&
			frame->last_us >= wanted)
			break;
	}
	/* Log frames are independent: only data frames need earlier frames. */
	while (first > 0 && first < list.n &&
		!(list.items[first].type == FRAME_DATA && (list.items[first].flags & FRAME_KEY)))
		first--;
	f->at = first < list.n ? list.items[first].offset : list.end;
	return meta_note(f) < 0 ? lp_err_sys(err, -ENOMEM, "cannot follow %s", f->source.path) : 0;
}

static int frame_compare(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->first_us != y->first_us ? x->first_us < y->first_us ? -1 : 1
		: x->offset < y->offset	  ? -1
					  : x->offset > y->offset;
}

static bool is_apart(const struct frame *frame)
{
	return frame->type == FRAME_LOG || frame->type == FRAME_EVENT;
}

/* A sealed file has its logs after all samples, one log after the other, so find them by time. */
static int logs_set_apart(struct follow *f, struct lp_err *err)
{
	_cleanup_(frame_list_release) struct frame_list list = {0};
	int r = frames_are_closed(f->fd) ? frame_list_load(f->fd, &list, err) : 0;

	for (size_t i = 0; r == 0 && i < list.n; i++) {
		if (list.items[i].offset >= f->at && is_apart(&list.items[i]) &&
			frame_list_add(&f->apart, &list.items[i]) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot follow %s", f->source.path);
	}
	if (r < 0)
		return lp_err_prefix(err, "%s", f->source.path);
	if (f->apart.n)
		qsort(f->apart.items, f->apart.n, sizeof(*f->apart.items), frame_compare);
	f->apart_end = list.end;
	return 0;
}

/* Does the file have its header? 1: begun; 0: not yet. */
static int file_begin(struct follow *f, struct lp_err *err)
{
	uint8_t header[FILE_HEADER_SIZE];
	ssize_t n;
	int r;

	if (f->begun)
		return 1;
	n = file_pread_full(f->fd, header, sizeof(header), 0);
	if (n < 0)
		return lp_err_sys(err, (int)n, "cannot read %s", f->source.path);
	if (n < FILE_HEADER_SIZE)
		return 0;
	r = format_check_file_header(header, (size_t)n, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", f->source.path);
	r = f->wanted_us > INT64_MIN || f->again_us > INT64_MIN ? place_choose(f, err) : 0;
	if (r == 0)
		r = logs_set_apart(f, err);
	if (r < 0)
		return r;
	f->begun = true;
	return 1;
}

/* The file is shorter than the part that was read, because the writer removed frames. Read it
 * again, and deliver samples after the last delivered one. */
static int shrunk(struct follow *f, struct lp_err *err)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot follow %s", f->source.path);
	f->again_us = f->delivered_us;
	return follow_begin(f, fd, err);
}

/* Read bytes after the end of the file, which could not be written yet. */
static size_t tail_read(const struct follow *f, uint64_t at, void *buf, size_t size)
{
	return f->opt->peek ? f->opt->peek(f->opt->peek_ctx, f->source.path, at, buf, size) : 0;
}

static bool is_in_tail(const struct follow *f, uint64_t at)
{
	uint8_t byte;

	return tail_read(f, at, &byte, 1) == 1;
}

static int header_read(const struct follow *f, uint64_t at, struct frame *ret)
{
	uint8_t buf[FRAME_HEADER_SIZE];
	ssize_t n = file_pread_full(f->fd, buf, sizeof(buf), (off_t)at);

	if (n < 0)
		return (int)n;
	if (n == 0)
		n = (ssize_t)tail_read(f, at, buf, sizeof(buf));
	if (n < FRAME_HEADER_SIZE || !format_get_frame(buf, ret))
		return 0;
	ret->offset = at;
	return frame_end(ret) <= (uint64_t)f->st.st_size || is_in_tail(f, frame_end(ret) - 1);
}

/* There is no frame at the expected place. If another one follows, the bytes in between are
 * damaged; otherwise the frame is not finished yet. */
static int gap_pass(struct follow *f, struct frame *ret, struct lp_err *err)
{
	uint64_t size = (uint64_t)f->st.st_size, next = size;
	int r;

	if (f->tried_size == size)
		return 0;
	r = frame_seek(f->fd, f->at + 1, size, &next);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", f->source.path);
	f->tried_size = size;
	if (next >= size)
		return 0;
	damage_tell(f, f->at, next, NULL);
	f->at = next;
	return header_read(f, f->at, ret);
}

/* The next frame. 1, or 0 if it is not there yet. */
static int frame_next(struct follow *f, struct frame *ret, struct lp_err *err)
{
	int r = fstat(f->fd, &f->st) < 0 ? -errno : 0;

	if (r == 0 && (uint64_t)f->st.st_size < f->at && !is_in_tail(f, f->at - 1)) {
		r = shrunk(f, err);
		return r < 0 ? r : file_begin(f, err) <= 0 ? 0 : frame_next(f, ret, err);
	}
	if (r == 0 && f->at + FRAME_HEADER_SIZE > (uint64_t)f->st.st_size && !is_in_tail(f, f->at))
		return 0;
	if (r == 0)
		r = header_read(f, f->at, ret);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", f->source.path);
	return r > 0 || f->at >= (uint64_t)f->st.st_size ? r : gap_pass(f, ret, err);
}

static int payload_reserve(struct follow *f, size_t size)
{
	uint8_t *more;

	if (size < f->cap_payload)
		return 0;
	more = realloc(f->payload, size + 1);
	if (!more)
		return -ENOMEM;
	f->payload = more;
	f->cap_payload = size + 1;
	return 0;
}

/* -EAGAIN: the payload is not in the file yet, and is now being written to it. */
static int payload_fetch(struct follow *f, const struct frame *frame, struct lp_err *err)
{
	if (frame->offset < (uint64_t)f->st.st_size)
		return frame_read_into(f->fd, frame, f->payload, err);
	if (tail_read(f, frame->offset + FRAME_HEADER_SIZE, f->payload, frame->payload_size) <
		frame->payload_size)
		return -EAGAIN;
	return frame_check(frame, f->payload, err);
}

/* Read the payload and verify it. 1; 0: it is the last frame and not finished; -EBADMSG: it is
 * damaged, which was reported. */
static int payload_read(struct follow *f, const struct frame *frame, struct lp_err *err)
{
	int r = payload_reserve(f, frame->payload_size);

	if (r == 0)
		r = payload_fetch(f, frame, err);
	else
		lp_err_sys(err, r, "cannot follow %s", f->source.path);
	if (r == 0 || r == -EAGAIN)
		return r == 0;
	if (r != -EBADMSG)
		return lp_err_prefix(err, "%s", f->source.path);
	if (frame_end(frame) == (uint64_t)f->st.st_size)
		return 0;
	damage_tell(f, frame->offset, frame_end(frame), err->text);
	return -EBADMSG;
}

/* Apply the selection to new columns and components. */
static int wants_extend(struct follow *f)
{
	const struct lp_catalogue *c = f->source.catalogue;
	const struct lp_select *sel = f->select;

	if (sel && sel->column) {
		if (array_reserve(&f->columns, &f->cap_columns, c->n_schemas + 1,
			    sizeof(*f->columns)) < 0)
			return -ENOMEM;
		for (; f->n_columns < c->n_schemas; f->n_columns++) {
			const struct lp_schema *s = &c->schemas[f->n_columns];

			memset(f->columns[f->n_columns], 0, sizeof(*f->columns));
			for (uint32_t col = 0; col < s->n_columns; col++) {
				if (sel->column(sel->ctx, s, col))
					f->columns[f->n_columns][col / 64] |= UINT64_C(1)
						<< (col % 64);
			}
		}
	}
	if (sel && sel->component) {
		if (array_reserve(&f->components, &f->cap_components, c->n_components + 1, 1) < 0)
			return -ENOMEM;
		for (; f->n_components < c->n_components; f->n_components++)
			f->components[f->n_components] =
				sel->component(sel->ctx, c, f->n_components);
	}
	return 0;
}

static int catalogue_take(struct follow *f, const struct frame *frame, struct lp_err *err)
{
	uint32_t deferred = 0;
	int r = catalogue_decode(
		f->payload, frame->payload_size, f->source.catalogue, &f->meta, &deferred, err);

	if (r == -EBADMSG) {
		damage_tell(f, frame->offset, frame_end(frame), err->text);
		return 0;
	}
	if (r == 0 && meta_note(f) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot follow %s", f->source.path);
	return r < 0 ? lp_err_prefix(err, "%s", f->source.path) : 0;
}

/* Deliver the part of the batch that was not delivered before. 0: none. */
static int batch_give(struct follow *f, struct follow_item *ret)
{
	const struct lp_batch *b = f->batch;
	uint32_t first = b->carry ? 1 : 0;

	while (first < b->n_samples && b->wall_us[first] <= f->again_us)
		first++;
	if (first >= b->n_samples)
		return 0;
	if (batch_slice_make(&f->part, b, first, b->n_samples, &b) < 0)
		return -ENOMEM;
	ret->what = FOLLOW_BATCH;
	ret->batch = b;
	for (uint32_t i = b->carry ? 1 : 0; i < b->n_samples; i++)
		f->delivered_us = b->wall_us[i] > f->delivered_us ? b->wall_us[i] : f->delivered_us;
	return 1;
}

static int data_take(
	struct follow *f, const struct frame *frame, struct follow_item *ret, struct lp_err *err)
{
	struct data_want want = {.catalogue = f->source.catalogue};
	int r = wants_extend(f);

	want.columns = f->select && f->select->column
		? (const uint64_t(*)[LP_COLUMNS_MAX / 64]) f->columns
		: NULL;
	want.components = f->select && f->select->component ? f->components : NULL;
	if (r == 0)
		r = data_decode(
			f->decoder, frame, payload_read_memory, f->payload, &want, &f->batch, err);
	else
		lp_err_sys(err, r, "cannot follow %s", f->source.path);
	if (r == -EBADMSG) {
		damage_tell(f, frame->offset, frame_end(frame), err->text);
		return 0;
	}
	if (r < 0)
		return lp_err_prefix(err, "%s, byte %" PRIu64, f->source.path, frame->offset);
	if (frame->last_us < f->wanted_us || frame->last_us <= f->again_us)
		return 0;
	r = batch_give(f, ret);
	return r < 0 ? lp_err_sys(err, r, "cannot follow %s", f->source.path) : r;
}

static int log_take(
	struct follow *f, const struct frame *frame, struct follow_item *ret, struct lp_err *err)
{
	int r;

	if (frame->last_us < f->wanted_us || frame->last_us <= f->again_us)
		return 0;
	r = log_decode(f->logs, frame, payload_read_memory, f->payload, &f->log, err);
	if (r == -EBADMSG) {
		damage_tell(f, frame->offset, frame_end(frame), err->text);
		return 0;
	}
	if (r < 0)
		return lp_err_prefix(err, "%s, byte %" PRIu64, f->source.path, frame->offset);
	ret->what = FOLLOW_LOG;
	ret->log = &f->log;
	return 1;
}

/* Process a frame with an intact payload. 1: deliver it. */
static int frame_take(
	struct follow *f, const struct frame *frame, struct follow_item *ret, struct lp_err *err)
{
	switch (frame->type) {
	case FRAME_CATALOGUE:
		return catalogue_take(f, frame, err);
	case FRAME_DATA:
		return data_take(f, frame, ret, err);
	case FRAME_LOG:
		return log_take(f, frame, ret, err);
	case FRAME_EVENT:
		if (frame->first_us < f->wanted_us || frame->first_us <= f->again_us)
			return 0;
		f->payload[frame->payload_size] = '\0';
		ret->what = FOLLOW_REMARK;
		ret->wall_us = frame->first_us;
		ret->text = (const char *)f->payload;
		return 1;
	default:
		return 0;
	}
}

/* Is this the index at the end of a closed file? A writer that continues replaces it by its next
 * frame. */
static bool is_end(const struct follow *f, const struct frame *frame)
{
	return frame->type == FRAME_INDEX &&
		(uint64_t)f->st.st_size - frame_end(frame) <= TRAILER_SIZE;
}

static bool is_timed(const struct frame *frame)
{
	return frame->type == FRAME_DATA || is_apart(frame);
}

/* The number of frames that are examined to find the newest. */
#define NEWEST_FRAMES_MAX 4096

int64_t follow_newest_us(const struct follow *f)
{
	int64_t newest = INT64_MIN;
	struct frame frame = {0};
	uint64_t at = f->at;

	for (int i = 0; i < NEWEST_FRAMES_MAX && header_read(f, at, &frame) > 0; i++) {
		if (frame.type == FRAME_DATA && frame.last_us > newest)
			newest = frame.last_us;
		at = frame_end(&frame);
	}
	return newest;
}

/* Read, verify and process a frame. 1: deliver it; 0: it has nothing to deliver; -EAGAIN: it is the
 * last one and not finished. */
static int frame_read_and_take(
	struct follow *f, const struct frame *frame, struct follow_item *ret, struct lp_err *err)
{
	int r = frame->type == FRAME_INDEX ? -EBADMSG : payload_read(f, frame, err);

	if (r == 0)
		return -EAGAIN;
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	return frame_take(f, frame, ret, err);
}

/* The next of the frames that were set apart and begin up to a time. 1, or 0: there is none. */
static int next_apart(
	struct follow *f, int64_t until_us, struct follow_item *ret, struct lp_err *err)
{
	int r = 0;

	while (r == 0 && f->next_apart < f->apart.n &&
		f->apart.items[f->next_apart].first_us <= until_us) {
		r = frame_read_and_take(f, &f->apart.items[f->next_apart], ret, err);
		f->next_apart++;
		r = r == -EAGAIN ? 0 : r;
	}
	return r;
}

/* The next frame of those in the order of the file. 1: deliver it; 0: there is none yet, or it is
 * held back. `*ret_us` is when that one begins. */
static int next_in_order(struct follow *f, int64_t until_us, int64_t *ret_us,
	struct follow_item *ret, struct lp_err *err)
{
	struct frame frame = {0};
	int r;

	*ret_us = INT64_MAX;
	for (;;) {
		r = frame_next(f, &frame, err);
		if (r <= 0)
			return r;
		f->closed = is_end(f, &frame);
		if (f->closed)
			return 0;
		if (is_apart(&frame) && frame.offset < f->apart_end) {
			f->at = frame_end(&frame);
			continue;
		}
		if (is_timed(&frame) && frame.first_us > until_us) {
			*ret_us = frame.first_us;
			return 0;
		}
		/* The caller may take the samples of a frame piece by piece, so logs come first. */
		if (frame.type == FRAME_DATA) {
			r = next_apart(
				f, frame.last_us > until_us ? frame.last_us : until_us, ret, err);
			if (r != 0)
				return r;
		}
		r = frame_read_and_take(f, &frame, ret, err);
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
		f->at = frame_end(&frame);
		if (r > 0)
			return r;
	}
}

int follow_next(
	struct follow *f, int64_t until_us, struct follow_item *ret_item, struct lp_err *err)
{
	struct follow_item item = {.source = &f->source};
	int64_t held_us = INT64_MAX;
	int r = file_begin(f, err);

	f->held_us = INT64_MAX;
	if (r <= 0)
		return r;
	r = next_in_order(f, until_us, &held_us, &item, err);
	if (r == 0)
		r = next_apart(f, until_us, &item, err);
	if (r < 0)
		return r;
	if (r > 0) {
		item.observer = f->observer;
		*ret_item = item;
		f->given = true;
		return 1;
	}
	if (f->next_apart < f->apart.n) {
		f->closed = false;
		if (f->apart.items[f->next_apart].first_us < held_us)
			held_us = f->apart.items[f->next_apart].first_us;
	}
	f->held_us = held_us;
	return 0;
}
