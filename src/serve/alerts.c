#include "serve/alerts.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "base/time.h"
#include "serve/alerts_body.h"
#include "serve/alerts_send.h"
#include "serve/db.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MANAGER_PATH "/api/v2/alerts"
/* Open incidents are sent to Alertmanager at the first interval, and are valid for the second
 * one. */
#define REFRESH_US (60 * US_PER_SEC)
#define BELIEVED_US (15 * 60 * US_PER_SEC)
#define WAIT_US (US_PER_SEC / 2)
#define PAUSE_MAX_US (300 * US_PER_SEC)
#define GIVE_UP_US (7 * US_PER_DAY)
#define INCIDENTS_AT_ONCE 500

struct progress_of {
	uint64_t sent, failed;
	bool told; /* its failure was reported */
	int64_t refreshed_us;
};

struct alerts {
	struct alerts_config config;
	struct incidents *store;
	struct lp_warn *warn;
	struct progress_of *progress; /* [target]; the mutex protects the numbers */
	struct strmap muted;	      /* open incidents that were muted at the last check */
	uint64_t seed;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool started, stop, poked;
};

DEFINE_CLEANUP(struct alerts *, alerts_stop);

/* An entry of the queue. */
struct entry {
	int64_t id, incident, added_us, due_us, attempts;
	char *change;
	json_t *body; /* the incident at that time */
};

static void entry_release(struct entry *e)
{
	free(e->change);
	json_decref(e->body);
}

static bool wanted(const struct alert_target *t, const json_t *incident)
{
	const char *level = json_string_value(json_object_get(incident, "level"));

	return !t->critical || (level && !strcmp(level, "critical"));
}

static int queue_put(struct alerts *a, const struct alert_target *t, const char *change,
	const json_t *incident, int64_t now_us)
{
	_cleanup_free_ char *text = json_dumps(incident, JSON_COMPACT | JSON_REAL_PRECISION(12));

	if (!text)
		return -ENOMEM;
	return db_run(incidents_db(a->store), NULL,
		"INSERT INTO queue (target, incident, change, body, added_us, due_us, attempts, "
		"error)"
		" VALUES (?, ?, ?, ?, ?, ?, 0, '')",
		"tittii", t->name, (int64_t)json_integer_value(json_object_get(incident, "id")),
		change, text, now_us, now_us);
}

static void wake(struct alerts *a)
{
	pthread_mutex_lock(&a->mutex);
	a->poked = true;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->mutex);
}

void alerts_changed(struct alerts *a, enum incident_change change, const json_t *incident)
{
	int64_t now_us = clock_us(CLOCK_REALTIME);

	if (change == INCIDENT_SAID || incident_is_muted(incident, now_us))
		return;
	for (size_t i = 0; i < a->config.n; i++) {
		if (wanted(&a->config.targets[i], incident))
			queue_put(a, &a->config.targets[i], incident_change_name(change), incident,
				now_us);
	}
	wake(a);
}

/* The labels that Alertmanager last got for an incident; NULL: none. */
static json_t *sent_labels(struct alerts *a, const struct alert_target *t, int64_t incident)
{
	sqlite3_stmt *stmt = NULL;
	json_t *labels = NULL;

	incidents_lock(a->store);
	if (db_query(incidents_db(a->store), &stmt, NULL,
		    "SELECT labels FROM sent WHERE target = ? AND incident = ?", "ti", t->name,
		    incident) == 0 &&
		db_step(stmt, NULL) > 0)
		labels = json_loads(db_text(stmt, 0), 0, NULL);
	sqlite3_finalize(stmt);
	incidents_unlock(a->store);
	return labels;
}

/* Remember the labels; NULL: the alert is over. */
static void sent_note(
	struct alerts *a, const struct alert_target *t, int64_t incident, const json_t *labels)
{
	_cleanup_free_ char *text = labels ? json_dumps(labels, JSON_COMPACT) : NULL;

	incidents_lock(a->store);
	if (text)
		db_run(incidents_db(a->store), NULL,
			"INSERT OR REPLACE INTO sent (target, incident, labels) VALUES (?, ?, ?)",
			"tit", t->name, incident, text);
	else
		db_run(incidents_db(a->store), NULL,
			"DELETE FROM sent WHERE target = ? AND incident = ?", "ti", t->name,
			incident);
	incidents_unlock(a->store);
}

