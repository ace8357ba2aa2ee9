/* DATA as users name it: archives, directories, foreign files, in any mixture. */
#ifndef LIMPET_DATASET_H
#define LIMPET_DATASET_H

#include <limpet/table.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct lp_dataset;

/* Find the data. A path that begins with the scheme of a remote source
 * ("prometheus+http://host:9090") is that source. Otherwise each path is a file of a format that
 * limpet knows, or a directory. A directory is searched for such files with its sub-directories,
 * each once, however many links lead to it. Files there that cannot be read are an error at the end
 * of lp_dataset_read(). `importer` names the format of foreign files ("csv") if it is not to be
 * guessed, else NULL; `options` is that importer's options struct, or NULL for the defaults. Within
 * a directory files are read in the order of their names, so that an observer's files come in the
 * order of time. */
int lp_dataset_open(const char *const *paths, size_t n_paths, const char *importer,
	const void *options, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err);
void lp_dataset_close(struct lp_dataset *ds);

/* Limit what will be read to data from `from_us` up to `to_us` (0: no beginning, no end). Remote
 * sources are asked for this range; call it before anything is read. Without a beginning they are
 * asked for the two hours before the end, and the end is by default the time at which the dataset
 * was opened. */
void lp_dataset_limit(struct lp_dataset *ds, int64_t from_us, int64_t to_us);

/* Have `fn` called with the part of a remote source that was fetched so far, 0 .. 1. */
void lp_dataset_progress(
	struct lp_dataset *ds, void (*tell)(void *ctx, const char *what, double done), void *ctx);

size_t lp_dataset_n_files(const struct lp_dataset *ds);
const char *lp_dataset_path(const struct lp_dataset *ds, size_t file);

/* Is called for every batch of every file. `batch` is NULL once for each file, before its first.
 * Non-zero stops everything and is returned. */
typedef int (*lp_dataset_fn)(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err);

/* Read everything that `select` (may be NULL) wants. A damaged file is read as far as it is good
 * and the others still follow; the first such error is returned at the end. */
int lp_dataset_read(struct lp_dataset *ds, const struct lp_select *select, lp_dataset_fn fn,
	void *ctx, struct lp_err *err);

/* The nominal time between samples: the longest of all files', 1 s if none knows. */
int lp_dataset_interval(struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err);

/* The time from the first to the last sample, over all files that know it before they are read
 * (archives that were closed do, most foreign files do not); 0, 0 if none does. */
int lp_dataset_span(
	struct lp_dataset *ds, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err);

/* Read tables: lp_dataset_read() into a builder, with as many files at a time as OpenMP has threads
 * (OMP_NUM_THREADS). Tables, warnings and errors do not depend on that number. `options->step_us` 0
 * means lp_dataset_interval(). On -EBADMSG (damage, reported through `warn`) the tables of the
 * intact data are returned all the same.
 */
int lp_dataset_tables(struct lp_dataset *ds, const struct lp_table_options *options,
	struct lp_table ***ret_tables, uint32_t *ret_n, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
