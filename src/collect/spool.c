#include "collect/spool.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "base/time.h"
#include "collect/spool_file.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* If the disk fails, the thread tries again at this interval. */
#define RETRY_SEC 1
#define EVENTS_MAX 8
#define EVENT_TEXT_MAX 200
/* The parts of a path other than directory and name: "/", "-20110509T000005Z.lpa", ".tmp". */
#define FILE_NAME_EXTRA 32

struct event {
	int64_t wall_us;
	char text[EVENT_TEXT_MAX];
};

struct item {
	struct lp_batch *batch;
	struct trace_log *log; /* NULL: no logs */
	int64_t wall_us;       /* for an item without samples */
	struct journal journal;
	struct event events[EVENTS_MAX];
	unsigned n_events, n_events_written;
	bool new_file; /* begin a new file with this batch */
};

struct spool {
	struct spool_config config;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake; /* for the writing thread */
	pthread_cond_t room; /* room in the queue, for a patient sampling thread */
	/* Protected by the mutex: */
	struct item *queue[SPOOL_DEPTH]; /* first .. first + n - 1 are waiting */
	unsigned first, n;
	struct item *unused[SPOOL_DEPTH + 2];
	unsigned n_unused;
	struct spool_stats stats;
	uint64_t lost_unreported; /* samples lost since the last report */
	bool slow_warned;	  /* warned that the disk is too slow */
	bool stopping;
	/* Used by the sampling thread: */
	struct item items[SPOOL_DEPTH + 2];
	struct item *current;
	/* Used by the writing thread: */
	struct lp_catalogue *catalogue; /* the catalogue of the batches that it has received */
	struct spool_file file;
};

static uint32_t batch_fresh(const struct lp_batch *b)
{
	return b->n_samples - (b->carry ? 1 : 0);
}

/* The time at which an item begins. */
static int64_t item_first_us(const struct item *it)
{
	return batch_fresh(it->batch) ? it->batch->wall_us[it->batch->carry ? 1 : 0] : it->wall_us;
}

/* Write one batch, its remarks and its log. */
static int item_write(struct spool *s, struct item *it, struct lp_err *err)
{
	int r = journal_apply(&it->journal, s->catalogue, err);

	if (s->config.path) /* with a path, all days are in one file */
		it->new_file = false;
	it->new_file |= spool_file_crowded(&s->file, s->catalogue);
	if (r == 0)
		r = spool_file_ready(&s->file, item_first_us(it), it->new_file, err);
	if (r < 0)
		return r;
	it->new_file = false;
	if (it->log) /* repeated after a failure: records that were written are no longer in it */
		r = spool_file_write_log(&s->file, it->log, err);
	if (r < 0)
		return r;
	while (it->n_events_written < it->n_events) { /* a retry continues after the last one
						       * written */
		const struct event *e = &it->events[it->n_events_written];

		r = lp_archive_write_event(s->file.archive, e->wall_us, e->text, err);
		if (r < 0)
			return r;
		it->n_events_written++;
	}
	if (!batch_fresh(it->batch))
		return 0;
	return spool_file_write(&s->file, s->catalogue, it->batch, err);
}

/* Note in the archive that samples are missing. */
static void note_lost(struct spool *s, const struct item *it, uint64_t lost)
{
	char text[EVENT_TEXT_MAX];
	struct lp_err ignored = {0};

	snprintf(text, sizeof(text), "kind=lost samples=%" PRIu64, lost);
	lp_archive_write_event(s->file.archive,
		batch_fresh(it->batch) ? it->batch->wall_us[it->batch->n_samples - 1] : it->wall_us,
		text, &ignored);
}

/* Report once that writing fails (or is too slow), and once that it works again. */
static void spool_report(struct spool *s, int r, const struct item *it, const struct lp_err *err)
{
	uint64_t lost = 0;
	bool was_failing, slow = false;

	pthread_mutex_lock(&s->mutex);
	was_failing = s->stats.failing;
	s->stats.failing = r < 0;
	pthread_cond_signal(&s->room);
	if (r == 0) {
		lost = s->lost_unreported;
		s->lost_unreported = 0;
		slow = lost && !was_failing && !s->slow_warned;
		s->slow_warned = lost || (s->slow_warned && s->n > 1);
		s->stats.samples_written += batch_fresh(it->batch);
		s->stats.bytes_written = s->file.bytes_written;
		s->stats.files = s->file.n_files;
		snprintf(s->stats.path, sizeof(s->stats.path), "%s", s->file.path);
	}
	pthread_mutex_unlock(&s->mutex);
	if (r < 0 && !was_failing)
		lp_warn_raise(s->config.warn,
			"%s; sampling continues, and limpet tries to write again", err->text);
	if (r == 0 && was_failing)
		lp_warn_raise(
			s->config.warn, "writing works again; %" PRIu64 " samples were lost", lost);
	if (slow)
		lp_warn_raise(s->config.warn,
			"the disk is too slow to write to: %" PRIu64 " samples were lost", lost);
	if (lost)
		note_lost(s, it, lost);
}