/* Send an incident to Alertmanager. If its labels changed it is another alert there, and the old
 * one is over. */
static int manager_send(struct alerts *a, const struct alert_target *t, const json_t *incident,
	bool over, struct lp_err *err)
{
	int64_t now_us = clock_us(CLOCK_REALTIME);
	int64_t id = json_integer_value(json_object_get(incident, "id"));
	json_t *labels = alert_labels(incident), *before = sent_labels(a, t, id);
	json_t *list = json_array();
	int r;

	if (before && !json_equal(before, labels))
		json_array_append_new(list, alert_manager_over(before, now_us));
	json_array_append_new(list,
		alert_manager(
			incident, labels, a->config.page, over ? now_us : now_us + BELIEVED_US));
	r = alert_post(t, MANAGER_PATH, list, err);
	if (r == 0)
		sent_note(a, t, id, over ? NULL : labels);
	json_decref(list);
	json_decref(before);
	json_decref(labels);
	return r;
}

static int deliver(
	struct alerts *a, const struct alert_target *t, const struct entry *e, struct lp_err *err)
{
	json_t *body;
	int r;

	if (t->kind == ALERT_ALERTMANAGER)
		return manager_send(a, t, e->body, !strcmp(e->change, "ended"), err);
	body = alert_webhook(e->body, e->change, a->config.page, e->added_us);
	if (!body)
		return lp_err_sys(err, -ENOMEM, "cannot send an alert");
	r = t->kind == ALERT_WEBHOOK ? alert_post(t, "", body, err) : alert_run(t, body, err);
	json_decref(body);
	return r;
}

/* The first entry in the queue of a target. 1 if it is due. */
static int entry_take(struct alerts *a, const struct alert_target *t, struct entry *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r;

	incidents_lock(a->store);
	r = db_query(incidents_db(a->store), &stmt, NULL,
		"SELECT id, incident, change, body, added_us, due_us, attempts FROM queue"
		" WHERE target = ? ORDER BY id LIMIT 1",
		"t", t->name);
	if (r == 0)
		r = db_step(stmt, NULL);
	if (r > 0)
		*ret = (struct entry){.id = sqlite3_column_int64(stmt, 0),
			.incident = sqlite3_column_int64(stmt, 1),
			.change = strdup(db_text(stmt, 2)),
			.body = json_loads(db_text(stmt, 3), 0, NULL),
			.added_us = sqlite3_column_int64(stmt, 4),
			.due_us = sqlite3_column_int64(stmt, 5),
			.attempts = sqlite3_column_int64(stmt, 6)};
	sqlite3_finalize(stmt);
	incidents_unlock(a->store);
	if (r > 0 && (!ret->change || !ret->body || ret->due_us > clock_us(CLOCK_REALTIME))) {
		entry_release(ret);
		return 0;
	}
	return r;
}

/* 1 s, 2 s, 4 s, up to 5 minutes, plus or minus a half. */
static int64_t pause_us(struct alerts *a, int64_t attempts)
{
	int64_t us = attempts < 9 ? US_PER_SEC << attempts : PAUSE_MAX_US;

	a->seed = a->seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	us = us < PAUSE_MAX_US ? us : PAUSE_MAX_US;
	return us / 2 + (int64_t)((double)us * (double)(a->seed >> 40) / (double)(1 << 24));
}

static void entry_end(struct alerts *a, const struct entry *e, const struct lp_err *failure)
{
	int64_t now_us = clock_us(CLOCK_REALTIME);

	incidents_lock(a->store);
	if (!failure || now_us - e->added_us > GIVE_UP_US)
		db_run(incidents_db(a->store), NULL, "DELETE FROM queue WHERE id = ?", "i", e->id);
	else
		db_run(incidents_db(a->store), NULL,
			"UPDATE queue SET attempts = attempts + 1, due_us = ?, error = ? WHERE id "
			"= ?",
			"iti", now_us + pause_us(a, e->attempts), failure->text, e->id);
	incidents_unlock(a->store);
}

