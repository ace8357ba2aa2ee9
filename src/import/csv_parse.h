/* Splits a CSV file into rows of fields: RFC 4180 quoting, CRLF, a byte order mark, comment lines
 * that begin with '#', blank lines. It reads through one buffer and never seeks, so memory is
 * bounded for files of any size.
 */
#ifndef IMPORT_CSV_PARSE_H
#define IMPORT_CSV_PARSE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_ROW_MAX ((size_t)1 << 20) /* bytes; a longer row is bad */
#define CSV_FIELDS_MAX 16384	      /* in a row */

struct csv_field {
	char *text; /* in the reader's buffer, without quotes and outer blanks; not
		     * NUL-terminated */
	size_t len;
	bool doubled; /* has doubled quotes; only set while the row is being split */
};

struct csv_reader {
	int fd;
	char separator;
	bool declared; /* the first line of the file names the separator */

	/* The current row. */
	struct csv_field *fields;
	size_t n_fields;
	uint64_t line;	   /* the number of its first line, from 1 */
	const char *fault; /* why the row is bad, else NULL */
	uint64_t nul;	   /* if there is a fault: the offset of a NUL byte plus 1, else 0 */

	/* Bytes read and not yet used are buf[start..end). */
	char *buf;
	size_t cap, start, end, cap_fields;
	uint64_t offset;    /* of buf[0] in the file */
	uint64_t next_line; /* the number of the line at `start` */
	bool eof, has_nul;
	bool skip; /* the line at `start` is bad, and is skipped */

	struct lp_err damage; /* of a compressed file: why its data ends early */
};

/* Open a file, unpack it if it is compressed, skip its byte order mark and refuse UTF-16. */
int csv_reader_open(struct csv_reader *r, const char *path, struct lp_err *err);
void csv_reader_close(struct csv_reader *r);

/* Choose the separator that the first line uses most: comma, semicolon or tab. If the file names
 * one ("sep=;"), use that. */
int csv_reader_detect(struct csv_reader *r, struct lp_err *err);

/* Read the next row: 1, 0 at the end (see `damage`), or a negative errno if the file cannot be
 * read. If the row is bad, `fault` says why and the next call continues after its first line. The
 * fields are valid until the next call. */
int csv_reader_next(struct csv_reader *r, struct lp_err *err);

#endif
