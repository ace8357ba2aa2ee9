/* The internals of a dataset, for code that reads one. */
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

struct team;

struct data_file {
	char *path;
	const struct importer *importer; /* NULL: an archive */
	int64_t interval_us;		 /* -1: not known yet */
	int64_t first_us, last_us;	 /* known after file_ask(); 0: unknown */
	char *worse; /* the meaning of metrics according to an archive; NULL: not given */
	char *observer, *addresses; /* from an archive; NULL: unknown */
	bool remote;		    /* `path` is an address */
	struct remote_copy copy;    /* of a remote source */
	struct data_clock clock;
	int64_t read_first_us,
		read_last_us; /* the time range of the data that was read; 0: no data, or unknown */
};

/* A time range in which samples are ignored. */
struct data_aside {
	int64_t first_us, end_us;
	uint64_t n_values;
	uint32_t n_observers;
	char *observer; /* one of them */
	bool whole;	/* it covers all data of these observers */
	size_t note;	/* index of the note about it */
};

/* An observer with a clock that is ahead of those of the others. */
struct data_offset {
	char *observer;
	int64_t us, step_us; /* the difference, plus or minus the step */
};

struct lp_dataset {
	struct data_file *files;
	size_t n, cap;
	const struct importer *forced;
	const void *options;
	int64_t from_us, to_us; /* the time range to read, see lp_dataset_limit() */
	int64_t opened_us;
	struct remote_progress progress;
	struct lp_warn *warn;
	struct strmap directories; /* directories that were searched, by device and inode */
	struct lp_err unread;	   /* the first entry of a directory that could not be read */
	size_t n_skipped; /* files that are not data, in directories or among named files */
	char *skipped;	  /* the first of them; NULL: none */
	char **failures;  /* files that could not be read, or only in part; each is listed once */
	size_t n_failures, cap_failures;
	bool looked; /* it was read once, so the following is known */
	struct data_aside *aside;
	size_t n_aside, cap_aside;
	struct data_offset *offsets;
	size_t n_offsets, cap_offsets;
	char **notes; /* notes about the data, for a verdict or another reader */
	size_t n_notes, cap_notes;
	struct team *team; /* the processes that read together (dataset_team.h); NULL: this one is
			    * alone */
};

/* Fetch remote sources before several threads read them. The reader reports errors. 0 or
 * -ENOMEM. */
int dataset_fetch(struct lp_dataset *ds, struct lp_err *err);

/* Get the descriptions of the files of this process, unless they are known. 0 or -ENOMEM. */
int dataset_ask(struct lp_dataset *ds, struct lp_err *err);

/* Keep a note. 0 or -ENOMEM. */
int dataset_tell(struct lp_dataset *ds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Call this when everything was read into the builder for the first time. If clocks were set during
 * the recording, move the samples to their right times, and keep a note. 0 or -ENOMEM. */
int dataset_settle_clocks(struct lp_dataset *ds, struct lp_table_builder *b);

/* Call this when everything was read into the builder. The first time, find observers with clocks
 * that are off by a constant time, and keep a note about each. Every time, move their samples. 0 or
 * -ENOMEM. */
int dataset_align(struct lp_dataset *ds, struct lp_table_builder *b);

/* Call this when everything was read into the builder. Find samples that are far from all other
 * data, keep a note about each, and remove those that were found now or earlier. 0 or -ENOMEM. */
int dataset_set_aside(struct lp_dataset *ds, struct lp_table_builder *b);

/* Read one file to its end, reporting problems through `warn`. `*ret_stop` is the result of `fn`,
 * if it stopped reading. */
int data_file_read(const struct lp_dataset *ds, const struct data_file *f,
	const struct lp_select *select, struct lp_warn *warn, lp_dataset_fn fn, void *ctx,
	int *ret_stop, struct lp_err *err);

/* Remember that a file could not be read, or only in part; each text once, because files may be
 * read more than once. 0 or -ENOMEM. */
int dataset_remember(struct lp_dataset *ds, const struct lp_err *here);

/* Note how reading a file ended (`r`, described in `here`): the first failure is kept in `first`,
 * the others are warnings. False: reading cannot continue. */
bool dataset_note(struct lp_dataset *ds, const struct lp_err *here, int r, struct lp_err *first);

/* The key in an archive's meta for the meaning of its metrics. */
#define DATASET_WORSE "worse"

/* Which side of the peers is worse in metrics, according to the archives. Release `meanings` even
 * after a failure. */
int dataset_meanings(struct lp_dataset *ds, struct meanings *meanings, struct lp_err *err);

/* The addresses of observers, according to their archives. Release `hosts` even after a failure. */
int dataset_hosts(struct lp_dataset *ds, struct hosts *hosts, struct lp_err *err);

/* Does one of the known archives come from this observer and time range (0: no beginning, no
 * end)? */
bool dataset_has_observer(
	const struct lp_dataset *ds, const char *observer, int64_t from_us, int64_t to_us);

/* Open file number `i` if it is an archive. `*ret` is NULL if it is not an archive, or cannot be
 * opened (the reader of the tables reports that). */
int dataset_open_archive(struct lp_dataset *ds, size_t i, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err);

/* Open all archives, one after the other, with `select` and `warn` (both may be NULL), and call
 * `fn`; foreign files are skipped. Archives that cannot be opened are skipped: the reader of the
 * tables reports them. If `fn` returns -EBADMSG (damage), it continues with the others, and returns
 * the first such error at the end. Any other non-zero value stops and is returned. */
int dataset_archives(struct lp_dataset *ds, const struct lp_select *select, struct lp_warn *warn,
	int (*fn)(void *ctx, struct lp_source *source, struct lp_err *err), void *ctx,
	struct lp_err *err);

/* At most this many builders take the same data. */
#define DATASET_BUILDERS_MAX 4

/* Read everything into builders with options that differ only in their steps, like
 * lp_dataset_tables(). On -EBADMSG (damage) the intact data was read. */
int dataset_build(struct lp_dataset *ds, struct lp_table_builder *const *builders, uint32_t n,
	struct lp_err *err);

/* Read the tables of lp_dataset_tables() and pass them to `fn`, in pieces if they are too large as
 * a whole. On -EBADMSG (damage) the intact data was passed. */
int dataset_pieces(struct lp_dataset *ds, const struct lp_table_options *options, table_piece_fn fn,
	void *ctx, struct lp_err *err);

/* The overall result after all files were read. */
int dataset_end(const struct lp_dataset *ds, struct lp_err *first, struct lp_err *err);

#endif