/* Count a result, and report if a target begins to fail or recovers. */
static void progress_note(struct alerts *a, size_t target, const struct lp_err *failure)
{
	struct progress_of *p = &a->progress[target];
	const char *name = a->config.targets[target].name;

	pthread_mutex_lock(&a->mutex);
	p->sent += !failure;
	p->failed += failure != NULL;
	pthread_mutex_unlock(&a->mutex);
	if (failure && !p->told)
		lp_warn_raise(a->warn, "alerts to '%s' fail, and are tried again: %s", name,
			failure->text);
	else if (!failure && p->told)
		lp_warn_raise(a->warn, "alerts to '%s' go through again", name);
	p->told = failure != NULL;
}

static bool stopping(struct alerts *a)
{
	bool stop;

	pthread_mutex_lock(&a->mutex);
	stop = a->stop;
	pthread_mutex_unlock(&a->mutex);
	return stop;
}

static void target_work(struct alerts *a, size_t target)
{
	const struct alert_target *t = &a->config.targets[target];
	struct entry e = {0};

	while (!stopping(a) && entry_take(a, t, &e) > 0) {
		struct lp_err err = {0};
		int r = deliver(a, t, &e, &err);

		entry_end(a, &e, r < 0 ? &err : NULL);
		progress_note(a, target, r < 0 ? &err : NULL);
		entry_release(&e);
		if (r < 0)
			return;
	}
}

static json_t *open_incidents(struct alerts *a)
{
	const struct incidents_query q = {.state = "open", .limit = INCIDENTS_AT_ONCE};
	json_t *all = NULL;

	return incidents_list(a->store, &q, &all, NULL) == 0 ? all : NULL;
}

/* Send open incidents again; muted ones are reported as over. Failures are reported through the
 * queue. */
static void manager_refresh(struct alerts *a, size_t target)
{
	const struct alert_target *t = &a->config.targets[target];
	int64_t now_us = clock_us(CLOCK_MONOTONIC);
	json_t *all, *incident;
	size_t i;

	if (t->kind != ALERT_ALERTMANAGER || now_us - a->progress[target].refreshed_us < REFRESH_US)
		return;
	a->progress[target].refreshed_us = now_us;
	all = open_incidents(a);
	json_array_foreach(json_object_get(all, "incidents"), i, incident)
	{
		bool muted = incident_is_muted(incident, clock_us(CLOCK_REALTIME));
		json_t *before =
			sent_labels(a, t, json_integer_value(json_object_get(incident, "id")));
		bool known = before != NULL;

		json_decref(before);
		/* An incident that was never sent is still in the queue. */
		if (known && wanted(t, incident) && manager_send(a, t, incident, muted, NULL) < 0)
			break;
	}
	json_decref(all);
}

/* If a mute ended before its incident, send the incident again. */
static void mutes_look(struct alerts *a)
{
	json_t *all = open_incidents(a), *incident;
	int64_t now_us = clock_us(CLOCK_REALTIME);
	size_t i;

	json_array_foreach(json_object_get(all, "incidents"), i, incident)
	{
		bool muted = incident_is_muted(incident, now_us);
		uint32_t ignored;
		char key[32];

		snprintf(key, sizeof(key), "%lld",
			(long long)json_integer_value(json_object_get(incident, "id")));
		if (muted) {
			strmap_put(&a->muted, key, 0);
			continue;
		}
		if (!strmap_get(&a->muted, key, &ignored))
			continue;
		strmap_remove(&a->muted, key);
		incidents_lock(a->store);
		for (size_t k = 0; k < a->config.n; k++) {
			if (wanted(&a->config.targets[k], incident))
				queue_put(a, &a->config.targets[k], "unmuted", incident, now_us);
		}
		incidents_unlock(a->store);
	}
	json_decref(all);
}

static void alerts_wait(struct alerts *a)
{
	struct timespec until = clock_after(CLOCK_MONOTONIC, WAIT_US);

	pthread_mutex_lock(&a->mutex);
	while (!a->stop && !a->poked &&
		pthread_cond_timedwait(&a->wake, &a->mutex, &until) != ETIMEDOUT)
		continue;
	a->poked = false;
	pthread_mutex_unlock(&a->mutex);
}

static void *alerts_run(void *arg)
{
	struct alerts *a = arg;
	unsigned round = 0;

	while (!stopping(a)) {
		if (round++ % 10 == 0)
			mutes_look(a);
		for (size_t i = 0; i < a->config.n && !stopping(a); i++) {
			target_work(a, i);
			manager_refresh(a, i);
		}
		alerts_wait(a);
	}
	return NULL;
}

