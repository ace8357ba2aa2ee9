/* DATA as users name it: archives, directories, foreign files, in any combination. */
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
 * limpet knows, or a directory. A directory is searched for such files, including its
 * sub-directories; each is visited once, even if several links lead to it. If files there cannot be
 * read, lp_dataset_read() returns an error at the end. `importer` names the format of foreign files
 * ("csv"); NULL: detect it. `options` is the options struct of that importer, or NULL for the
 * defaults. Files in a directory are read in the order of their names, so that the files of an
 * observer come in chronological order. */
int lp_dataset_open(const char *const *paths, size_t n_paths, const char *importer,
	const void *options, struct lp_warn *warn, struct lp_dataset **ret, struct lp_err *err);
void lp_dataset_close(struct lp_dataset *ds);

/* Read only data from `from_us` up to `to_us` (0: no beginning, no end). Call it before anything is
 * read. limpet requests this range from remote sources. Without a beginning it requests the two
 * hours before the end; the default end is the time at which the dataset was opened. */
void lp_dataset_limit(struct lp_dataset *ds, int64_t from_us, int64_t to_us);

/* Call `fn` with the fraction of a remote source that was fetched so far, 0 .. 1. */
void lp_dataset_progress(
	struct lp_dataset *ds, void (*tell)(void *ctx, const char *what, double done), void *ctx);

size_t lp_dataset_n_files(const struct lp_dataset *ds);
const char *lp_dataset_path(const struct lp_dataset *ds, size_t file);

/* Called for every batch of every file, and once with `batch` NULL before the first one of each
 * file. A non-zero result stops reading and is returned. */
typedef int (*lp_dataset_fn)(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err);

/* Read everything that `select` (may be NULL) selects. A damaged file is read as far as it is
 * intact, and reading continues with the other files; the first such error is returned at the
 * end. */
int lp_dataset_read(struct lp_dataset *ds, const struct lp_select *select, lp_dataset_fn fn,
	void *ctx, struct lp_err *err);

/* The nominal time between samples: the longest of all files, or 1 s if it is unknown. */
int lp_dataset_interval(struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err);

/* The time from the first to the last sample, over all files that state it before they are read
 * (closed archives do, most foreign files do not); 0, 0 if none does. */
int lp_dataset_span(
	struct lp_dataset *ds, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err);

/* Read tables: lp_dataset_read() into a builder. It reads as many files at a time as OpenMP has
 * threads (OMP_NUM_THREADS). Tables, warnings and errors do not depend on that number.
 * `options->step_us` 0 means lp_dataset_interval(). On -EBADMSG (damage, reported through `warn`)
 * the tables of the intact data are returned all the same.
 */
int lp_dataset_tables(struct lp_dataset *ds, const struct lp_table_options *options,
	struct lp_table ***ret_tables, uint32_t *ret_n, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
