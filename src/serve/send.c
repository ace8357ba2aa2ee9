#include "serve/send.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include "collect/sealer.h"
#include "serve/send_files.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Waits after failures double from WAIT_FIRST_US to WAIT_MOST_US. Each is a random value from its
 * upper half, so that not all servers return at once. A sender that was refused waits longer. */
#define WAIT_FIRST_US (US_PER_SEC / 2)
#define WAIT_MOST_US (30 * US_PER_SEC)
#define WAIT_FORBIDDEN_US (20 * US_PER_SEC)
/* A finished file is declared within this time: the files of all servers end at once. */
#define FINISH_SPREAD_US (300 * US_PER_SEC)
/* A file may be refused this often before the sender gives it up. */
#define CONFLICTS_MAX 5

struct sender {
	struct send_config config;
	char *observer; /* escaped */
	struct send_http *http;
	struct sealer *sealer;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	/* Protected by the mutex: */
	char current[PATH_MAX]; /* the growing file; "": none */
	uint64_t current_size;
	bool poked, closing, ever; /* ever: data has been written */
	/* Used by the thread only: */
	struct send_files files;
	struct send_piece piece;
	struct strbuf answer;
	bool known; /* the state of the collector is known */
	int64_t expired_us;
	int64_t wait_us; /* the next wait after a failure */
	bool told_away;	 /* warned that nothing can be sent */
	bool refused;	 /* the collector does not take data; that it answers proves nothing */
	struct send_stats stats;
};

static int64_t jitter(int64_t span_us)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)clock_ns(CLOCK_MONOTONIC);
	return span_us / 2 + (int64_t)((uint64_t)span_us / 2 * random / UINT32_MAX);
}

void send_written(void *sender, const char *path, uint64_t size)
{
	struct sender *s = sender;

	pthread_mutex_lock(&s->mutex);
	snprintf(s->current, sizeof(s->current), "%s", path);
	s->current_size = size;
	s->poked = s->ever = true;
	pthread_mutex_unlock(&s->mutex);
	pthread_cond_signal(&s->wake);
}

/* Report once that nothing can be sent, and once that it works again. */
static void tell(struct sender *s, enum send_result result, const struct lp_err *err)
{
	if (result == SEND_OK && s->told_away)
		lp_warn_raise(
			s->config.warn, "the collector at %s answers again", s->config.target.url);
	if (result == SEND_OK)
		s->wait_us = 0;
	if (result != SEND_OK && !s->told_away)
		lp_warn_raise(s->config.warn,
			"cannot send to %s: %s; recording continues, and missing data is sent "
			"later",
			s->config.target.url, err->text);
	s->told_away = result != SEND_OK;
}

/* After a failed request: how long to wait before the next one. */
static void back_off(struct sender *s, enum send_result result)
{
	int64_t next = s->wait_us ? s->wait_us * 2 : WAIT_FIRST_US;

	/* The first time, the file may already contain a new token. */
	if (result == SEND_FORBIDDEN && s->wait_us)
		next = WAIT_FORBIDDEN_US;
	s->wait_us = next < WAIT_MOST_US ? next : WAIT_MOST_US;
	s->known = false;
}

/* The file that an entry of the collector's list names. */
static struct send_file *file_named(struct sender *s, const char *name)
{
	for (size_t i = 0; i < s->files.n; i++) {
		if (!strcmp(path_basename(s->files.items[i].path), name))
			return &s->files.items[i];
	}
	return NULL;
}

static void give_up(struct sender *s, struct send_file *f, const struct lp_err *err)
{
	f->given_up = true;
	lp_warn_raise(s->config.warn, "%s", err->text);
}

/* The collector has the whole file. */
static void completed(struct sender *s, struct send_file *f)
{
	if (!f->complete)
		sealer_add(s->sealer, f->path);
	f->complete = true;
}

/* Handle one entry of the collector's list. */
static void take_entry(struct sender *s, const json_t *entry, const char *current)
{
	const char *name = json_string_value(json_object_get(entry, "file"));
	const char *sum = json_string_value(json_object_get(entry, "sum"));
	const json_t *frames = json_object_get(entry, "frames");
	struct send_file *f = name ? file_named(s, name) : NULL;
	struct lp_err err = {0};
	int r;

	if (!f || f->given_up || f->complete)
		return;
	if (json_is_true(json_object_get(entry, "complete")) && strcmp(f->path, current) != 0) {
		completed(s, f);
		return;
	}
	if (!sum || !json_is_integer(frames) || json_integer_value(frames) < 0) {
		f->placed = false; /* the collector is working on it */
		return;
	}
	r = send_file_place(
		f, (uint64_t)json_integer_value(frames), (uint32_t)strtoul(sum, NULL, 16), &err);
	if (r < 0)
		give_up(s, f, &err);
}