/* Drop entries for targets that are no longer in the configuration. */
static void queue_tidy(struct alerts *a)
{
	incidents_lock(a->store);
	db_exec(incidents_db(a->store), "CREATE TEMP TABLE targets (name TEXT)", NULL);
	for (size_t i = 0; i < a->config.n; i++)
		db_run(incidents_db(a->store), NULL, "INSERT INTO targets VALUES (?)", "t",
			a->config.targets[i].name);
	db_exec(incidents_db(a->store),
		"DELETE FROM queue WHERE target NOT IN (SELECT name FROM targets);"
		"DELETE FROM sent WHERE target NOT IN (SELECT name FROM targets);"
		"DROP TABLE targets",
		NULL);
	incidents_unlock(a->store);
}

int alerts_start(const char *path, struct incidents *store, struct lp_warn *warn,
	struct alerts **ret, struct lp_err *err)
{
	_cleanup_(alerts_stopp) struct alerts *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;
	int r;

	if (!a)
		return lp_err_sys(err, -ENOMEM, "cannot start alerts");
	pthread_mutex_init(&a->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->wake, &attr);
	pthread_condattr_destroy(&attr);
	a->store = store;
	a->warn = warn;
	a->seed = (uint64_t)clock_us(CLOCK_REALTIME);
	r = alerts_config_read(path, &a->config, err);
	if (r < 0)
		return r;
	a->progress = calloc(a->config.n + 1, sizeof(*a->progress));
	if (!a->progress)
		return lp_err_sys(err, -ENOMEM, "cannot start alerts");
	queue_tidy(a);
	r = thread_start(&a->thread, alerts_run, a);
	if (r < 0)
		return lp_err_sys(err, r, "cannot start alerts");
	a->started = true;
	*ret = TAKE_PTR(a);
	return 0;
}

void alerts_stop(struct alerts *a)
{
	if (!a)
		return;
	if (a->started) {
		pthread_mutex_lock(&a->mutex);
		a->stop = true;
		pthread_cond_signal(&a->wake);
		pthread_mutex_unlock(&a->mutex);
		pthread_join(a->thread, NULL);
	}
	alerts_config_release(&a->config);
	free(a->progress);
	strmap_release(&a->muted);
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

const char *alerts_waiting(
	struct alerts *a, size_t target, unsigned *ret_n, uint64_t *ret_sent, uint64_t *ret_failed)
{
	sqlite3_stmt *stmt = NULL;

	if (target >= a->config.n)
		return NULL;
	*ret_n = 0;
	incidents_lock(a->store);
	if (db_query(incidents_db(a->store), &stmt, NULL,
		    "SELECT count(*) FROM queue WHERE target = ?", "t",
		    a->config.targets[target].name) == 0 &&
		db_step(stmt, NULL) > 0)
		*ret_n = (unsigned)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	incidents_unlock(a->store);
	pthread_mutex_lock(&a->mutex);
	*ret_sent = a->progress[target].sent;
	*ret_failed = a->progress[target].failed;
	pthread_mutex_unlock(&a->mutex);
	return a->config.targets[target].name;
}

int alerts_try(const struct alerts_config *c, const struct alert_target *t, struct lp_err *err)
{
	int64_t now_us = clock_us(CLOCK_REALTIME);
	json_t *incident = alert_example(now_us), *body = NULL, *labels = NULL;
	int r = 0;

	if (incident && t->kind == ALERT_ALERTMANAGER) {
		labels = alert_labels(incident);
		body = json_pack(
			"[o]", alert_manager(incident, labels, c->page, now_us + 60 * US_PER_SEC));
	} else if (incident) {
		body = alert_webhook(incident, "test", c->page, now_us);
	}
	if (!body)
		r = lp_err_sys(err, -ENOMEM, "cannot send an alert");
	else if (t->kind == ALERT_COMMAND)
		r = alert_run(t, body, err);
	else
		r = alert_post(t, t->kind == ALERT_ALERTMANAGER ? MANAGER_PATH : "", body, err);
	json_decref(body);
	json_decref(labels);
	json_decref(incident);
	return r;
}
