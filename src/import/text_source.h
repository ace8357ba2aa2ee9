/* A source that reads the lines of a text file, for tools that print a report per interval. A
 * format parses one line after the other, begins samples and adds rows of values. This file has the
 * common part: reading, batches, error reports.
 */
#ifndef IMPORT_TEXT_SOURCE_H
#define IMPORT_TEXT_SOURCE_H

#include <limpet/source.h>

struct text_source;

struct text_format {
	size_t state_size; /* zeroed when the file is opened */
	/* Parse a line, without its line end; it may be modified. Negative errno: reading cannot
	 * continue. Report an error in this line alone with text_fault(). */
	int (*line)(void *state, struct text_source *t, char *line, struct lp_err *err);
	/* Called at the end of the file, until it returns 0 or a negative errno; each call may
	 * begin one sample. May be NULL. */
	int (*end)(void *state, struct text_source *t, struct lp_err *err);
	void (*release)(void *state); /* may be NULL */
	const char *nothing;	      /* the error for a file without samples */
};

/* Open a file, compressed or not. `fd` -1: open `path`; else read from it, and close it. If the
 * file ends early, `damage` says why (unpack_open()). */
int text_source_open(const struct text_format *format, const char *path, int fd,
	const struct lp_err *damage, struct lp_warn *warn, struct lp_source **ret,
	struct lp_err *err);

/* Begin a sample. Samples must come in the order of time; others are ignored. */
int text_sample(struct text_source *t, int64_t wall_us, struct lp_err *err);

/* Add the values of a component, one per column of the schema, to the current sample. The schema
 * must live as long as the source. */
int text_put(struct text_source *t, const struct lp_schema *schema, const char *observer,
	const char *name, const int64_t *values, struct lp_err *err);

/* Report an error in this line. Only the first few are reported individually. */
void text_fault(struct text_source *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Split a line at blanks, in place. Returns the number of words, at most `max`. */
size_t text_words(char *line, char **words, size_t max);

#endif
