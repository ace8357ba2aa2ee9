#include <limpet/archive.h>

#include "archive/catalogue_codec.h"
#include "archive/data.h"
#include "archive/frames.h"
#include "archive/log.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/time.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A check in progress. */
struct check {
	const char *path;
	int fd;
	struct frame_list frames; /* all frames with an intact header */
	struct frame_list good;	  /* those with intact contents, too */
	struct lp_catalogue *catalogue;
	struct data_decoder *decoder;
	struct log_decoder *log_decoder;
	struct lp_batch *batch;
	struct lp_warn *warn;
	struct lp_archive_report report;
};

/* The times of the data before and after a place in the file; data in between may be lost. */
static void lost_between(
	const struct check *ck, uint64_t from, uint64_t to, char *since, char *until)
{
	const struct frame *before = NULL, *after = NULL;

	for (size_t i = 0; i < ck->frames.n; i++) {
		const struct frame *f = &ck->frames.items[i];

		if (f->type != FRAME_DATA)
			continue;
		if (frame_end(f) <= from)
			before = f;
		if (f->offset >= to && !after)
			after = f;
	}
	if (before)
		time_format(before->last_us, since);
	else
		snprintf(since, TIME_TEXT_MAX, "the beginning");
	if (after)
		time_format(after->first_us, until);
	else
		snprintf(until, TIME_TEXT_MAX, "the end");
}

static void check_damage(struct check *ck, uint64_t from, uint64_t to)
{
	ck->report.n_damaged++;
	ck->report.damaged_bytes += to - from;
}

static void check_gap(struct check *ck, const struct frame_gap *g)
{
	char since[TIME_TEXT_MAX], until[TIME_TEXT_MAX];

	check_damage(ck, g->from, g->to);
	lost_between(ck, g->from, g->to, since, until);
	lp_warn_raise(ck->warn,
		"%s: bytes %" PRIu64 "-%" PRIu64
		" are damaged; samples after %s and before %s may be lost",
		ck->path, g->from, g->to - 1, since, until);
}

static void check_bad_frame(struct check *ck, const struct frame *f, const char *why)
{
	char since[TIME_TEXT_MAX], until[TIME_TEXT_MAX];

	check_damage(ck, f->offset, frame_end(f));
	if (f->type == FRAME_DATA || f->type == FRAME_LOG)
		lp_warn_raise(ck->warn,
			"%s: bytes %" PRIu64 "-%" PRIu64 ": %s; %u %s from %s to %s are lost",
			ck->path, f->offset, frame_end(f) - 1, why, f->n_samples,
			f->type == FRAME_DATA ? "samples" : "records of a log",
			time_format(f->first_us, since), time_format(f->last_us, until));
	else
		lp_warn_raise(ck->warn,
			"%s: bytes %" PRIu64 "-%" PRIu64 ": %s; no samples are lost", ck->path,
			f->offset, frame_end(f) - 1, why);
}

/* The catalogue already has its contents: they must match. */
static int check_catalogue(
	struct check *ck, const uint8_t *payload, size_t size, struct lp_err *err)
{
	_cleanup_free_ char *meta = NULL;
	uint32_t deferred;

	return catalogue_decode(payload, size, ck->catalogue, &meta, &deferred, err);
}

static void check_count(struct lp_archive_report *rep, const struct frame *f)
{
	if (!rep->n_samples || f->first_us < rep->first_us)
		rep->first_us = f->first_us;
	if (!rep->n_samples || f->last_us > rep->last_us)
		rep->last_us = f->last_us;
	rep->n_samples += f->n_samples;
}

static void check_count_log(struct lp_archive_report *rep, const struct frame *f)
{
	rep->n_records += f->n_samples;
	rep->log_bytes += FRAME_HEADER_SIZE + f->payload_size;
}

/* Is the payload valid? */
static int check_payload(
	struct check *ck, const struct frame *f, uint8_t *payload, struct lp_err *err)
{
	struct data_want want = {.catalogue = ck->catalogue};
	struct lp_log log;

	switch (f->type) {
	case FRAME_DATA:
		return data_decode(
			ck->decoder, f, payload_read_memory, payload, &want, &ck->batch, err);
	case FRAME_CATALOGUE:
		return check_catalogue(ck, payload, f->payload_size, err);
	case FRAME_LOG:
		return log_decode(ck->log_decoder, f, payload_read_memory, payload, &log, err);
	default:
		return 0;
	}
}

static int check_frame(struct check *ck, const struct frame *f, struct lp_err *err)
{
	_cleanup_free_ uint8_t *payload = NULL;
	int r = frame_read(ck->fd, f, &payload, err);

	if (r == 0)
		r = check_payload(ck, f, payload, err);
	if (r == -EBADMSG) {
		check_bad_frame(ck, f, err->text);
		return 0;
	}
	if (r < 0)
		return r;
	if (f->type == FRAME_DATA)
		check_count(&ck->report, f);
	if (f->type == FRAME_LOG)
		check_count_log(&ck->report, f);
	ck->report.n_frames++;
	return frame_list_add(&ck->good, f) < 0 ? lp_err_sys(err, -ENOMEM, "cannot check") : 0;
}

static int copy_frame(
	struct check *ck, int to, struct frame *f, uint64_t offset, struct lp_err *err)
{
	_cleanup_free_ uint8_t *payload = NULL;
	uint8_t header[FRAME_HEADER_SIZE];
	int r = frame_read(ck->fd, f, &payload, err);

