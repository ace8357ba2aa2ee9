/* The queue between the sampling loop, which must never wait, and the disk, which may be full, slow
 * or gone: batches wait in it for a thread that writes them to daily archives.
 */
#ifndef COLLECT_SPOOL_H
#define COLLECT_SPOOL_H

#include "archive/trace_log.h"
#include "collect/journal.h"
#include <limpet/archive.h>

/* The number of batches that may wait for the disk before samples are lost: SPOOL_DEPTH, or as many
 * as fit into SPOOL_BYTES by the size of the last one, but at least two. With thousands of
 * components a slow disk must not fill all memory that the recorder may use. */
#define SPOOL_DEPTH 8
#define SPOOL_BYTES (UINT64_C(32) << 20)
#define SPOOL_PATH_MAX 512

struct spool_config {
	const char *dir;
	const char *name;     /* of the files */
	const char *observer; /* of the components */
	int64_t interval_us;
	uint32_t batch_samples; /* samples per batch, without the carried one */
	int64_t keep_age_us;	/* 0: for ever */
	uint64_t keep_bytes;	/* 0: any number */
	bool patient;		/* wait for the disk, because the ticker can wait */
	const char *meta;	/* further "key=value\n" lines */
	bool anew;		/* never continue an existing file */
	bool logs;		/* there are logs in addition to samples, see spool_log() */
	bool private;		/* only the user may access new files and directories */
	/* Write only this file, which must not exist yet; NULL: write files in `dir`. If there are
	 * too many components for one file, it continues in FILE-2.lpa and so on. */
	const char *path;
	struct lp_warn *warn; /* called from both threads */
	/* Called by the writing thread: the first `size` bytes of the file at `path` will not
	 * change. Files stay unsealed, because the receiver seals them. NULL: files are sealed
	 * here. */
	void (*written)(void *ctx, const char *path, uint64_t size);
	void *written_ctx;
	int64_t sync_us; /* flush the disk at this interval; 0: after every write */
};

struct spool_stats {
	uint64_t samples_written, samples_lost, bytes_written, files;
	uint64_t records_lost;	   /* of logs */
	bool failing;		   /* writing fails at the moment */
	char path[SPOOL_PATH_MAX]; /* of the current file */
};

struct spool;

/* Lock the files with this name in the directory (-EBUSY: another recorder has them) and start the
 * thread. The thread first cleans up files that a killed recorder left behind. */
int spool_open(const struct spool_config *config, struct spool **ret, struct lp_err *err);

/* The batch to fill. */
struct lp_batch *spool_batch(struct spool *s);

/* The log to fill, which is submitted with the batch (config.logs). */
struct trace_log *spool_log(struct spool *s);

/* Submit only the log, if it is large; the batch stays current. 0 or -ENOMEM. */
int spool_submit_log(struct spool *s, int64_t wall_us);

/* The journal for changes of the catalogue that the current batch needs. It is submitted with the
 * batch, or with the next one if the batch is lost. Valid until the next batch or log is
 * submitted. */
struct journal *spool_journal(struct spool *s);

/* Allocate all memory that batches like the current one will need. */
int spool_prime(struct spool *s);

/* Add a remark to the archive, after the samples so far. */
void spool_event(struct spool *s, int64_t wall_us, const char *text);

/* Submit the current batch, if it has samples. A new batch, which carries the last sample, becomes
 * current. If the queue is full, the samples are lost and counted. `new_file`: begin a new file
 * with the next batch. */
int spool_submit(struct spool *s, bool new_file);

void spool_get_stats(struct spool *s, struct spool_stats *ret);

/* Write all waiting data (with one more attempt if that fails), seal the file, stop the thread and
 * free the memory. Accepts NULL. The final statistics go to `*ret_stats` if that is not NULL. */
void spool_close(struct spool *s, struct spool_stats *ret_stats);

#endif
