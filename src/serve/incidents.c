#include "serve/incidents_own.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION_ID 0x4c4d5049 /* "LMPI" */
#define SCHEMA_VERSION 1
#define TEXT_BYTES_MAX 4096
#define LIMIT_DEFAULT 100
#define LIMIT_MAX 1000

static const char schema[] =
	"CREATE TABLE incidents (id INTEGER PRIMARY KEY AUTOINCREMENT, part TEXT NOT NULL,"
	" cause TEXT NOT NULL, delivery INTEGER NOT NULL, level TEXT NOT NULL, what TEXT NOT NULL,"
	" observer TEXT NOT NULL, ratio REAL, severity REAL, confidence REAL,"
	" first_us INTEGER NOT NULL, first_error_us INTEGER NOT NULL, last_us INTEGER NOT NULL,"
	" opened_us INTEGER NOT NULL, updated_us INTEGER NOT NULL, ended_us INTEGER,"
	" seen_us INTEGER NOT NULL, openings INTEGER NOT NULL, details TEXT NOT NULL,"
	" search TEXT NOT NULL);"
	"CREATE INDEX incidents_part ON incidents (part);"
	"CREATE INDEX incidents_ended ON incidents (ended_us);"
	"CREATE TABLE said (id INTEGER PRIMARY KEY AUTOINCREMENT, incident INTEGER NOT NULL,"
	" verb TEXT NOT NULL, by TEXT NOT NULL, at_us INTEGER NOT NULL, until_us INTEGER NOT NULL,"
	" text TEXT NOT NULL);"
	"CREATE INDEX said_incident ON said (incident);"
	"CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL,"
	" incident INTEGER NOT NULL, change TEXT NOT NULL, body TEXT NOT NULL,"
	" added_us INTEGER NOT NULL, due_us INTEGER NOT NULL, attempts INTEGER NOT NULL,"
	" error TEXT NOT NULL);"
	"CREATE INDEX queue_due ON queue (target, id);"
	"CREATE TABLE sent (target TEXT NOT NULL, incident INTEGER NOT NULL, labels TEXT NOT NULL,"
	" PRIMARY KEY (target, incident)) WITHOUT ROWID;";

const char *incident_change_name(enum incident_change change)
{
	static const char *const names[] = {[INCIDENT_OPENED] = "opened",
		[INCIDENT_REOPENED] = "reopened",
		[INCIDENT_CHANGED] = "changed",
		[INCIDENT_ENDED] = "ended",
		[INCIDENT_SAID] = "said"};

	return names[change];
}

void record_release(struct record *r)
{
	free(r->part);
	free(r->cause);
	free(r->level);
	free(r->other_cause);
	for (uint32_t i = 0; i < r->n_components; i++)
		free(r->components[i]);
	free(r->components);
	*r = (struct record){0};
}

