#include "serve/send_files.h"

#include "archive/frames.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "collect/keep.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void send_files_release(struct send_files *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].path);
	free(l->items);
	*l = (struct send_files){0};
}

struct send_file *send_files_find(struct send_files *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].path && !strcmp(l->items[i].path, path))
			return &l->items[i];
	}
	return NULL;
}

int send_files_scan(struct send_files *l, const char *dir, const char *name, int64_t since_us,
	struct lp_err *err)
{
	_cleanup_(keep_list_release) struct keep_list found = {0};
	struct send_files fresh = {0};
	int r = keep_list_load(dir, name, &found, err);

	if (r == 0 &&
		array_reserve(&fresh.items, &fresh.cap, found.n + 1, sizeof(*fresh.items)) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot send");
	if (r < 0)
		return r;
	for (size_t i = 0; fresh.items && i < found.n; i++) {
		struct keep_file *k = &found.files[i];
		struct send_file *old = send_files_find(l, k->path);

		if (k->start_us < since_us)
			continue;
		if (old) {
			fresh.items[fresh.n++] = *old;
			old->path = NULL; /* the new list owns it */
		} else {
			fresh.items[fresh.n].start_us = k->start_us;
			fresh.items[fresh.n++].path = TAKE_PTR(k->path);
		}
	}
	send_files_release(l);
	*l = fresh;
	return 0;
}

int send_file_place(struct send_file *f, uint64_t n_frames, uint32_t sum, struct lp_err *err)
{
	_cleanup_(frame_list_release) struct frame_list l = {0};
	_cleanup_close_ int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t offset = FILE_HEADER_SIZE;
	uint32_t mine = 0;
	int r = fd < 0 ? lp_err_sys(err, -errno, "cannot read %s", f->path)
		       : frame_list_load(fd, &l, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n && i < n_frames; i++) {
		mine = frame_sum(mine, &l.items[i]);
		offset = frame_end(&l.items[i]);
	}
	/* The collector has frames that were lost here in a power failure. */
	if (l.n < n_frames && !l.sealed) {
		mine = sum;
		offset = l.size;
	}
	if (mine != sum)
		return lp_err_set(err, -EEXIST,
			"the collector's frames differ from those of %s, which was rewritten "
			"meanwhile; the rest of it is not sent",
			f->path);
	f->n_frames = n_frames;
	f->offset = offset;
	f->sum = sum;
	f->placed = true;
	return 0;
}

/* Read the frame at `offset` and append it. 0: there is none (yet), 1: done. */
static int gather_one(
	int fd, uint64_t limit, const char *path, struct send_piece *p, struct lp_err *err)
{
	uint8_t header[FRAME_HEADER_SIZE];
	size_t begin = p->bytes.len;
	struct frame f;
	ssize_t n;

	if (p->end + FRAME_HEADER_SIZE > limit)
		return 0;
	n = file_pread_full(fd, header, sizeof(header), (off_t)p->end);
	if (n < FRAME_HEADER_SIZE)
		return n < 0 ? lp_err_sys(err, (int)n, "cannot read %s", path) : 0;
	if (!format_get_frame(header, &f))
		return lp_err_set(err, -EBADMSG, "%s is damaged at byte %" PRIu64, path, p->end);
	if (f.type == FRAME_INDEX || p->end + FRAME_HEADER_SIZE + f.payload_size > limit ||
		(begin && begin + FRAME_HEADER_SIZE + f.payload_size > SEND_BODY))
		return 0;
	strbuf_reserve(&p->bytes, FRAME_HEADER_SIZE + f.payload_size);
	if (p->bytes.failed)
		return lp_err_sys(err, -ENOMEM, "cannot send");
	strbuf_add(&p->bytes, header, sizeof(header));
	n = file_pread_full(fd, p->bytes.text + p->bytes.len, f.payload_size,
		(off_t)(p->end + FRAME_HEADER_SIZE));
	if (n != (ssize_t)f.payload_size) {
		p->bytes.len = begin;
		return n < 0 ? lp_err_sys(err, (int)n, "cannot read %s", path) : 0;
	}
	p->bytes.len += f.payload_size;
	p->end += FRAME_HEADER_SIZE + f.payload_size;
	p->sum = frame_sum(p->sum, &f);
	p->n_frames++;
	return 1;
}

int send_file_gather(
	const struct send_file *f, uint64_t limit, struct send_piece *ret, struct lp_err *err)
{
	_cleanup_close_ int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int r = 1;

	strbuf_reset(&ret->bytes);
	ret->n_frames = 0;
	ret->end = f->offset;
	ret->sum = f->sum;
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot read %s", f->path);
	while (r == 1 && ret->bytes.len < SEND_BODY)
		r = gather_one(fd, limit, f->path, ret, err);
	/* Intact frames before the damage are sent first. */
	return r < 0 && !ret->n_frames ? r : 0;
}

void send_file_advance(struct send_file *f, const struct send_piece *piece)
{
	f->n_frames += piece->n_frames;
	f->offset = piece->end;
	f->sum = piece->sum;
}