/* Wait for an item. NULL: there are none left and none will come. `*ret_last_try`: this is the last
 * attempt. */
static struct item *queue_wait(struct spool *s, bool *ret_last_try)
{
	struct item *it = NULL;

	pthread_mutex_lock(&s->mutex);
	while (!s->n && !s->stopping)
		pthread_cond_wait(&s->wake, &s->mutex);
	if (s->n)
		it = s->queue[s->first];
	*ret_last_try = s->stopping;
	pthread_mutex_unlock(&s->mutex);
	return it;
}

static void item_count_lost(struct spool *s, struct item *it)
{
	s->stats.samples_lost += batch_fresh(it->batch);
	if (!it->log)
		return;
	s->stats.records_lost += trace_log_records(it->log);
	trace_log_clear(it->log);
}

/* When the queue is empty, free the logs that were needed only because the disk was slow. Two are
 * kept for the next items. */
static void logs_trim(struct spool *s)
{
	for (unsigned i = 0; s->config.logs && i + 2 < s->n_unused; i++)
		trace_log_trim(s->unused[i]->log);
}

/* Remove the first item, which was written or lost. */
static void queue_pop(struct spool *s, bool lost)
{
	struct item *it;

	pthread_mutex_lock(&s->mutex);
	it = s->queue[s->first];
	s->first = (s->first + 1) % SPOOL_DEPTH;
	s->n--;
	if (lost)
		item_count_lost(s, it);
	it->n_events = it->n_events_written = 0;
	it->new_file = false;
	s->unused[s->n_unused++] = it;
	if (!s->n)
		logs_trim(s);
	pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->mutex);
}

/* Wait a little after a failure, unless it is time to stop. */
static void retry_wait(struct spool *s)
{
	struct timespec until = clock_after(CLOCK_MONOTONIC, RETRY_SEC * US_PER_SEC);

	pthread_mutex_lock(&s->mutex);
	if (!s->stopping)
		pthread_cond_timedwait(&s->wake, &s->mutex, &until);
	pthread_mutex_unlock(&s->mutex);
}

static void *spool_thread(void *arg)
{
	struct spool *s = arg;
	struct item *it;
	bool last_try;

	spool_file_tidy(&s->file);
	while ((it = queue_wait(s, &last_try))) {
		struct lp_err err = {0};
		int r = item_write(s, it, &err);

		spool_report(s, r, it, &err);
		if (r == 0 && s->config.written)
			s->config.written(s->config.written_ctx, s->file.path,
				lp_archive_size(s->file.archive));
		if (r == 0 || last_try)
			queue_pop(s, r < 0);
		else
			retry_wait(s);
	}
	spool_file_finish(&s->file);
	return NULL;
}

static int spool_lock(struct spool *s, struct lp_err *err)
{
	if (strlen(s->config.dir) + strlen(s->config.name) + FILE_NAME_EXTRA > SPOOL_PATH_MAX)
		return lp_err_set(err, -ENAMETOOLONG, "the names of files in %.80s... are too long",
			s->config.dir);
	return spool_file_lock(&s->file, err);
}

static void spool_free(struct spool *s)
{
	sealer_close(s->file.sealer);
	for (unsigned i = 0; i < SPOOL_DEPTH + 2; i++) {
		lp_batch_free(s->items[i].batch);
		trace_log_free(s->items[i].log);
		journal_release(&s->items[i].journal);
	}
	lp_catalogue_free(s->catalogue);
	spool_file_release(&s->file);
	pthread_mutex_destroy(&s->mutex);
	pthread_cond_destroy(&s->wake);
	pthread_cond_destroy(&s->room);
	free(s);
}

/* Waiting must not depend on a clock that can be set. */
static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

