/* The inside of a dataset, for the code that reads one. */
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
	int64_t interval_us;		 /* -1: not checked yet */
	int64_t first_us, last_us;	 /* known after the first question; 0: unknown */
	char *worse; /* the meaning of metrics according to an archive; NULL: not given */
	char *observer, *addresses; /* the same, of an archive; NULL: unknown */
	bool remote;		    /* `path` is an address */
	struct remote_copy copy;    /* of a remote source */
	struct data_clock clock;
	int64_t read_first_us,
		read_last_us; /* the span that was read of it; 0: nothing, or not known */
};

/* A time whose samples are ignored. */
struct data_aside {
	int64_t first_us, end_us;
	uint64_t n_values;
	uint32_t n_observers;
	char *observer; /* one of them */
	bool whole;	/* it is all data of these observers */
	size_t note;	/* the one about it */
};

/* An observer whose clock is ahead of those of the others. */
struct data_offset {
	char *observer;
	int64_t us, step_us; /* by this much, plus or minus the step */
};

struct lp_dataset {
	struct data_file *files;
	size_t n, cap;
	const struct importer *forced;
	const void *options;
	int64_t from_us, to_us; /* the range that will be read, see lp_dataset_limit() */
	int64_t opened_us;
	struct remote_progress progress;
	struct lp_warn *warn;
	struct strmap directories; /* directories that were searched, by device and inode */
	struct lp_err unread;	   /* the first entry of a directory that could not be read */
	size_t n_skipped; /* files that are not data, found in directories or among others */
	char *skipped;	  /* the first of them; NULL: there is none */
	char **failures;  /* files that could not be read, or only in part; each once */
	size_t n_failures, cap_failures;
	bool looked; /* it was read once: the following is known */
	struct data_aside *aside;
	size_t n_aside, cap_aside;
	struct data_offset *offsets;
	size_t n_offsets, cap_offsets;
	char **notes; /* notes about it, for a verdict or another reader */
	size_t n_notes, cap_notes;
	struct team *team; /* that reads it together (dataset_team.h); NULL: we are alone */
};

/* Fetch remote sources before several threads read them. Errors are reported by the reader. 0 or
 * -ENOMEM. */
int dataset_fetch(struct lp_dataset *ds, struct lp_err *err);

/* Ask the files of this process for their descriptions, if they were not. 0 or -ENOMEM. */
int dataset_ask(struct lp_dataset *ds, struct lp_err *err);

/* Keep a note. 0 or -ENOMEM. */
int dataset_tell(struct lp_dataset *ds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Called when everything was read into the builder for the first time. If clocks were set during
 * the recording, move the samples to their right times, and keep a note. 0 or -ENOMEM. */
int dataset_settle_clocks(struct lp_dataset *ds, struct lp_table_builder *b);

/* Called when everything was read into the builder. The first time, find observers whose clocks are
 * off by a constant time, and keep a note of each; every time, move their samples. 0 or -ENOMEM. */
int dataset_align(struct lp_dataset *ds, struct lp_table_builder *b);

/* Called when everything was read into the builder. Find samples that are far from all other data,
 * keep a note of each, and remove what was found now or before. 0 or -ENOMEM. */
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

/* Which side of the peers is worse in metrics, according to the archives. Release `meanings` also
 * after a failure. */
int dataset_meanings(struct lp_dataset *ds, struct meanings *meanings, struct lp_err *err);

/* The addresses of observers, according to their archives. Release `hosts` also after a failure. */
int dataset_hosts(struct lp_dataset *ds, struct hosts *hosts, struct lp_err *err);

/* Is one of the archives that were already asked from this observer and that time (0: no beginning,
 * no end)? */
bool dataset_has_observer(
	const struct lp_dataset *ds, const char *observer, int64_t from_us, int64_t to_us);

/* Open file number `i` if it is an archive; `*ret` is NULL if it is not, or cannot be opened (the
 * reader of the tables reports it). 0 or the reason. */
int dataset_open_archive(struct lp_dataset *ds, size_t i, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err);

/* Open one archive after the other (and no foreign files), with `select` and `warn` (both may be
 * NULL), and call `fn`. Archives that cannot be opened are skipped: the reader of the tables
 * reports them. If `fn` returns -EBADMSG (damage) the others still follow, and the first such error
 * is returned at the end; any other non-zero value stops everything and is returned. */
int dataset_archives(struct lp_dataset *ds, const struct lp_select *select, struct lp_warn *warn,
	int (*fn)(void *ctx, struct lp_source *source, struct lp_err *err), void *ctx,
	struct lp_err *err);

/* At most this many builders take the same data. */
#define DATASET_BUILDERS_MAX 4

/* Read everything into builders whose options differ only in their steps, like lp_dataset_tables().
 * On -EBADMSG (damage) the intact data was read. */
int dataset_build(struct lp_dataset *ds, struct lp_table_builder *const *builders, uint32_t n,
	struct lp_err *err);

/* Read the tables of lp_dataset_tables() and pass them to `fn`, in pieces if they would be refused
 * as a whole. On -EBADMSG (damage) the intact data was passed. */
int dataset_pieces(struct lp_dataset *ds, const struct lp_table_options *options, table_piece_fn fn,
	void *ctx, struct lp_err *err);

/* Called when all files were read: the result of the whole. */
int dataset_end(const struct lp_dataset *ds, struct lp_err *first, struct lp_err *err);

#endif
