#include "serve/ingest_chores.h"

#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include "collect/keep.h"
#include "serve/ingest_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chore {
	struct chore *next;
	bool expires;  /* or finishes */
	char *name;    /* series or file */
	char *current; /* of expiring */
};

struct chores {
	struct chores_config config;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct chore *first, *last;
	size_t n;
	bool closing;
};

static void chore_free(struct chore *c)
{
	free(c->name);
	free(c->current);
	free(c);
}

/* "DIR/.SERIES.expired", which contains the time. */
static int expired_name(const char *series, char *buf, size_t size)
{
	return snprintf(buf, size, ".%s.expired", series) < (int)size ? 0 : -ENAMETOOLONG;
}

int64_t chores_expired(int dir, const char *series)
{
	char name[NAME_MAX + 1], text[TIME_TEXT_MAX] = "";
	struct lp_err ignored;
	int64_t us;
	_cleanup_close_ int fd = -1;

	if (expired_name(series, name, sizeof(name)) < 0)
		return INT64_MIN;
	fd = dir_open_file(dir, name, O_RDONLY);
	if (fd < 0 || file_pread_full(fd, text, sizeof(text) - 1, 0) <= 0)
		return INT64_MIN;
	text[strcspn(text, "\n")] = '\0';
	return time_parse(text, &us, &ignored) == 0 ? us : INT64_MIN;
}

/* Remember the time, because a server would otherwise send the missing files again. */
static void expired_keep(const char *path, const char *series, int64_t us)
{
	struct lp_err ignored;
	_cleanup_close_ int dir = dir_open(path, &ignored);
	_cleanup_close_ int fd = -1;
	char name[NAME_MAX + 1], when[TIME_TEXT_MAX], text[TIME_TEXT_MAX + 2];

	if (dir < 0 || expired_name(series, name, sizeof(name)) < 0)
		return;
	snprintf(text, sizeof(text), "%s\n", time_format(us, when));
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0 && file_pwrite_full(fd, text, strlen(text), 0) == 0)
		fdatasync(fd);
}

/* The start of the oldest file of a series; INT64_MAX: none. */
static int64_t oldest(const char *dir, const char *series)
{
	_cleanup_(keep_list_release) struct keep_list l = {0};
	struct lp_err ignored;

	return keep_list_load(dir, series, &l, &ignored) == 0 && l.n ? l.files[0].start_us
								     : INT64_MAX;
}

static void expire(struct chores *c, const struct chore *chore)
{
	const struct chores_config *config = &c->config;
	struct keep_limits limits = {.now_us = clock_us(CLOCK_REALTIME),
		.age_us = config->keep_age_us,
		.bytes = config->keep_bytes};
	struct keep_result result;
	struct lp_err err = {0};
	_cleanup_(keep_list_release) struct keep_list l = {0};
	_cleanup_free_ char *current = NULL;
	int64_t after, gone = INT64_MIN;

	if (asprintf(&current, "%s/%s", config->dir, chore->current) < 0) {
		current = NULL;
		return;
	}
	if (keep_list_load(config->dir, chore->name, &l, &err) < 0)
		return;
	if (keep_expire(config->dir, chore->name, current, &limits, &result, &err) < 0)
		lp_warn_raise(config->warn, "%s", err.text);
	after = oldest(config->dir, chore->name);
	for (size_t i = 0; i < l.n && l.files[i].start_us < after; i++)
		gone = l.files[i].start_us;
	if (gone != INT64_MIN)
		expired_keep(config->dir, chore->name, gone);
}

static void finish(struct chores *c, const struct chore *chore)
{
	_cleanup_free_ char *path = NULL;
	struct lp_err err = {0};

	if (asprintf(&path, "%s/%s", c->config.dir, chore->name) < 0) {
		path = NULL;
		return;
	}
	/* A file that its server still continues is busy, and is tried again later. */
	if (ingest_file_finish(c->config.dir_fd, path, c->config.warn, &err) < 0 &&
		err.code != -EBUSY && err.code != -ENOENT)
		lp_warn_raise(c->config.warn, "%s", err.text);
}

static struct chore *chore_wait(struct chores *c)
{
	struct chore *chore;

	pthread_mutex_lock(&c->mutex);
	while (!c->first && !c->closing)
		pthread_cond_wait(&c->wake, &c->mutex);
	chore = c->closing ? NULL : c->first;
	pthread_mutex_unlock(&c->mutex);
	return chore;
}

/* Remove the first chore, which is done. */
static void chore_pop(struct chores *c)
{
	struct chore *done;

	pthread_mutex_lock(&c->mutex);
	done = c->first;
	c->first = done->next;
	if (!c->first)
		c->last = NULL;
	c->n--;
	pthread_mutex_unlock(&c->mutex);
	chore_free(done);
}

static void *chores_thread(void *arg)
{
	struct chores *c = arg;
	struct sched_param idle = {0};
	const struct chore *chore;

	/* Best effort: a sandbox may forbid it. */
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &idle);
	while ((chore = chore_wait(c))) {
		if (chore->expires)
			expire(c, chore);
		else
			finish(c, chore);
		chore_pop(c);
	}
	return NULL;
}

int chores_open(const struct chores_config *config, struct chores **ret, struct lp_err *err)
{
	struct chores *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	c->config = *config;
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->wake, NULL);
	r = thread_start(&c->thread, chores_thread, c);
	if (r < 0) {
		free(c);
		return lp_err_sys(err, r, "cannot start a thread");
	}
	*ret = c;
	return 0;
}

void chores_close(struct chores *c)
{
	struct sched_param normal = {0};

	if (!c)
		return;
	/* A caller is waiting: on a busy machine an idle thread would never finish. */
	pthread_setschedparam(c->thread, SCHED_OTHER, &normal);
	pthread_mutex_lock(&c->mutex);
	c->closing = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
	pthread_join(c->thread, NULL);
	while (c->first)
		chore_pop(c);
	pthread_mutex_destroy(&c->mutex);
	pthread_cond_destroy(&c->wake);
	free(c);
}

/* Call it with the mutex held. */
static bool is_waiting(const struct chores *c, bool expires, const char *name)
{
	for (const struct chore *chore = c->first; chore; chore = chore->next) {
		if (chore->expires == expires && !strcmp(chore->name, name))
			return true;
	}
	return false;
}

static void chore_add(struct chores *c, bool expires, const char *name, const char *current)
{
	struct chore *chore = calloc(1, sizeof(*chore));

	if (!chore)
		return;
	chore->expires = expires;
	chore->name = strdup(name);
	chore->current = strdup(current);
	pthread_mutex_lock(&c->mutex);
	if (!chore->name || !chore->current || is_waiting(c, expires, name)) {
		pthread_mutex_unlock(&c->mutex);
		chore_free(chore);
		return;
	}
	if (c->last)
		c->last->next = chore;
	else
		c->first = chore;
	c->last = chore;
	c->n++;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
}

void chores_finish(struct chores *c, const char *file)
{
	chore_add(c, false, file, "");
}

void chores_expire(struct chores *c, const char *series, const char *current)
{
	if (c->config.keep_age_us || c->config.keep_bytes)
		chore_add(c, true, series, current);
}

size_t chores_waiting(struct chores *c)
{
	size_t n;

	pthread_mutex_lock(&c->mutex);
	n = c->n;
	pthread_mutex_unlock(&c->mutex);
	return n;
}