/* Files that the collector does not have start at their beginning. */
static void place_rest(struct sender *s)
{
	struct lp_err err = {0};

	for (size_t i = 0; i < s->files.n; i++) {
		struct send_file *f = &s->files.items[i];

		if (f->start_us <= s->expired_us)
			f->complete = true; /* it was there, and was removed */
		if (!f->placed && !f->given_up && !f->complete &&
			send_file_place(f, 0, 0, &err) < 0)
			give_up(s, f, &err);
	}
}

static void take_list(struct sender *s, const json_t *list, const char *current)
{
	const char *expired = json_string_value(json_object_get(list, "expired"));
	const json_t *files = json_object_get(list, "files");
	struct lp_err ignored;
	size_t i;

	for (i = 0; i < s->files.n; i++)
		s->files.items[i].placed = false;
	s->expired_us = INT64_MIN;
	if (expired && time_parse(expired, &s->expired_us, &ignored) < 0)
		s->expired_us = INT64_MIN;
	for (i = 0; i < json_array_size(files); i++)
		take_entry(s, json_array_get(files, i), current);
	place_rest(s);
}

/* Get the collector's list, and scan the local directory. */
static bool learn(struct sender *s, const char *current)
{
	struct lp_err err = {0};
	enum send_result result;
	json_t *list = NULL;

	if (send_files_scan(&s->files, s->config.dir, s->config.name, s->config.since_us, &err) <
		0) {
		lp_warn_raise(s->config.warn, "%s", err.text);
		back_off(s, SEND_UNREACHABLE);
		return false;
	}
	result = send_http_get(s->http, s->observer, &s->answer, &err);
	if (result == SEND_OK) {
		list = json_loadb(s->answer.text ? s->answer.text : "", s->answer.len, 0, NULL);
		if (!json_is_array(json_object_get(list, "files"))) {
			lp_err_set(&err, -EPROTO, "the server there is not a limpet collector");
			result = SEND_REFUSED;
		}
	}
	if (result != SEND_OK || !s->refused)
		tell(s, result, &err);
	if (result == SEND_OK)
		take_list(s, list, current);
	else
		back_off(s, result);
	json_decref(list);
	s->known = result == SEND_OK;
	return s->known;
}

/* Send a piece of a file, or its end. */
static enum send_result put(
	struct sender *s, const struct send_file *f, bool last, struct lp_err *err)
{
	_cleanup_free_ char *file = send_http_escape(path_basename(f->path));
	_cleanup_free_ char *path = NULL;
	enum send_result result;

	if (!file ||
		asprintf(&path, "%s/%s?from=%" PRIu64 "&sum=%08" PRIx32 "%s", s->observer, file,
			f->n_frames, f->sum, last ? "&last=1" : "") < 0) {
		path = NULL;
		lp_err_sys(err, -ENOMEM, "cannot send");
		return SEND_UNREACHABLE;
	}
	s->stats.requests++;
	result = send_http_put(s->http, path, last ? NULL : s->piece.bytes.text,
		last ? 0 : s->piece.bytes.len, &s->answer, err);
	if (result == SEND_OK) {
		s->refused = false;
		tell(s, result, err);
	}
	return result;
}

/* Decide what to do with a file after a failed request. */
static void put_failed(
	struct sender *s, struct send_file *f, enum send_result result, const struct lp_err *err)
{
	struct lp_err why = *err;

	if (result == SEND_UNREACHABLE || result == SEND_FORBIDDEN) {
		s->refused = true;
		tell(s, result, err);
		back_off(s, result);
		return;
	}
	s->known = false; /* get its list again */
	if (++f->conflicts < CONFLICTS_MAX)
		return;
	lp_err_prefix(&why, "the collector refuses %s, which is no longer sent", f->path);
	give_up(s, f, &why);
}

/* Send new frames of a file, up to `limit`. 1: frames were sent, and there may be more; 0: nothing
 * is left; -1: failure. */
static int send_some(struct sender *s, struct send_file *f, uint64_t limit)
{
	struct lp_err err = {0};
	enum send_result result;

	if (send_file_gather(f, limit, &s->piece, &err) < 0) {
		give_up(s, f, &err);
		return 0;
	}
	if (!s->piece.n_frames)
		return 0;
	result = put(s, f, false, &err);
	if (result != SEND_OK) {
		put_failed(s, f, result, &err);
		return -1;
	}
	f->conflicts = 0;
	s->stats.frames += s->piece.n_frames;
	s->stats.bytes += s->piece.bytes.len;
	send_file_advance(f, &s->piece);
	return f->offset < limit;
}

