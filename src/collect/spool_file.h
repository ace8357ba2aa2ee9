/* The writing thread's file: daily, resumed after a crash, opened again when it vanished. */
#ifndef COLLECT_SPOOL_FILE_H
#define COLLECT_SPOOL_FILE_H

#include "collect/sealer.h"
#include "collect/spool.h"
#include "collect/spool_lock.h"
#include <sys/types.h>

struct spool_file {
	const struct spool_config *config;
	struct sealer *sealer;		   /* not owned; NULL: files are sealed at once */
	struct spool_lock lock;		   /* on the files of this name in the directory */
	struct lp_archive_writer *archive; /* NULL: none is open */
	char path[SPOOL_PATH_MAX];
	dev_t dev; /* which file that is */
	ino_t ino;
	bool resumed;		  /* looked for a file to continue already */
	bool sync_told;		  /* that the disk does not flush */
	bool expire_told;	  /* that an old file cannot be removed */
	bool waiting_told;	  /* that old files stay because the clock is not believed */
	uint64_t bytes_written;	  /* over all files */
	uint64_t bytes_before;	  /* of them: before the file at hand */
	uint64_t bytes_elsewhere; /* of older files kept, as last seen */
	uint64_t n_files;
	int64_t synced_us; /* when the disk was flushed, by the steady clock; 0: never */
	unsigned n_parts;  /* that are finished: of config->path each has a name */
};

/* Have the files of this name in the directory for ourselves, config->path aside. -EBUSY: another
 * recorder has them. */
int spool_file_lock(struct spool_file *f, struct lp_err *err);

/* Seal what a killed recorder left of earlier days, remove what it left of sealing. */
void spool_file_tidy(struct spool_file *f);

/* Have a file open for what is about `first_us` and later: the one at hand, or with `new_file` (or
 * where it vanished) a new one, named by that time; and the lock on the directory's files. */
int spool_file_ready(struct spool_file *f, int64_t first_us, bool new_file, struct lp_err *err);

/* Does the file name many more components than there are in the catalogue, or has it very many
 * frames, so that it is time for a new one? Without that, what it takes to write (and to read) a
 * file would grow with all that came and went in a day. */
bool spool_file_crowded(const struct spool_file *f, const struct lp_catalogue *c);

/* Append the records of a log. */
int spool_file_write_log(struct spool_file *f, struct trace_log *log, struct lp_err *err);

/* Append a batch and make it survive power loss. On failure it is not in the file, and the call may
 * be repeated. */
int spool_file_write(struct spool_file *f, const struct lp_catalogue *c,
	const struct lp_batch *batch, struct lp_err *err);

/* Close and seal the file at hand. */
void spool_file_finish(struct spool_file *f);

void spool_file_release(struct spool_file *f);

#endif
