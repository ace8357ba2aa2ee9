#include "serve/ingest_check.h"

#include "archive/catalogue_codec.h"
#include "archive/chunks.h"
#include "archive/frames.h"
#include "base/array.h"
#include "base/time.h"
#include "serve/tokens.h"
#include <errno.h>
#include <limits.h>
#include <limpet/archive.h>
#include <string.h>

#define STAMP_LEN 16 /* 20110509T000005Z */

/* The suffixes that `limpet trace` adds to the observer's name. */
static const char *const traces[] = {"syscalls", "calls", "functions", "samples"};

const char *ingest_refusal_name(enum ingest_refusal kind)
{
	static const char *const names[INGEST_KINDS] = {[INGEST_FINE] = "none",
		[INGEST_BAD_REQUEST] = "bad-request",
		[INGEST_WRONG_NAME] = "wrong-name",
		[INGEST_REPLAY] = "replay",
		[INGEST_GAP] = "gap",
		[INGEST_OTHER_FILE] = "other-file",
		[INGEST_BAD_FRAME] = "bad-frame",
		[INGEST_TRUNCATED] = "truncated",
		[INGEST_TOO_LARGE] = "too-large",
		[INGEST_BOMB] = "bomb",
		[INGEST_BUSY] = "busy",
		[INGEST_DISK] = "disk"};

	return names[kind];
}

/* Check the payload of a frame with correct checksums. */
static enum ingest_refusal check_content(
	const struct frame *f, const uint8_t *payload, const char *observer, struct lp_err *err)
{
	uint64_t raw, max = f->flags & FRAME_PACKED ? INGEST_LOOSE_MAX : INGEST_DENSE_MAX;
	int r;

	switch (f->type) {
	case FRAME_CATALOGUE:
		r = catalogue_check_observer(payload, f->payload_size, observer, err);
		return r == -EPERM ? INGEST_WRONG_NAME : r < 0 ? INGEST_BAD_FRAME : INGEST_FINE;
	case FRAME_EVENT:
		if (f->payload_size <= EVENT_MAX)
			return INGEST_FINE;
		lp_err_set(err, -EBADMSG, "a remark is too long");
		return INGEST_BAD_FRAME;
	default:
		raw = chunks_raw_size(f, payload);
		if (raw <= max)
			return INGEST_FINE;
		lp_err_set(err, -EFBIG, "a frame of %u bytes decompresses to more than %u MiB",
			f->payload_size, (unsigned)(max >> 20));
		return INGEST_BOMB;
	}
}

/* Check the frame at the beginning of `p`. */
static enum ingest_refusal check_frame(
	const uint8_t *p, size_t left, const char *observer, struct frame *f, struct lp_err *err)
{
	if (left < FRAME_HEADER_SIZE) {
		lp_err_set(err, -EBADMSG, "it ends within the header of a frame");
		return INGEST_TRUNCATED;
	}
	if (!format_get_frame(p, f)) {
		lp_err_set(err, -EBADMSG, "the header of a frame has a wrong checksum");
		return INGEST_BAD_FRAME;
	}
	if (f->payload_size > left - FRAME_HEADER_SIZE) {
		lp_err_set(err, -EBADMSG, "it ends within a frame");
		return INGEST_TRUNCATED;
	}
	if (f->type != FRAME_CATALOGUE && f->type != FRAME_DATA && f->type != FRAME_EVENT &&
		f->type != FRAME_LOG) {
		lp_err_set(err, -EBADMSG, "servers do not send frames of type %u", f->type);
		return INGEST_BAD_FRAME;
	}
	if (frame_check(f, p + FRAME_HEADER_SIZE, err) < 0)
		return INGEST_BAD_FRAME;
	return check_content(f, p + FRAME_HEADER_SIZE, observer, err);
}

static void summary_add(struct ingest_summary *s, const struct frame *f)
{
	s->n_frames++;
	s->sum = frame_sum(s->sum, f);
	if (f->type != FRAME_DATA)
		return;
	s->n_samples += f->n_samples;
	s->first_us = f->first_us < s->first_us ? f->first_us : s->first_us;
	s->last_us = f->last_us > s->last_us ? f->last_us : s->last_us;
}

enum ingest_refusal ingest_check(const uint8_t *body, size_t size, const char *observer,
	uint32_t sum, struct ingest_summary *ret, struct lp_err *err)
{
	struct ingest_summary s = {.sum = sum, .last_us = INT64_MIN, .first_us = INT64_MAX};
	size_t at = 0;

	while (at < size) {
		struct frame f = {0};
		enum ingest_refusal no = check_frame(body + at, size - at, observer, &f, err);

		if (no != INGEST_FINE) {
			lp_err_prefix(err, "byte %zu of the body", at);
			return no;
		}
		summary_add(&s, &f);
		at += FRAME_HEADER_SIZE + f.payload_size;
	}
	*ret = s;
	return INGEST_FINE;
}

static bool is_trace(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		if (strlen(traces[i]) == len && !memcmp(traces[i], text, len))
			return true;
	}
	return false;
}

bool ingest_observer_name(const char *name)
{
	const char *dash = strrchr(name, '-');

	return token_name_is_good(name) && !(dash && is_trace(dash + 1, strlen(dash + 1)));
}

bool ingest_file_name(const char *file, const char *observer, size_t *ret_series)
{
	size_t len = strlen(file), name = strlen(observer), suffix = strlen(LP_ARCHIVE_SUFFIX);
	struct lp_err ignored;
	char stamp[STAMP_LEN + 1];
	size_t series;
	int64_t start_us;

	if (len < name + 1 + STAMP_LEN + suffix || len > NAME_MAX - 8 ||
		memcmp(file, observer, name) != 0 ||
		strcmp(file + len - suffix, LP_ARCHIVE_SUFFIX) != 0)
		return false;
	series = len - suffix - STAMP_LEN - 1;
	if (file[series] != '-' || series < name)
		return false;
	if (series > name && (file[name] != '-' || !is_trace(file + name + 1, series - name - 1)))
		return false;
	memcpy(stamp, file + series + 1, STAMP_LEN);
	stamp[STAMP_LEN] = '\0';
	if (stamp[STAMP_LEN - 1] != 'Z' || time_parse(stamp, &start_us, &ignored) < 0)
		return false;
	*ret_series = series;
	return true;
}
