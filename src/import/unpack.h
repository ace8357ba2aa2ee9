/* Opens files that may be compressed (gzip, xz, zstd). */
#ifndef IMPORT_UNPACK_H
#define IMPORT_UNPACK_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A file may unpack to UNPACK_BYTES_MIN bytes, or to UNPACK_RATIO times its size if that is more.
 * More than that is an attack, not data. */
#define UNPACK_BYTES_MIN ((off_t)64 << 20)
#define UNPACK_RATIO 200

/* A kind of compression. */
struct unpack_format {
	const char *name;    /* "gzip" */
	const char *command; /* the command that unpacks a file: "gzip -dk" */
};

/* The format of a file that begins with these bytes, even if limpet itself cannot unpack it; NULL:
 * the file is not compressed. */
const struct unpack_format *unpack_format_of(const void *head, size_t n);

/* Does a file with these first bytes have a format that limpet can unpack? */
bool unpack_is_packed(const unsigned char *head, size_t n);

/* Open a file for reading, like file_open_input(). If it is compressed, its content is written to a
 * temporary file without a name (in $TMPDIR), and that is opened.
 *
 * `ret_damage` is for text files: if the compressed data is damaged or ends early, the complete
 * lines before that point are opened, and the error is stored in `ret_damage`. If that is NULL, it
 * is an error. */
int unpack_open(const char *path, struct lp_err *ret_damage, struct lp_err *err);

/* Unpack the first `n` bytes of a compressed file. Returns the number of bytes in `ret`, as many as
 * fit; 0 if it cannot be unpacked. */
size_t unpack_head(const unsigned char *head, size_t n, unsigned char *ret, size_t size);

/* The same for an open file, which need not be compressed. It reads as much of the file as its
 * compression needs for the first bytes. */
size_t unpack_head_of(int fd, unsigned char *ret, size_t size);

/* The length of a path without .gz, .xz, .zst. */
size_t unpack_stem(const char *path);

#endif
