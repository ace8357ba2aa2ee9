/* Between the sampling loop, which must never wait, and the disk, which may be full, slow or gone:
 * a queue of batches and a thread that writes them to daily archives.
 */
#ifndef COLLECT_SPOOL_H
#define COLLECT_SPOOL_H

#include "archive/trace_log.h"
#include "collect/journal.h"
#include <limpet/archive.h>

/* Batches that may wait for the disk before samples are lost: that many, or as many of the size of
 * the last one as these bytes hold, and two at least. Thousands of components must not fill the
 * memory that the recorder may have only because the disk is slow. */
#define SPOOL_DEPTH 8
#define SPOOL_BYTES (UINT64_C(32) << 20)
#define SPOOL_PATH_MAX 512

struct spool_config {
	const char *dir;
	const char *name;     /* of the files */
	const char *observer; /* of the components */
	int64_t interval_us;
	uint32_t batch_samples; /* samples a batch holds besides the carried one */
	int64_t keep_age_us;	/* 0: for ever */
	uint64_t keep_bytes;	/* 0: any number */
	bool patient;		/* wait for the disk: nothing is lost by waiting */
	const char *meta;	/* further "key=value\n" lines */
	bool anew;		/* never go on with a file that is there */
	bool logs;		/* besides samples there are logs, spool_log() */
	bool private;		/* files and directories that are made are the user's alone */
	/* Write this file, which must not be there yet, and none in `dir`; NULL: those in `dir`.
	 * Where it would name too many components it goes on as FILE-2.lpa and so on. */
	const char *path;
	struct lp_warn *warn; /* called from both threads */
	/* Called by the writing thread: so much of the file at `path` is as it will stay. Files
	 * are then left unsealed: whoever receives them does that. NULL: nobody does. */
	void (*written)(void *ctx, const char *path, uint64_t size);
	void *written_ctx;
	int64_t sync_us; /* flush the disk this often, 0: after every write */
};

struct spool_stats {
	uint64_t samples_written, samples_lost, bytes_written, files;
	uint64_t records_lost;	   /* of logs */
	bool failing;		   /* nothing can be written now */
	char path[SPOOL_PATH_MAX]; /* of the file at hand */
};

struct spool;

/* Lock the directory's files of this name (-EBUSY: another recorder has them) and start the thread.
 * Files that a killed recorder left are put in order first, by that thread. */
int spool_open(const struct spool_config *config, struct spool **ret, struct lp_err *err);

/* The batch to fill. */
struct lp_batch *spool_batch(struct spool *s);

/* The log to fill, which is handed over with the batch (config.logs). */
struct trace_log *spool_log(struct spool *s);

/* Hand over the log alone, the batch stays current: where there is much to log. 0 or -ENOMEM. */
int spool_submit_log(struct spool *s, int64_t wall_us);

/* Where changes of the catalogue are written down that the batch to fill needs. They are handed
 * over with it, or with the next one if it is lost. Good until the next batch or log is handed
 * over. */
struct journal *spool_journal(struct spool *s);

/* Make all memory that batches like the current one will need. */
int spool_prime(struct spool *s);

/* Note a remark for the archive, behind the samples taken so far. */
void spool_event(struct spool *s, int64_t wall_us, const char *text);

/* Hand the current batch over, if it has samples; a new one, carrying its last sample, becomes
 * current. Where the queue is full its samples are lost, and counted. `new_file` begins a new file
 * with the batch after this one. */
int spool_submit(struct spool *s, bool new_file);

void spool_get_stats(struct spool *s, struct spool_stats *ret);

/* Write what waits (trying once more where that fails), seal the file, stop the thread, free.
 * Accepts NULL. The statistics at the end go to `*ret_stats` if that is not NULL. */
void spool_close(struct spool *s, struct spool_stats *ret_stats);

#endif
