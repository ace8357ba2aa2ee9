/* The writing thread's file: daily, continued after a crash, opened again if it vanished. */
#ifndef COLLECT_SPOOL_FILE_H
#define COLLECT_SPOOL_FILE_H

#include "collect/sealer.h"
#include "collect/spool.h"
#include "collect/spool_lock.h"
#include <sys/types.h>

struct spool_file {
	const struct spool_config *config;
	struct sealer *sealer;		   /* not owned; NULL: files are sealed immediately */
	struct spool_lock lock;		   /* on the files of this name in the directory */
	struct lp_archive_writer *archive; /* NULL: none is open */
	char path[SPOOL_PATH_MAX];
	dev_t dev; /* identifies the file */
	ino_t ino;
	bool resumed;		  /* it has already looked for a file to continue */
	bool sync_warned;	  /* warned that the disk does not flush */
	bool expire_warned;	  /* warned that an old file cannot be removed */
	bool waiting_warned;	  /* warned that old files stay because the clock is not trusted */
	uint64_t bytes_written;	  /* over all files */
	uint64_t bytes_before;	  /* of these: before the current file */
	uint64_t bytes_elsewhere; /* size of older files that are kept, when last counted */
	uint64_t n_files;
	int64_t synced_us; /* last flush of the disk, by the steady clock; 0: never */
	unsigned n_parts;  /* finished parts of config->path, each with its own name */
};

/* Lock the files of this name in the directory, except for config->path. -EBUSY: another recorder
 * has them. */
int spool_file_lock(struct spool_file *f, struct lp_err *err);

/* Seal files of earlier days that a killed recorder left, and remove leftovers of sealing. */
void spool_file_tidy(struct spool_file *f);

/* Make sure that a file for data from `first_us` on is open and locked: the current one, or a new
 * one named after that time if `new_file` is set or the file vanished. */
int spool_file_ready(struct spool_file *f, int64_t first_us, bool new_file, struct lp_err *err);

/* Does the file name many more components than there are in the catalogue, or does it have very
 * many frames, so that a new one should begin? Otherwise the cost of writing and reading a file
 * would grow with all components that came and went in a day. */
bool spool_file_crowded(const struct spool_file *f, const struct lp_catalogue *c);

/* Append the records of a log. */
int spool_file_write_log(struct spool_file *f, struct trace_log *log, struct lp_err *err);

/* Append a batch and make it survive power loss. On failure it is not in the file, and the call may
 * be repeated. */
int spool_file_write(struct spool_file *f, const struct lp_catalogue *c,
	const struct lp_batch *batch, struct lp_err *err);

/* Close and seal the current file. */
void spool_file_finish(struct spool_file *f);

void spool_file_release(struct spool_file *f);

#endif
