/* Received data that could not be written, because the disk is full: it is kept in memory, so that
 * the live engine can go on. The servers keep it as well, and send it again; a server that tries
 * again sends it together with what it has recorded since.
 */
#ifndef SERVE_INGEST_TAIL_H
#define SERVE_INGEST_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Data beyond this size is not kept. */
#define TAILS_BYTES_MAX (UINT64_C(256) << 20)

struct tails;

struct tails *tails_new(void); /* NULL: out of memory */
void tails_free(struct tails *t);

/* Keep a copy of bytes that should follow the end of a file, which is at `offset`. It replaces what
 * was kept of that file before. Any thread may call these functions. */
void tails_keep(struct tails *t, const char *file, uint64_t offset, const void *bytes, size_t size);

/* The file has the bytes now. */
void tails_drop(struct tails *t, const char *file);

/* Copy up to `size` bytes of a file from `offset` on. Returns their number; 0: they were not kept.
 */
size_t tails_peek(struct tails *t, const char *file, uint64_t offset, void *buf, size_t size);

#endif
