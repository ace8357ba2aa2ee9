/* The inside of a dataset, for the ways to read one. */
#ifndef IMPORT_DATASET_H
#define IMPORT_DATASET_H

#include "base/hash.h"
#include "import/dataset_clocks.h"
#include "import/dataset_remote.h"
#include "import/importer.h"
#include "model/hosts.h"
#include "model/meaning.h"
#include "model/table_builder.h"
#include "model/table_pieces.h"
#include <limpet/dataset.h>

struct data_file {
	char *path;
	const struct importer *importer; /* NULL: an archive */
	int64_t interval_us;		 /* -1: not asked yet */
	int64_t first_us, last_us;	 /* once asked; 0: unknown */
	char *worse;			 /* what an archive says of metrics; NULL: nothing */
	char *observer, *addresses;	 /* the same, of an archive; NULL: unknown */
	bool remote;			 /* `path` is an address */
	struct remote_copy copy;	 /* of a remote source */
	struct data_clock clock;
	int64_t read_first_us, read_last_us; /* what was read of it; 0: nothing, or not known */
};

/* A time whose samples are not looked at. */
struct data_aside {
	int64_t first_us, end_us;
	uint64_t n_values;
	uint32_t n_observers;
	char *observer; /* one of them */
	bool whole;	/* it is all that there is of them */
	size_t note;	/* the one about it */
};

/* An observer whose clock is ahead of those of the others. */
struct data_offset {
	char *observer;
	int64_t us, step_us; /* by so much, give or take the step */
};

struct lp_dataset {
	struct data_file *files;
	size_t n, cap;
	const struct importer *forced;
	const void *options;
	int64_t from_us, to_us; /* what will be read, see lp_dataset_limit() */
	int64_t opened_us;
	struct remote_progress progress;
	struct lp_warn *warn;
	struct strmap directories; /* those searched already, by device and inode */
	struct lp_err unread;	   /* the first thing in a directory that could not be read */
	size_t n_skipped; /* files that are no data, found in directories or among others */
	char *skipped;	  /* the first of them; NULL: there is none */
	char **failures;  /* all that could not be read, or not whole; each once */
	size_t n_failures, cap_failures;
	bool looked; /* it was read once: what follows is known */
	struct data_aside *aside;
	size_t n_aside, cap_aside;
	struct data_offset *offsets;
	size_t n_offsets, cap_offsets;
	char **notes; /* what a verdict, or whoever else reads it, has to say about it */
	size_t n_notes, cap_notes;
};

/* Have remote sources fetched before they are read by several threads. What goes wrong is reported
 * by whoever reads them. 0 or -ENOMEM. */
int dataset_fetch(struct lp_dataset *ds, struct lp_err *err);

/* Keep a note. 0 or -ENOMEM. */
int dataset_tell(struct lp_dataset *ds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Everything was read into the builder, the first time. Where clocks were set meanwhile, put the
 * samples where they belong, and keep a note of it. 0 or -ENOMEM. */
int dataset_settle_clocks(struct lp_dataset *ds, struct lp_table_builder *b);

/* Everything was read into the builder. The first time, find observers whose clocks are off by a
 * constant time, and keep a note of each; every time, move their samples. 0 or -ENOMEM. */
int dataset_align(struct lp_dataset *ds, struct lp_table_builder *b);

/* Everything was read into the builder. Find what is far from all other data, keep a note of each,
 * and take out what was found now or before. 0 or -ENOMEM. */
int dataset_set_aside(struct lp_dataset *ds, struct lp_table_builder *b);

/* Read one file to its end, reporting what is wrong through `warn`. `*ret_stop` is what `fn`
 * returned, if it wanted to stop. */
int data_file_read(const struct lp_dataset *ds, const struct data_file *f,
	const struct lp_select *select, struct lp_warn *warn, lp_dataset_fn fn, void *ctx,
	int *ret_stop, struct lp_err *err);

/* Take note of how reading a file ended (`r`, described in `here`): the first failure is kept in
 * `first`, the others are warnings. False: reading cannot go on. */
bool dataset_note(struct lp_dataset *ds, const struct lp_err *here, int r, struct lp_err *first);

/* What an archive says of its metrics: that line of its meta. */
#define DATASET_WORSE "worse"

/* Which side of the peers is worse in metrics, as archives tell it. Release `meanings` also after a
 * failure. */
int dataset_meanings(struct lp_dataset *ds, struct meanings *meanings, struct lp_err *err);

/* The addresses of observers, as their archives tell them. Release `hosts` also after a failure. */
int dataset_hosts(struct lp_dataset *ds, struct hosts *hosts, struct lp_err *err);

/* Does an archive, of those that were asked already, say that it is of this observer and of that
 * time (0: no beginning, no end)? */
bool dataset_has_observer(
	const struct lp_dataset *ds, const char *observer, int64_t from_us, int64_t to_us);

/* Open file number `i` if it is an archive; `*ret` is NULL if it is none or cannot be opened
 * (whoever reads the tables reports it). 0 or the reason. */
int dataset_open_archive(struct lp_dataset *ds, size_t i, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err);

/* Open one archive after the other (and nothing foreign), with `select` and `warn` (both may be
 * NULL), for `fn` to look into. What cannot be opened is passed over: whoever reads the tables
 * reports it. Where `fn` returns -EBADMSG (damage) the others still follow, and the first such
 * error is returned at the end; any other value that is not 0 stops everything and is returned. */
int dataset_archives(struct lp_dataset *ds, const struct lp_select *select, struct lp_warn *warn,
	int (*fn)(void *ctx, struct lp_source *source, struct lp_err *err), void *ctx,
	struct lp_err *err);

/* At most so many builders take the same data. */
#define DATASET_BUILDERS_MAX 4

/* Read everything into builders of the same options but for their steps, as lp_dataset_tables()
 * does it. On -EBADMSG (damage) what is good was read. */
int dataset_build(struct lp_dataset *ds, struct lp_table_builder *const *builders, uint32_t n,
	struct lp_err *err);

/* Read the tables that lp_dataset_tables() would give, and give them to `fn`, piece by piece where
 * they would be refused as a whole. On -EBADMSG (damage) what is good was given. */
int dataset_pieces(struct lp_dataset *ds, const struct lp_table_options *options, table_piece_fn fn,
	void *ctx, struct lp_err *err);

/* All files were read: what the whole thing returns. */
int dataset_end(const struct lp_dataset *ds, struct lp_err *first, struct lp_err *err);

#endif