void incidents_close(struct incidents *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		record_release(&s->records[i]);
	free(s->records);
	for (size_t i = 0; i < s->n_candidates; i++)
		free(s->candidates[i].key);
	free(s->candidates);
	strmap_release(&s->past);
	sqlite3_close(s->db);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

DEFINE_CLEANUP(struct incidents *, incidents_close);

void incidents_lock(struct incidents *s)
{
	pthread_mutex_lock(&s->mutex);
}

void incidents_unlock(struct incidents *s)
{
	pthread_mutex_unlock(&s->mutex);
}

struct sqlite3 *incidents_db(struct incidents *s)
{
	return s->db;
}

int incidents_open(const char *path, const struct incidents_options *options,
	struct incidents **ret, struct lp_err *err)
{
	_cleanup_(incidents_closep) struct incidents *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot open the incidents");
	pthread_mutex_init(&s->mutex, NULL);
	if (options)
		s->opt = *options;
	if (!s->opt.hold_us)
		s->opt.hold_us = INCIDENTS_HOLD_US;
	if (!s->opt.reopen_us)
		s->opt.reopen_us = INCIDENTS_REOPEN_US;
	r = db_open(path, APPLICATION_ID, SCHEMA_VERSION, schema, &s->db, err);
	if (r == 0)
		r = store_load(s, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

int record_add(struct incidents *s, struct record *r)
{
	if (!r->part || !r->cause || !r->level ||
		array_reserve(&s->records, &s->cap, s->n + 1, sizeof(*s->records)) < 0) {
		record_release(r);
		return -ENOMEM;
	}
	s->records[s->n++] = *r;
	return 0;
}

/* The names in the array "components" of an incident's details. */
static int components_load(struct record *r, const char *details)
{
	json_t *root = json_loads(details, 0, NULL);
	json_t *list = json_object_get(root, "components"), *item;
	size_t i;

	r->components = calloc(json_array_size(list) + 1, sizeof(*r->components));
	if (!r->components) {
		json_decref(root);
		return -ENOMEM;
	}
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(item);

		r->components[r->n_components] = strdup(name ? name : "");
		r->n_components += r->components[r->n_components] != NULL;
	}
	json_decref(root);
	return 0;
}

/* Load the open incidents, which are kept in memory. */
int store_load(struct incidents *s, struct lp_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = db_query(s->db, &stmt, err,
		"SELECT id, part, cause, level, delivery, seen_us, details FROM incidents"
		" WHERE ended_us IS NULL ORDER BY id",
		"");

	while (r == 0 && (r = db_step(stmt, err)) > 0) {
		struct record x = {.id = sqlite3_column_int64(stmt, 0),
			.part = strdup(db_text(stmt, 1)),
			.cause = strdup(db_text(stmt, 2)),
			.level = strdup(db_text(stmt, 3)),
			.delivery = sqlite3_column_int64(stmt, 4),
			.seen_us = sqlite3_column_int64(stmt, 5)};

		if (components_load(&x, db_text(stmt, 6)) < 0 || record_add(s, &x) < 0)
			r = lp_err_sys(err, -ENOMEM, "cannot read the incidents");
		else
			r = 0;
	}
	sqlite3_finalize(stmt);
	return r;
}

static json_t *time_json(int64_t us)
{
	char text[TIME_TEXT_MAX];

	return us ? json_string(time_format(us, text)) : json_null();
}

static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Add what operators said about it: acknowledged, muted, comments. */
static int said_take(sqlite3 *db, int64_t id, json_t *incident, struct lp_err *err)
{
	json_t *comments = json_array();
	sqlite3_stmt *stmt = NULL;
	int r = db_query(db, &stmt, err,
		"SELECT verb, by, at_us, until_us, text FROM said WHERE incident = ? ORDER BY id",
		"i", id);

	json_object_set_new(incident, "acknowledged", json_null());
	json_object_set_new(incident, "muted", json_null());
	while (r == 0 && (r = db_step(stmt, err)) > 0) {
		const char *verb = db_text(stmt, 0);
		json_t *word = json_object();

		r = 0;
		json_object_set_new(word, "by", json_text(db_text(stmt, 1)));
		json_object_set_new(word, "at", time_json(sqlite3_column_int64(stmt, 2)));
		if (!strcmp(verb, "mute"))
			json_object_set_new(
				word, "until", time_json(sqlite3_column_int64(stmt, 3)));
		json_object_set_new(word, !strcmp(verb, "comment") ? "text" : "comment",
			json_text(db_text(stmt, 4)));
		if (!strcmp(verb, "comment"))
			json_array_append(comments, word);
		else if (!strcmp(verb, "ack") || !strcmp(verb, "unack"))
			json_object_set(
				incident, "acknowledged", verb[0] == 'a' ? word : json_null());
		else
			json_object_set(incident, "muted", verb[0] == 'm' ? word : json_null());
		json_decref(word);
	}
	sqlite3_finalize(stmt);
	json_object_set_new(incident, "comments", comments);
	return r;
}

#define COLUMNS                                                                                    \
	"id, level, what, part, observer, cause, ratio, severity, confidence, first_us,"           \
	" first_error_us, last_us, opened_us, updated_us, ended_us, openings, details"

/* Convert a row of COLUMNS to the JSON of the API. */
static json_t *row_json(sqlite3_stmt *stmt)
{
	json_t *o = json_object(), *details = json_loads(db_text(stmt, 16), 0, NULL);
	int64_t ended = sqlite3_column_int64(stmt, 14), error = sqlite3_column_int64(stmt, 10);

	json_object_set_new(o, "id", json_integer(sqlite3_column_int64(stmt, 0)));
	json_object_set_new(o, "state", json_string(ended ? "ended" : "open"));
	json_object_set_new(o, "level", json_text(db_text(stmt, 1)));
	json_object_set_new(o, "what", json_text(db_text(stmt, 2)));
	json_object_set_new(o, "part", json_text(db_text(stmt, 3)));
	json_object_set_new(o, "observer", json_text(db_text(stmt, 4)));
	json_object_set_new(o, "cause", json_text(db_text(stmt, 5)));
	json_object_set_new(o, "ratio", real_json(db_real(stmt, 6)));
	json_object_set_new(o, "severity", real_json(db_real(stmt, 7)));
	json_object_set_new(o, "confidence", real_json(db_real(stmt, 8)));
	json_object_set_new(o, "first", time_json(sqlite3_column_int64(stmt, 9)));
	json_object_set_new(
		o, "first_error_s", error < 0 ? json_null() : json_real((double)error / 1e6));
	json_object_set_new(o, "last", time_json(sqlite3_column_int64(stmt, 11)));
	json_object_set_new(o, "opened", time_json(sqlite3_column_int64(stmt, 12)));
	json_object_set_new(o, "updated", time_json(sqlite3_column_int64(stmt, 13)));
	json_object_set_new(o, "ended", time_json(ended));
	json_object_set_new(o, "openings", json_integer(sqlite3_column_int64(stmt, 15)));
	json_object_update_missing(o, details);
	json_decref(details);
	return o;
}

int store_get(struct incidents *s, int64_t id, json_t **ret, struct lp_err *err)
{
	sqlite3_stmt *stmt = NULL;
	json_t *o = NULL;
	int r = db_query(
		s->db, &stmt, err, "SELECT " COLUMNS " FROM incidents WHERE id = ?", "i", id);

	if (r == 0)
		r = db_step(stmt, err);
	if (r > 0)
		o = row_json(stmt);
	sqlite3_finalize(stmt);
	if (r == 0)
		return lp_err_set(err, -ENOENT, "there is no incident %lld", (long long)id);
	r = r < 0 ? r : said_take(s->db, id, o, err);
	if (r < 0) {
		json_decref(o);
		return r;
	}
	*ret = o;
	return 0;
}

int incidents_get(struct incidents *s, int64_t id, json_t **ret, struct lp_err *err)
{
	int r;

	incidents_lock(s);
	r = store_get(s, id, ret, err);
	incidents_unlock(s);
	return r;
}

void store_tell(struct incidents *s, enum incident_change change, int64_t id)
{
	json_t *incident = NULL;

	if (!s->opt.changed || store_get(s, id, &incident, NULL) < 0)
		return;
	s->opt.changed(s->opt.ctx, change, incident);
	json_decref(incident);
}

static int query_check(const struct incidents_query *q, struct lp_err *err)
{
	const char *state = q->state ? q->state : "open";

	if (strcmp(state, "open") && strcmp(state, "ended") && strcmp(state, "all"))
		return lp_err_set(
			err, -EINVAL, "state is 'open', 'ended' or 'all', not '%.64s'", state);
	if (q->limit > LIMIT_MAX)
		return lp_err_set(err, -EINVAL, "limit is at most %d", LIMIT_MAX);
	return 0;
}

static int list_rows(
	struct incidents *s, const struct incidents_query *q, json_t *list, struct lp_err *err)
{
	unsigned limit = q->limit ? q->limit : LIMIT_DEFAULT;
	sqlite3_stmt *stmt = NULL;
	int r = db_query(s->db, &stmt, err,
		"SELECT " COLUMNS " FROM incidents WHERE"
		" (?1 = 'all' OR (?1 = 'open') = (ended_us IS NULL))"
		" AND (?2 = '' OR instr(search, lower(?2)) > 0 OR id IN"
		"  (SELECT incident FROM said WHERE instr(lower(text || ' ' || by), lower(?2)) > "
		"0))"
		" AND (?3 = 0 OR ended_us IS NULL OR ended_us >= ?3)"
		" AND (?4 = 0 OR opened_us < ?4) AND (?5 = 0 OR id < ?5)"
		" ORDER BY id DESC LIMIT ?6",
		"ttiiii", q->state ? q->state : "open", q->text ? q->text : "", q->since_us,
		q->until_us, q->before, (int64_t)limit + 1);

	while (r == 0 && (r = db_step(stmt, err)) > 0) {
		json_t *o = row_json(stmt);

		r = said_take(s->db, sqlite3_column_int64(stmt, 0), o, err);
		json_array_append_new(list, o);
	}
	sqlite3_finalize(stmt);
	return r;
}

int incidents_list(
	struct incidents *s, const struct incidents_query *q, json_t **ret, struct lp_err *err)
{
	unsigned limit = q->limit ? q->limit : LIMIT_DEFAULT;
	json_t *list = json_array();
	bool more;
	int r = query_check(q, err);

	if (r == 0) {
		incidents_lock(s);
		r = list_rows(s, q, list, err);
		incidents_unlock(s);
	}
	if (r < 0) {
		json_decref(list);
		return r;
	}
	more = json_array_size(list) > limit;
	if (more)
		json_array_remove(list, limit);
	*ret = json_pack("{s:o, s:b}", "incidents", list, "more", more);
	return *ret ? 0 : lp_err_sys(err, -ENOMEM, "cannot list the incidents");
}

bool incident_is_muted(const json_t *incident, int64_t now_us)
{
	const json_t *mute = json_object_get(incident, "muted");
	const char *until = json_string_value(json_object_get(mute, "until"));
	int64_t until_us;

	return until && time_parse(until, &until_us, NULL) == 0 && until_us > now_us;
}

int incidents_count(struct incidents *s, int64_t now_us, struct incidents_count *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r;

	*ret = (struct incidents_count){0};
	incidents_lock(s);
	r = db_query(s->db, &stmt, NULL,
		"SELECT sum(level = 'critical'), sum(level = 'warning') FROM incidents i"
		" WHERE ended_us IS NULL AND NOT coalesce((SELECT verb = 'mute' AND until_us > ?"
		" FROM said WHERE incident = i.id AND verb IN ('mute', 'unmute')"
		" ORDER BY id DESC LIMIT 1), 0)",
		"i", now_us);
	if (r == 0)
		r = db_step(stmt, NULL);
	if (r > 0) {
		ret->critical = (unsigned)sqlite3_column_int64(stmt, 0);
		ret->warning = (unsigned)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	incidents_unlock(s);
	return r < 0 ? r : 0;
}

static int word_check(const struct incident_word *w, int64_t now_us, struct lp_err *err)
{
	if (!w->by || !*w->by)
		return lp_err_set(err, -EINVAL, "\"by\" must say who you are");
	if (strlen(w->by) > 256 || (w->text && strlen(w->text) > TEXT_BYTES_MAX))
		return lp_err_set(
			err, -EINVAL, "that is too long (%d bytes at most)", TEXT_BYTES_MAX);
	if (w->verb == INCIDENT_MUTE && w->until_us <= now_us)
		return lp_err_set(
			err, -EINVAL, "a mute must end, and later than now (\"for\" or \"until\")");
	if (w->verb == INCIDENT_COMMENT && (!w->text || !*w->text))
		return lp_err_set(err, -EINVAL, "the comment is empty");
	return 0;
}

int store_say(struct incidents *s, int64_t id, const struct incident_word *word, int64_t now_us,
	struct lp_err *err)
{
	static const char *const verbs[] = {[INCIDENT_ACK] = "ack",
		[INCIDENT_UNACK] = "unack",
		[INCIDENT_MUTE] = "mute",
		[INCIDENT_UNMUTE] = "unmute",
		[INCIDENT_COMMENT] = "comment"};

	return db_run(s->db, err,
		"INSERT INTO said (incident, verb, by, at_us, until_us, text)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		"ittiit", id, verbs[word->verb], word->by, now_us, word->until_us,
		word->text ? word->text : "");
}

int incidents_say(struct incidents *s, int64_t id, const struct incident_word *word, int64_t now_us,
	json_t **ret, struct lp_err *err)
{
	json_t *incident = NULL;
	int r = word_check(word, now_us, err);

	if (r < 0)
		return r;
	incidents_lock(s);
	r = store_get(s, id, &incident, err);
	json_decref(incident);
	if (r == 0)
		r = store_say(s, id, word, now_us, err);
	if (r == 0)
		store_tell(s, INCIDENT_SAID, id);
	if (r == 0)
		r = store_get(s, id, ret, err);
	incidents_unlock(s);
	return r;
}
