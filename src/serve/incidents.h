/* Incidents: problems from beginning to end, and what people said about them.
 *
 * They are kept in a SQLite file (write-ahead log, synchronous), so that nothing is lost when the
 * collector is killed. Every verdict is compared with the open incidents (incidents_update()):
 *
 * - A new problem opens an incident once it has been seen in two verdicts, or in one if it has
 *   lasted for a minute. If the same incident ended less than an hour before, it is opened again.
 * - One part of the system with one cause is one incident. If the cause becomes clearer, or if a
 *   larger part turns out to be affected, it stays the same incident; incidents that are part of a
 *   larger one end, with a remark.
 * - A problem that comes and goes does not flap: an incident ends when it has not been seen for ten
 *   minutes.
 *
 * All functions may be called by any thread.
 */
#ifndef SERVE_INCIDENTS_H
#define SERVE_INCIDENTS_H

#include "serve/sightings.h"

#define INCIDENTS_HOLD_US INT64_C(600000000)	/* an incident ends after this time */
#define INCIDENTS_REOPEN_US INT64_C(3600000000) /* within this time, it is reopened */

struct incidents;

/* Changes of an incident. */
enum incident_change {
	INCIDENT_OPENED = 0,
	INCIDENT_REOPENED,
	INCIDENT_CHANGED, /* its level, cause or part changed */
	INCIDENT_ENDED,
	INCIDENT_SAID, /* acknowledged, muted, commented */
};

const char *incident_change_name(enum incident_change change);

struct incidents_options {
	int64_t hold_us;   /* 0: INCIDENTS_HOLD_US */
	int64_t reopen_us; /* 0: INCIDENTS_REOPEN_US */
	bool at_once; /* open an incident when it is first seen, to test the effect of hysteresis */
	/* Called for each change, with `incident` as in incidents_get(), within the transaction of
	 * the store. May be NULL. */
	void (*changed)(void *ctx, enum incident_change change, json_t *incident);
	void *ctx;
};

/* Open the file, and create it if it does not exist; NULL: in memory, for replays. */
int incidents_open(const char *path, const struct incidents_options *options,
	struct incidents **ret, struct lp_err *err);
void incidents_close(struct incidents *s);

/* Update the incidents with the problems at the watermark. */
int incidents_update(struct incidents *s, const struct sightings *now, int64_t watermark_us,
	int64_t now_us, struct lp_err *err);

/* Was a problem seen once, so that another verdict would open an incident? */
bool incidents_pending(struct incidents *s);

/* One incident with all details. -ENOENT: there is none with this number. */
int incidents_get(struct incidents *s, int64_t id, json_t **ret, struct lp_err *err);

struct incidents_query {
	const char *state; /* "open", "ended", "all"; NULL: open */
	const char *text;  /* text in its sentence, part, cause, evidence or comments; NULL: any */
	int64_t since_us, until_us; /* it was open at some time in this range; 0: no limit */
	int64_t before;		    /* only incidents with smaller numbers; 0: all */
	unsigned limit;		    /* 0: 100 */
};

/* {"incidents":[...],"more":bool}, newest first. -EINVAL: the query makes no sense. */
int incidents_list(
	struct incidents *s, const struct incidents_query *q, json_t **ret, struct lp_err *err);

/* The number of open incidents, without muted ones. */
struct incidents_count {
	unsigned critical, warning;
};
int incidents_count(struct incidents *s, int64_t now_us, struct incidents_count *ret);

/* Statements of people. `by` and `text` may contain any bytes. -EINVAL if they are too long or `by`
 * is empty. `*ret` is the changed incident. */
enum incident_verb {
	INCIDENT_ACK,
	INCIDENT_UNACK,
	INCIDENT_MUTE,
	INCIDENT_UNMUTE,
	INCIDENT_COMMENT,
};
struct incident_word {
	enum incident_verb verb;
	const char *by, *text;
	int64_t until_us; /* of a mute */
};
int incidents_say(struct incidents *s, int64_t id, const struct incident_word *word, int64_t now_us,
	json_t **ret, struct lp_err *err);

/* Is an incident (as JSON) muted at this time? */
bool incident_is_muted(const json_t *incident, int64_t now_us);

/* The database, for other tables in it (alerts); use it under incidents_lock(). */
struct sqlite3;
struct sqlite3 *incidents_db(struct incidents *s);
void incidents_lock(struct incidents *s);
void incidents_unlock(struct incidents *s);

#endif