/* A finished file has been sent: declare its end, after a delay. */
static int send_end(struct sender *s, struct send_file *f, bool closing)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC);
	struct lp_err err = {0};
	enum send_result result;

	if (!f->finish_us)
		f->finish_us = now_us + jitter(FINISH_SPREAD_US) - FINISH_SPREAD_US / 2;
	if (!f->n_frames || (!closing && now_us < f->finish_us))
		return 0;
	result = put(s, f, true, &err);
	if (result != SEND_OK) {
		put_failed(s, f, result, &err);
		return -1;
	}
	completed(s, f);
	return 1;
}

/* Send one request for a file that no longer grows. 1: done; 0: nothing to do; -1: failure. */
static int send_old(struct sender *s, const char *current, bool closing)
{
	for (size_t i = 0; i < s->files.n; i++) {
		struct send_file *f = &s->files.items[i];
		int r;

		if (f->complete || f->given_up || !f->placed || !strcmp(f->path, current))
			continue;
		r = send_some(s, f, UINT64_MAX);
		if (r == 0 && !f->given_up)
			r = send_end(s, f, closing);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Send one request for the growing file. */
static int send_current(struct sender *s, const char *current, uint64_t size)
{
	struct send_file *f = *current ? send_files_find(&s->files, current) : NULL;

	if (*current && !f) {
		s->known = false; /* it is new */
		return 1;
	}
	return f && f->placed && !f->complete && !f->given_up ? send_some(s, f, size) : 0;
}

/* Do the pending work, new data first. 0: nothing is left; -1: failure. */
static int work(struct sender *s, const char *current, uint64_t size, bool closing)
{
	int r;

	if (!s->known && !learn(s, current))
		return -1;
	r = send_current(s, current, size);
	return r == 0 ? send_old(s, current, closing) : r;
}

/* Wait for new data, or until the pause after a failure is over. True: it is time to end. */
static bool wait_for_work(struct sender *s, int done, char *current, uint64_t *ret_size)
{
	int64_t span_us = done < 0 && s->wait_us ? jitter(s->wait_us) : 60 * US_PER_SEC;
	struct timespec until = clock_after(CLOCK_MONOTONIC, span_us);
	bool failed = done < 0, end;
	int r = 0;

	pthread_mutex_lock(&s->mutex);
	while (done <= 0 && !s->closing && (failed ? s->wait_us > 0 : !s->poked) && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&s->wake, &s->mutex, &until);
	s->poked = false;
	end = s->closing;
	memcpy(current, s->current, PATH_MAX);
	*ret_size = s->current_size;
	pthread_mutex_unlock(&s->mutex);
	return end;
}

/* Send the remaining data within a limited time; an unreachable collector is tried once. */
static void send_rest(struct sender *s)
{
	int64_t until_us = clock_us(CLOCK_MONOTONIC) + SEND_LAST_SEC * US_PER_SEC;
	int done = 1;

	s->known = false; /* the last file has been closed */
	while (done > 0 && clock_us(CLOCK_MONOTONIC) < until_us)
		done = work(s, "", 0, true);
	for (size_t i = 0; i < s->files.n; i++)
		s->stats.behind |= !s->files.items[i].complete;
	s->stats.behind |= done < 0;
}

static void *sender_thread(void *arg)
{
	struct sender *s = arg;
	char current[PATH_MAX];
	uint64_t size;
	int done = 0;

	while (!wait_for_work(s, done, current, &size))
		done = work(s, current, size, false);
	if (s->ever) /* otherwise the files may belong to another recorder */
		send_rest(s);
	return NULL;
}

static void sender_free(struct sender *s)
{
	if (!s)
		return;
	sealer_close(s->sealer);
	send_http_close(s->http);
	send_files_release(&s->files);
	strbuf_release(&s->piece.bytes);
	strbuf_release(&s->answer);
	pthread_mutex_destroy(&s->mutex);
	pthread_cond_destroy(&s->wake);
	free(s->observer);
	free(s);
}

int send_open(const struct send_config *config, struct sender **ret, struct lp_err *err)
{
	struct sender *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot send");
	s->config = *config;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	s->observer = send_http_escape(config->observer);
	r = s->observer ? send_http_open(&config->target, &s->http, config->warn, err)
			: lp_err_sys(err, -ENOMEM, "cannot send");
	if (r == 0)
		r = sealer_open(config->warn, &s->sealer, err);
	if (r == 0) {
		r = thread_start(&s->thread, sender_thread, s);
		if (r < 0)
			lp_err_sys(err, r, "cannot start the sending thread");
	}
	if (r < 0) {
		sender_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void send_close(struct sender *s, struct send_stats *ret_stats)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->mutex);
	s->closing = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	if (ret_stats)
		*ret_stats = s->stats;
	sender_free(s);
}