	if (r < 0)
		return r;
	f->offset = offset;
	format_put_frame(header, f);
	r = file_pwrite_full(to, header, sizeof(header), (off_t)offset);
	if (r == 0)
		r = file_pwrite_full(
			to, payload, f->payload_size, (off_t)(offset + FRAME_HEADER_SIZE));
	return r < 0 ? lp_err_sys(err, r, "cannot write") : 0;
}

/* Write the file header, every intact frame and an index to `to`. */
static int repair_write(struct check *ck, int to, struct lp_err *err)
{
	struct frame_list *good = &ck->good;
	_cleanup_free_ uint8_t *index = NULL;
	uint8_t header[FILE_HEADER_SIZE];
	size_t index_size;
	int r;

	format_put_file_header(header);
	good->end = sizeof(header);
	r = file_pwrite_full(to, header, sizeof(header), 0);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write");
	for (size_t i = 0; i < good->n; i++) {
		r = copy_frame(ck, to, &good->items[i], good->end, err);
		if (r < 0)
			return r;
		good->end = frame_end(&good->items[i]);
	}
	r = frame_list_encode(good, &index, &index_size);
	if (r == 0)
		r = file_pwrite_full(to, index, index_size, (off_t)good->end);
	if (r == 0 && fsync(to) < 0)
		r = -errno;
	return r < 0 ? lp_err_sys(err, r, "cannot write") : 0;
}

static int check_repair(struct check *ck, const char *repair_path, struct lp_err *err)
{
	_cleanup_close_ int dir = dir_open_of(repair_path, err);
	_cleanup_close_ int to = -1;
	struct stat st;
	int r;

	if (dir < 0)
		return dir;
	to = dir_create_file(dir, path_basename(repair_path), 0600);
	if (to < 0)
		return lp_err_sys(err, to, "cannot create %s", repair_path);
	/* Users who may not read the original must not read the copy. */
	if (fstat(ck->fd, &st) == 0)
		fchmod(to, st.st_mode & 0666);
	r = repair_write(ck, to, err);
	if (r < 0) {
		unlinkat(dir, path_basename(repair_path), 0);
		return lp_err_prefix(err, "%s", repair_path);
	}
	return 0;
}

/* Report errors of the whole file, other than damaged stretches. */
static void check_whole(struct check *ck)
{
	unsigned long unknown = data_decoder_unknown_rows(ck->decoder);

	if (ck->frames.unfinished)
		lp_warn_raise(ck->warn,
			"%s: the last %" PRIu64
			" bytes are an unfinished block (its recorder was killed, or is writing "
			"now)",
			ck->path, ck->frames.unfinished);
	if (unknown) {
		ck->report.n_damaged++;
		lp_warn_raise(ck->warn, "%s: %lu rows are of components whose catalogue is lost",
			ck->path, unknown);
	}
}

static int check_run(struct check *ck, struct lp_err *err)
{
	_cleanup_free_ char *meta = NULL;
	int r = frame_list_walk(ck->fd, &ck->frames, err);

	if (r == 0)
		r = meta_load(ck->fd, &ck->frames, ck->catalogue, &meta, NULL, err);
	if (r < 0)
		return r;
	r = 0; /* damage is reported per frame */
	ck->report.size_bytes = ck->frames.size;
	ck->report.sealed = ck->frames.sealed;
	ck->report.unfinished_bytes = ck->frames.unfinished;
	for (size_t i = 0; i < ck->frames.n_gaps; i++)
		check_gap(ck, &ck->frames.gaps[i]);
	for (size_t i = 0; r == 0 && i < ck->frames.n; i++)
		r = check_frame(ck, &ck->frames.items[i], err);
	if (r == 0)
		check_whole(ck);
	return r;
}

static void check_release(struct check *ck)
{
	if (ck->fd >= 0)
		close(ck->fd);
	frame_list_release(&ck->frames);
	frame_list_release(&ck->good);
	lp_catalogue_free(ck->catalogue);
	data_decoder_free(ck->decoder);
	log_decoder_free(ck->log_decoder);
	lp_batch_free(ck->batch);
}

int lp_archive_check(const char *path, const char *repair_path, struct lp_warn *warn,
	struct lp_archive_report *ret_report, struct lp_err *err)
{
	_cleanup_(check_release) struct check ck = {.path = path,
		.fd = file_open_input(path, O_RDONLY, err),
		.catalogue = lp_catalogue_new(),
		.decoder = data_decoder_new(),
		.log_decoder = log_decoder_new(),
		.warn = warn};
	int r;

	if (ck.fd < 0)
		return ck.fd;
	if (!ck.catalogue || !ck.decoder || !ck.log_decoder)
		return lp_err_sys(err, -ENOMEM, "cannot check %s", path);
	r = check_run(&ck, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", path);
	*ret_report = ck.report;
	if (repair_path) {
		r = check_repair(&ck, repair_path, err);
		if (r < 0)
			return r;
	}
	if (ck.report.n_damaged)
		return lp_err_set(err, -EBADMSG, "%s is damaged (%" PRIu64 " of %" PRIu64 " bytes)",
			path, ck.report.damaged_bytes, ck.report.size_bytes);
	return 0;
}
