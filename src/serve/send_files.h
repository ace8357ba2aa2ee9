/* The archives of this server, and how far each has been sent. */
#ifndef SERVE_SEND_FILES_H
#define SERVE_SEND_FILES_H

#include "base/strbuf.h"
#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

/* A body has up to this many bytes of frames, or one frame. */
#define SEND_BODY (UINT32_C(1) << 20)

struct send_file {
	char *path;
	int64_t start_us;  /* by its name */
	uint64_t n_frames; /* frames that the collector has */
	uint64_t offset;   /* of the next frame in the file */
	uint32_t sum;	   /* of the frames before it */
	bool placed;	   /* the above are known */
	bool complete;	   /* the collector has the whole file, and knows that it is complete */
	bool given_up;	   /* it cannot be sent, and this was reported */
	int64_t finish_us; /* when to declare its end, by the steady clock; 0: not set
			    */
	unsigned conflicts;
};

/* Sorted by name, which is by time. Zero-initialise it. */
struct send_files {
	struct send_file *items;
	size_t n, cap;
};

void send_files_release(struct send_files *l);

/* Find files NAME-TIME.lpa in the directory that begin at `since_us` or later. Known files are not
 * changed; files that no longer exist are forgotten. */
int send_files_scan(struct send_files *l, const char *dir, const char *name, int64_t since_us,
	struct lp_err *err);

struct send_file *send_files_find(struct send_files *l, const char *path);

/* The collector has `n_frames` frames of a file, with this sum: continue after them. If the file
 * has fewer, because the machine lost power, there is nothing left to send. -EEXIST: the frames
 * differ from those of the file. */
int send_file_place(struct send_file *f, uint64_t n_frames, uint32_t sum, struct lp_err *err);

/* Frames to be sent. */
struct send_piece {
	struct strbuf bytes;
	uint64_t n_frames, end;
	uint32_t sum;
};

/* Read the next frames, up to byte `limit` of the file. There may be none. -EBADMSG: the file is
 * damaged there. */
int send_file_gather(
	const struct send_file *f, uint64_t limit, struct send_piece *ret, struct lp_err *err);

/* The frames have arrived. */
void send_file_advance(struct send_file *f, const struct send_piece *piece);

#endif
