/* The queue between the sampling loop, which must never wait, and the disk, which may be full, slow
 * or gone: batches wait in it for a thread that writes them to daily archives.
 */
#ifndef COLLECT_SPOOL_H
#define COLLECT_SPOOL_H

#include "archive/trace_log.h"
#include "collect/journal.h"
#include <limpet/archive.h>

/* Batches that may wait for the disk before samples are lost: this many, or as many of the size of
 * the last one as fit into these bytes, but at least two. With thousands of components a slow disk
 * must not fill all memory that the recorder may use. */
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
	bool patient;		/* wait for the disk: the ticker can wait */
	const char *meta;	/* further "key=value\n" lines */
	bool anew;		/* never continue an existing file */
	bool logs;		/* besides samples there are logs, spool_log() */
	bool private;		/* new files and directories are accessible to the user only */
	/* Write this file, which must not exist yet, and none in `dir`; NULL: write files in `dir`.
	 * If it would name too many components, it continues as FILE-2.lpa and so on. */
	const char *path;
	struct lp_warn *warn; /* called from both threads */
	/* Called by the writing thread: the first `size` bytes of the file at `path` will not
	 * change. Files are then left unsealed, because their receiver seals them. NULL: they are
	 * sealed here. */
	void (*written)(void *ctx, const char *path, uint64_t size);
	void *written_ctx;
	int64_t sync_us; /* flush the disk this often, 0: after every write */
};

struct spool_stats {
	uint64_t samples_written, samples_lost, bytes_written, files;
	uint64_t records_lost;	   /* of logs */
	bool failing;		   /* nothing can be written now */
	char path[SPOOL_PATH_MAX]; /* of the current file */
};

struct spool;

/* Lock the directory's files of this name (-EBUSY: another recorder has them) and start the thread.
 * That thread first tidies up files that a killed recorder left. */
int spool_open(const struct spool_config *config, struct spool **ret, struct lp_err *err);

/* The batch to fill. */
struct lp_batch *spool_batch(struct spool *s);

/* The log to fill, which is handed over with the batch (config.logs). */
struct trace_log *spool_log(struct spool *s);

/* Hand over the log alone, while the batch stays current, if there is much to log. 0 or -ENOMEM. */
int spool_submit_log(struct spool *s, int64_t wall_us);

/* The journal for changes of the catalogue that the current batch needs. It is handed over with the
 * batch, or with the next one if the batch is lost. Valid until the next batch or log is handed
 * over. */
struct journal *spool_journal(struct spool *s);

/* Allocate all memory that batches like the current one will need. */
int spool_prime(struct spool *s);

/* Note a remark for the archive, after the samples taken so far. */
void spool_event(struct spool *s, int64_t wall_us, const char *text);

/* Hand the current batch over, if it has samples; a new one, carrying its last sample, becomes
 * current. If the queue is full, its samples are lost and counted. `new_file` begins a new file
 * with the batch after this one. */
int spool_submit(struct spool *s, bool new_file);

void spool_get_stats(struct spool *s, struct spool_stats *ret);

/* Write everything that waits (trying once more if that fails), seal the file, stop the thread,
 * free. Accepts NULL. The final statistics go to `*ret_stats` if that is not NULL. */
void spool_close(struct spool *s, struct spool_stats *ret_stats);

#endif
