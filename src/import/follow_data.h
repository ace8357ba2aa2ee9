/* Following DATA that grows: all archives of a directory, as recorders, the collector or rsync
 * write them there.
 *
 *     while (serving) {
 *             while ((r = follow_data_next(d, INT64_MAX, &item, err)) > 0)
 *                     take(&item);
 *             wait a moment;
 *     }
 *
 * The directory may be empty, or missing, at first. Files may appear, be sealed (another file takes
 * its place), renamed, and removed. Within a round files are read in the order of their names, so
 * that an observer's files come in the order of time. A limit on time (`until_us`) makes it a
 * replay: files of many observers advance together. Foreign files (limpet/dataset.h) are part of a
 * replay, but are read once. Only one thread at a time may use it.
 */
#ifndef IMPORT_FOLLOW_DATA_H
#define IMPORT_FOLLOW_DATA_H

#include "archive/follow.h"
#include <limpet/dataset.h>

struct follow_data;

/* Corrections for wrong clocks. Without one, times are taken as they were recorded. */
struct follow_clocks {
	/* The right times of the samples of an observer's archive, as it arrives. 0 or -ENOMEM. */
	int (*correct)(
		void *ctx, const char *observer, const struct lp_batch *batch, int64_t *ret_walls);
	/* An archive that grows holds back data up to this time. 0 or -ENOMEM. */
	int (*waits)(void *ctx, const char *observer, int64_t newest_us);
	/* How far the times in an observer's archives are ahead of the right ones; "": the maximum
	 * for files of several observers. Such files are read ahead by that much. */
	int64_t (*ahead_us)(void *ctx, const char *observer);
	void *ctx;
};

/* Follow a directory. `options` and everything it points to must outlive it. */
int follow_data_open(const char *dir, const struct follow_options *options,
	struct follow_data **ret, struct lp_err *err);

/* Follow the files of a dataset, which must outlive it; limpet looks for no others. */
int follow_data_open_dataset(struct lp_dataset *ds, const struct follow_options *options,
	struct follow_data **ret, struct lp_err *err);

/* Correct the times in archives of single observers from now on; those in files of several are left
 * to the caller. */
void follow_data_correct(struct follow_data *d, const struct follow_clocks *clocks);

void follow_data_close(struct follow_data *d);

/* The next item. Returns 1, or 0 at the end of a round: there is no more data yet, or none that
 * begins up to `until_us`. A problem of a single file is reported once through `warn`, and the
 * others continue.
 */
int follow_data_next(
	struct follow_data *d, int64_t until_us, struct follow_item *ret_item, struct lp_err *err);

/* After a round: the time at which the next item that was held back begins; INT64_MAX: there is
 * none. */
int64_t follow_data_held_us(const struct follow_data *d);

/* The number of files whose next held-back item begins within `span_us` of a time. */
size_t follow_data_n_near(const struct follow_data *d, int64_t us, int64_t span_us);

/* The number of files with such items. */
size_t follow_data_n_held(const struct follow_data *d);

/* When any archive in a directory was last written; 0: there are none. */
int64_t follow_data_newest_us(const char *dir);

/* Search for files now instead of at the next interval. */
void follow_data_look(struct follow_data *d);

/* The longest time between samples according to the files, for callers that need it before reading;
 * 0: unknown. */
int64_t follow_data_interval_us(const struct follow_data *d);

/* The description of the file that the last item came from; NULL: none, or no such key. */
const char *follow_data_meta(struct follow_data *d, const char *key);

/* The number of known files. */
size_t follow_data_n_files(const struct follow_data *d);

#endif
