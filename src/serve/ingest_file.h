/* An archive that a server sends: a copy of the server's own, frame by frame.
 *
 * It always consists of complete frames, in the server's order, from the first one on. Their number
 * and their sum define where it continues. They are not stored elsewhere: a collector that was
 * killed computes them from the file. A file with an index or a mark is complete.
 */
#ifndef SERVE_INGEST_FILE_H
#define SERVE_INGEST_FILE_H

#include <limits.h>
#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ingest_file {
	char name[NAME_MAX + 1];
	int fd; /* -1: it is not open */
	uint64_t n_frames, end;
	uint32_t sum;
	bool complete;
	int64_t used_us; /* when it was last needed, by the steady clock */
};

void ingest_file_close(struct ingest_file *f);

/* Open a file in the directory to continue it, or (`create`) begin it. An incomplete or damaged
 * frame at its end is removed: the server sends it again. -ENOENT: the file does not exist. A
 * complete file does not stay open. */
int ingest_file_open(
	struct ingest_file *f, int dir, const char *name, bool create, struct lp_err *err);

/* Append frames that were checked. On failure the file has none of them. */
int ingest_file_append(struct ingest_file *f, const void *frames, size_t size, uint64_t n_frames,
	uint32_t sum, struct lp_err *err);

/* The server has declared that the file will not grow. Mark it (DIR/.FILE.whole, until the file is
 * sealed), make the file and the mark survive power loss, and close it. */
int ingest_file_mark(struct ingest_file *f, int dir, struct lp_err *err);

/* The name of the file to which a mark belongs, in `buf`; false: it is not a mark. */
bool ingest_file_marked(const char *mark, char buf[NAME_MAX + 1]);

/* Is the file complete? Checks only the mark and the end of the file. */
bool ingest_file_is_complete(int dir, const char *name);

/* Complete a file, which must not be open elsewhere. Seal it or, if that is impossible because its
 * frames have invalid contents, close it with an index. */
int ingest_file_finish(int dir, const char *path, struct lp_warn *warn, struct lp_err *err);

#endif