int spool_open(const struct spool_config *config, struct spool **ret, struct lp_err *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
	s->config = *config;
	s->file.config = &s->config;
	pthread_mutex_init(&s->mutex, NULL);
	cond_init(&s->wake);
	cond_init(&s->room);
	s->catalogue = lp_catalogue_new();
	r = !s->catalogue	 ? lp_err_sys(err, -ENOMEM, "cannot begin to record")
		: s->config.path ? spool_file_ready(&s->file, 0, false, err)
				 : spool_lock(s, err);
	if (r == 0)
		r = sealer_open(s->config.warn, &s->file.sealer, err);
	for (unsigned i = 0; r == 0 && i < SPOOL_DEPTH + 2; i++) {
		s->items[i].batch = lp_batch_new(config->batch_samples + 1);
		s->items[i].log = config->logs ? trace_log_new() : NULL;
		if (!s->items[i].batch || (config->logs && !s->items[i].log))
			r = lp_err_sys(err, -ENOMEM, "cannot begin to record");
		s->unused[s->n_unused++] = &s->items[i];
	}
	if (r == 0) {
		s->current = s->unused[--s->n_unused];
		r = thread_start(&s->thread, spool_thread, s);
		if (r < 0)
			lp_err_sys(err, r, "cannot start the writing thread");
	}
	if (r < 0) {
		spool_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct lp_batch *spool_batch(struct spool *s)
{
	return s->current->batch;
}

struct trace_log *spool_log(struct spool *s)
{
	return s->current->log;
}

struct journal *spool_journal(struct spool *s)
{
	return &s->current->journal;
}

/* The number of batches like the current one that may wait. */
static unsigned queue_depth(const struct spool *s)
{
	const struct lp_batch *b = s->current->batch;
	uint64_t bytes = 1;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		bytes += (uint64_t)b->kinds[i].n_components * b->cap_samples *
			(b->kinds[i].n_columns * sizeof(int64_t) + 1);
	if (SPOOL_BYTES / bytes >= SPOOL_DEPTH)
		return SPOOL_DEPTH;
	return SPOOL_BYTES / bytes > 2 ? (unsigned)(SPOOL_BYTES / bytes) : 2;
}

int spool_prime(struct spool *s)
{
	unsigned depth = queue_depth(s);
	int r = 0;

	pthread_mutex_lock(&s->mutex);
	/* The last ones are used first, so those before them stay unused. */
	for (unsigned i = 0; r == 0 && i < s->n_unused && s->n + i <= depth; i++)
		r = lp_batch_carry(s->unused[s->n_unused - 1 - i]->batch, s->current->batch);
	pthread_mutex_unlock(&s->mutex);
	return r;
}

void spool_event(struct spool *s, int64_t wall_us, const char *text)
{
	struct item *it = s->current;

	if (it->n_events == EVENTS_MAX)
		return; /* more than one per second: the first ones are enough */
	it->events[it->n_events].wall_us = wall_us;
	snprintf(it->events[it->n_events++].text, EVENT_TEXT_MAX, "%s", text);
}

/* If the queue is full, the samples are lost; the rest of the item moves to the next one. */
static void item_lose(struct spool *s, struct item *it, struct item *next)
{
	s->lost_unreported += batch_fresh(it->batch);
	item_count_lost(s, it);
	next->new_file = it->new_file;
	next->journal = it->journal;
	it->journal = (struct journal){0};
	next->n_events = it->n_events;
	memcpy(next->events, it->events, it->n_events * sizeof(it->events[0]));
	it->n_events = 0;
	it->new_file = false;
	s->unused[s->n_unused++] = it;
}

/* An unused item for the next batch. There is always one, because there are more items than can
 * wait. */
static struct item *item_next(struct spool *s, bool *ret_full)
{
	unsigned depth = queue_depth(s);
	struct item *next;

	pthread_mutex_lock(&s->mutex);
	while (s->config.patient && s->n >= depth && !s->stats.failing)
		pthread_cond_wait(&s->room, &s->mutex);
	next = s->unused[--s->n_unused];
	*ret_full = s->n >= depth;
	pthread_mutex_unlock(&s->mutex);
	return next;
}

int spool_submit_log(struct spool *s, int64_t wall_us)
{
	struct item *done = s->current, *next;
	struct lp_batch *batch = done->batch;
	bool full;

	if (!done->log || !trace_log_records(done->log))
		return 0;
	next = item_next(s, &full);
	done->batch = next->batch;
	next->batch = batch;
	lp_batch_clear(done->batch);
	done->wall_us = wall_us;
	pthread_mutex_lock(&s->mutex);
	if (full) {
		item_lose(s, done, next);
	} else {
		s->queue[(s->first + s->n++) % SPOOL_DEPTH] = done;
		pthread_cond_signal(&s->wake);
	}
	s->current = next;
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int spool_submit(struct spool *s, bool new_file)
{
	struct item *done = s->current, *next;
	bool full;
	int r;

	if (!done->batch->n_samples || !batch_fresh(done->batch)) {
		done->new_file |= new_file; /* all earlier data is already submitted */
		return 0;
	}
	next = item_next(s, &full);
	r = lp_batch_carry(next->batch, done->batch);
	pthread_mutex_lock(&s->mutex);
	if (full || r < 0) {
		item_lose(s, done, next);
	} else {
		s->queue[(s->first + s->n++) % SPOOL_DEPTH] = done;
	}
	next->new_file |= new_file;
	s->current = next;
	pthread_mutex_unlock(&s->mutex);
	pthread_cond_signal(&s->wake); /* after the other thread can take the mutex */
	return r;
}

void spool_get_stats(struct spool *s, struct spool_stats *ret)
{
	pthread_mutex_lock(&s->mutex);
	*ret = s->stats;
	pthread_mutex_unlock(&s->mutex);
}

void spool_close(struct spool *s, struct spool_stats *ret_stats)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->mutex);
	s->stopping = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	s->stats.bytes_written = s->file.bytes_written;
	if (ret_stats)
		*ret_stats = s->stats;
	spool_free(s);
}
