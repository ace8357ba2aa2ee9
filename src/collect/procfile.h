/* A /proc file that stays open: one read into a fixed buffer per sample.
 *
 * /proc returns its longer files in pieces of a page, so reading continues to the end of the file.
 * The buffer grows if the file is larger than ever before, which is rare.
 */
#ifndef COLLECT_PROCFILE_H
#define COLLECT_PROCFILE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where /proc and /sys are. A recorded tree may have several moments, with one directory each. The
 * recorder then sets `dir` to the next one and increments `generation`, and files are opened again.
 */
struct proc_root {
	const char *dir; /* "" for the running system */
	unsigned generation;
};

struct procfile {
	int fd; /* -1: not open */
	const struct proc_root *root;
	unsigned generation; /* of `root` when the file was opened */
	const char *path;    /* "/proc/diskstats"; not owned */
	char *text;	     /* NUL-terminated after procfile_read() */
	size_t len, cap;
};

/* Open `path` under `root` (both must outlive `f`) and allocate the buffer. */
int procfile_open(
	struct procfile *f, const struct proc_root *root, const char *path, struct lp_err *err);

/* Read the file again from the start. */
int procfile_read(struct procfile *f, struct lp_err *err);

/* The same for a file whose records have many lines each, such as job_stats. The kernel does not
 * divide a record, so that any piece of the file may be short, and not only the last one. */
int procfile_read_records(struct procfile *f, struct lp_err *err);

void procfile_close(struct procfile *f);

/* Scanners for /proc text; all stop at the end of the line. */

/* Skip blanks and read a decimal number; false if there is none on this line. Numbers beyond
 * UINT64_MAX saturate. */
bool scan_u64(const char **p, uint64_t *ret);

/* Skip blanks and take the word up to the next blank; returns its start and length. */
bool scan_word(const char **p, const char **ret_word, size_t *ret_len);

/* Move to the start of the next line; false at the end of the text. */
bool scan_line(const char **p);

#endif
