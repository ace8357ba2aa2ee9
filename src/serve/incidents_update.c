/* Compares the current problems with the known ones, and opens, changes and ends incidents. */
#include "serve/incidents_own.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Consecutive verdicts before an incident is opened, and before another cause is accepted. */
#define SEEN_LEAST 2
#define SETTLED_US INT64_C(60000000)
#define CAUSE_LEAST 3
/* Incidents about delivery end sooner: the data of a server proves that it is back. */
#define DELIVERY_SHARE 5

struct update {
	struct incidents *s;
	const struct sightings *now;
	int64_t watermark_us, now_us;
	size_t *of; /* [sighting] its record; SIZE_MAX: none */
};

static int64_t hold_us(const struct update *u, bool delivery)
{
	return delivery ? u->s->opt.hold_us / DELIVERY_SHARE : u->s->opt.hold_us;
}

/* Does the problem continue, or did it until a moment ago? */
static bool is_on(const struct update *u, const struct sighting *x)
{
	return !x->ended || u->watermark_us - x->last_us < hold_us(u, x->delivery);
}

static bool has_component(char *const *list, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(list[i], name))
			return true;
	}
	return false;
}

/* The number of components that the record and the sighting have in common. */
static uint32_t shared(const struct record *r, const struct sighting *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_components; i++)
		n += has_component(x->components, x->n_components, r->components[i]);
	return n;
}

/* How well a record fits; 0: not at all. */
static uint32_t fit(const struct record *r, const struct sighting *x)
{
	if (r->delivery != x->delivery)
		return 0;
	if (!strcmp(r->part, x->part))
		return !strcmp(r->cause, x->cause) ? UINT32_MAX : x->delivery ? 0 : UINT32_MAX - 1;
	return x->delivery ? 0 : shared(r, x);
}

/* Match the best pairs first: the same part and cause, the same part, then those with the most
 * common components. */
static void match(struct update *u)
{
	for (;;) {
		size_t best_i = 0, best_r = 0;
		uint32_t best = 0;

		for (size_t i = 0; i < u->now->n; i++) {
			if (u->of[i] != SIZE_MAX || !is_on(u, &u->now->items[i]))
				continue;
			for (size_t r = 0; r < u->s->n; r++) {
				uint32_t f = u->s->records[r].taken
					? 0
					: fit(&u->s->records[r], &u->now->items[i]);

				if (f > best) {
					best = f;
					best_i = i;
					best_r = r;
				}
			}
		}
		if (!best)
			return;
		u->of[best_i] = best_r;
		u->s->records[best_r].taken = u->s->records[best_r].on = true;
	}
}

static char *search_text(const struct sighting *x, const char *details)
{
	struct strbuf sb = {0};

	strbuf_printf(&sb, "%s %s %s %s %s %s", x->what, x->part, x->cause, x->level, x->observer,
		details);
	for (size_t i = 0; i < sb.len; i++)
		sb.text[i] = (char)tolower((unsigned char)sb.text[i]);
	return strbuf_take(&sb);
}

static int components_copy(struct record *r, const struct sighting *x)
{
	char **list = calloc((size_t)x->n_components + 1, sizeof(*list));
	uint32_t n = 0;

	while (list && n < x->n_components && (list[n] = strdup(x->components[n])))
		n++;
	if (!list || n < x->n_components) {
		while (list && n > 0)
			free(list[--n]);
		free(list);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->n_components; i++)
		free(r->components[i]);
	free(r->components);
	r->components = list;
	r->n_components = n;
	return 0;
}

static int text_replace(char **text, const char *by)
{
	char *copy = strdup(by);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/* Another cause is accepted if it persists. 1: it is accepted. */
static int cause_weigh(struct record *r, const struct sighting *x)
{
	if (!strcmp(r->cause, x->cause)) {
		r->n_other = 0;
		return 0;
	}
	if (!r->other_cause || strcmp(r->other_cause, x->cause) != 0) {
		r->n_other = 0;
		if (text_replace(&r->other_cause, x->cause) < 0)
			return -ENOMEM;
	}
	if (++r->n_other < CAUSE_LEAST)
		return 0;
	r->n_other = 0;
	return text_replace(&r->cause, x->cause) < 0 ? -ENOMEM : 1;
}

/* Update a record that continues. 1: the operator should be notified. */
static int record_refresh(struct record *r, const struct sighting *x)
{
	int changed = cause_weigh(r, x);

	if (changed < 0)
		return changed;
	if (strcmp(r->level, x->level) != 0 && !strcmp(x->level, "critical")) {
		if (text_replace(&r->level, x->level) < 0)
			return -ENOMEM;
		changed = 1;
	}
	/* A part may turn out to be larger; a part that shrinks stays the same. */
	if (strcmp(r->part, x->part) != 0 && x->n_components > r->n_components) {
		if (text_replace(&r->part, x->part) < 0)
			return -ENOMEM;
		changed = 1;
	}
	if (x->n_components >= r->n_components && components_copy(r, x) < 0)
		return -ENOMEM;
	return changed;
}

static int64_t seen_of(const struct update *u, const struct sighting *x)
{
	return x->ended ? x->last_us : u->watermark_us;
}

static int refresh(struct update *u, size_t i, struct lp_err *err)
{
	const struct sighting *x = &u->now->items[i];
	struct record *r = &u->s->records[u->of[i]];
	_cleanup_free_ char *details = json_dumps(x->details, JSON_COMPACT);
	_cleanup_free_ char *search = details ? search_text(x, details) : NULL;
	int changed = details && search ? record_refresh(r, x) : -ENOMEM, w;

	if (changed < 0)
		return lp_err_sys(err, -ENOMEM, "cannot keep an incident");
	if (seen_of(u, x) > r->seen_us)
		r->seen_us = seen_of(u, x);
	w = db_run(u->s->db, err,
		"UPDATE incidents SET part = ?, cause = ?, level = ?, what = ?, observer = ?,"
		" ratio = ?, severity = max(severity, ?), confidence = ?, last_us = max(last_us, "
		"?),"
		" first_us = min(first_us, ?), seen_us = ?, updated_us = ?, details = ?, search = ?"
		" WHERE id = ?",
		"tttttdddiiiitti", r->part, r->cause, r->level, x->what, x->observer, x->ratio,
		x->severity, x->confidence, x->last_us, x->first_us, r->seen_us, u->now_us, details,
		search, r->id);
	if (w == 0 && changed > 0)
		store_tell(u->s, INCIDENT_CHANGED, r->id);
	return w;
}

static struct candidate *candidate_find(struct incidents *s, const char *key)
{
	for (size_t i = 0; i < s->n_candidates; i++) {
		if (!strcmp(s->candidates[i].key, key))
			return &s->candidates[i];
	}
	return NULL;
}

/* The number of consecutive verdicts with this problem, including this one. */
static int candidate_count(struct incidents *s, const struct sighting *x)
{
	_cleanup_free_ char *key = NULL;
	struct candidate *c;

	if (asprintf(&key, "%s\n%d", x->part, x->delivery) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	c = candidate_find(s, key);
	if (!c) {
		if (array_reserve(&s->candidates, &s->cap_candidates, s->n_candidates + 1,
			    sizeof(*c)) < 0)
			return -ENOMEM;
		c = &s->candidates[s->n_candidates++];
		*c = (struct candidate){.key = TAKE_PTR(key), .round = s->round - 1};
	}
	c->n = c->round == s->round - 1 ? c->n + 1 : 1;
	c->round = s->round;
	return (int)c->n;
}

/* Candidates that were not seen this time start again. */
static void candidates_drop(struct incidents *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_candidates; i++) {
		if (s->candidates[i].round == s->round)
			s->candidates[n++] = s->candidates[i];
		else
			free(s->candidates[i].key);
	}
	s->n_candidates = n;
}

bool incidents_pending(struct incidents *s)
{
	bool pending = false;

	incidents_lock(s);
	for (size_t i = 0; i < s->n_candidates; i++)
		pending |= s->candidates[i].n < SEEN_LEAST;
	incidents_unlock(s);
	return pending;
}

/* The number of a recently ended incident of the same part; 0: none. */
static int recent_find(
	const struct update *u, const struct sighting *x, int64_t *ret, struct lp_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = db_query(u->s->db, &stmt, err,
		"SELECT id FROM incidents WHERE part = ? AND delivery = ? AND ended_us IS NOT NULL"
		" AND ended_us > ? AND (delivery = 0 OR cause = ?) ORDER BY id DESC LIMIT 1",
		"tiit", x->part, (int64_t)x->delivery, u->now_us - u->s->opt.reopen_us, x->cause);

	if (r == 0)
		r = db_step(stmt, err);
	*ret = r > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

/* Insert a row. `ended_us` 0: it is open. */
static int row_insert(struct update *u, const struct sighting *x, int64_t ended_us, int64_t *ret,
	struct lp_err *err)
{
	_cleanup_free_ char *details = json_dumps(x->details, JSON_COMPACT);
	_cleanup_free_ char *search = details ? search_text(x, details) : NULL;
	int r = search ? 0 : lp_err_sys(err, -ENOMEM, "cannot keep an incident");

	if (r == 0)
		r = db_run(u->s->db, err,
			"INSERT INTO incidents (part, cause, delivery, level, what, observer, "
			"ratio,"
			" severity, confidence, first_us, first_error_us, last_us, opened_us,"
			" updated_us, ended_us, seen_us, openings, details, search) VALUES"
			" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, 1, ?, ?)",
			"ttitttdddiiiiiiitt", x->part, x->cause, (int64_t)x->delivery, x->level,
			x->what, x->observer, x->ratio, x->severity, x->confidence, x->first_us,
			x->first_error_us, x->last_us, u->now_us, u->now_us, ended_us,
			seen_of(u, x), details, search);
	if (r == 0)
		*ret = sqlite3_last_insert_rowid(u->s->db);
	return r;
}

static int open_record(struct update *u, size_t i, int64_t id, struct lp_err *err)
{
	const struct sighting *x = &u->now->items[i];
	struct record r = {.id = id,
		.part = strdup(x->part),
		.cause = strdup(x->cause),
		.level = strdup(x->level),
		.delivery = x->delivery,
		.seen_us = seen_of(u, x),
		.taken = true,
		.on = true};

	if (components_copy(&r, x) < 0 || record_add(u->s, &r) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot keep an incident");
	u->of[i] = u->s->n - 1;
	return 0;
}

/* Open an incident, or reopen one that ended recently. */
static int open_new(struct update *u, size_t i, struct lp_err *err)
{
	const struct sighting *x = &u->now->items[i];
	int64_t id = 0;
	bool again;
	int r = recent_find(u, x, &id, err);

	again = id != 0;
	if (r == 0 && again)
		r = db_run(u->s->db, err,
			"UPDATE incidents SET ended_us = NULL, openings = openings + 1 WHERE id = "
			"?",
			"i", id);
	else if (r == 0)
		r = row_insert(u, x, 0, &id, err);
	if (r == 0)
		r = open_record(u, i, id, err);
	if (r == 0 && again)
		r = refresh(u, i, err);
	if (r == 0)
		store_tell(u->s, again ? INCIDENT_REOPENED : INCIDENT_OPENED, id);
	return r;
}

/* Is it part of a larger open incident? */
static bool is_within(const struct update *u, const struct sighting *x)
{
	for (size_t r = 0; x->n_components && r < u->s->n; r++) {
		const struct record *of = &u->s->records[r];
		uint32_t n = 0;

		if (!of->on || of->n_components < x->n_components)
			continue;
		for (uint32_t i = 0; i < x->n_components; i++)
			n += has_component(of->components, of->n_components, x->components[i]);
		if (n == x->n_components)
			return true;
	}
	return false;
}

/* The problem was over before it was seen (the collector was not running, or certainty took long):
 * note it as history, once. */
static int past_note(struct update *u, const struct sighting *x, struct lp_err *err)
{
	_cleanup_free_ char *key = NULL;
	sqlite3_stmt *stmt = NULL;
	uint32_t ignored;
	int64_t id;
	int r;

	if (asprintf(&key, "%s\n%" PRId64, x->part, x->first_us) < 0) {
		key = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot keep an incident");
	}
	if (strmap_get(&u->s->past, key, &ignored))
		return 0;
	if (strmap_put(&u->s->past, key, 0) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot keep an incident");
	r = db_query(u->s->db, &stmt, err,
		"SELECT 1 FROM incidents WHERE last_us >= ? AND first_us <= ? AND"
		" (part = ? OR instr(details, ?) > 0) LIMIT 1",
		"iitt", x->first_us, x->last_us, x->part,
		x->n_components ? x->components[0] : x->part);
	if (r == 0)
		r = db_step(stmt, err);
	sqlite3_finalize(stmt);
	return r == 0 ? row_insert(u, x, x->last_us, &id, err) : r < 0 ? r : 0;
}

/* Has it lasted for many windows? Then one verdict is enough. */
static bool is_settled(const struct update *u, const struct sighting *x)
{
	return !x->delivery && u->watermark_us - x->first_us >= SETTLED_US;
}

/* Handle a sighting that fits no open incident. */
static int take_new(struct update *u, size_t i, struct lp_err *err)
{
	const struct sighting *x = &u->now->items[i];
	int n;

	if (!is_on(u, x))
		return x->delivery ? 0 : past_note(u, x, err);
	if (is_within(u, x))
		return 0;
	n = candidate_count(u->s, x);
	if (n < 0)
		return lp_err_sys(err, n, "cannot keep an incident");
	return n >= SEEN_LEAST || is_settled(u, x) || u->s->opt.at_once ? open_new(u, i, err) : 0;
}

/* An open incident that has all components of this one and more; NULL: none. */
static const struct record *larger(const struct update *u, const struct record *r)
{
	for (size_t i = 0; r->n_components && !r->taken && i < u->now->n; i++) {
		const struct sighting *x = &u->now->items[i];

		if (u->of[i] != SIZE_MAX && &u->s->records[u->of[i]] != r &&
			shared(r, x) == r->n_components && x->n_components > r->n_components)
			return &u->s->records[u->of[i]];
	}
	return NULL;
}

static int end_record(
	struct update *u, const struct record *r, const struct record *in, struct lp_err *err)
{
	char text[80];
	struct incident_word word = {.verb = INCIDENT_COMMENT, .by = "limpet", .text = text};
	int w = db_run(u->s->db, err,
		"UPDATE incidents SET ended_us = ?, updated_us = ? WHERE id = ?", "iii", u->now_us,
		u->now_us, r->id);

	if (w == 0 && in) {
		snprintf(text, sizeof(text), "it is part of incident %" PRId64, in->id);
		w = store_say(u->s, r->id, &word, u->now_us, err);
	}
	if (w == 0)
		store_tell(u->s, INCIDENT_ENDED, r->id);
	return w;
}

/* End incidents that have been over for long enough, and those that are part of a larger one. */
static int end_old(struct update *u, struct lp_err *err)
{
	size_t n = 0;
	int w = 0;

	/* Indexes in u->of are valid until records move. */
	for (size_t i = 0; w == 0 && i < u->s->n; i++) {
		struct record *r = &u->s->records[i];
		const struct record *in = larger(u, r);
		bool over = !r->on && u->watermark_us - r->seen_us >= hold_us(u, r->delivery);

		if (!in && !over)
			continue;
		w = end_record(u, r, in, err);
		r->seen_us = INT64_MIN;
	}
	for (size_t i = 0; i < u->s->n; i++) {
		if (u->s->records[i].seen_us == INT64_MIN)
			record_release(&u->s->records[i]);
		else
			u->s->records[n++] = u->s->records[i];
	}
	u->s->n = n;
	return w;
}

static int update_all(struct update *u, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; i < u->s->n; i++)
		u->s->records[i].taken = u->s->records[i].on = false;
	for (size_t i = 0; i < u->now->n; i++)
		u->of[i] = SIZE_MAX;
	u->s->round++;
	match(u);
	for (size_t i = 0; r == 0 && i < u->now->n; i++)
		r = u->of[i] != SIZE_MAX ? refresh(u, i, err) : take_new(u, i, err);
	candidates_drop(u->s);
	return r < 0 ? r : end_old(u, err);
}

/* Reload the records, because they no longer match the file. */
static void reload(struct incidents *s)
{
	for (size_t i = 0; i < s->n; i++)
		record_release(&s->records[i]);
	s->n = 0;
	store_load(s, NULL);
}

int incidents_update(struct incidents *s, const struct sightings *now, int64_t watermark_us,
	int64_t now_us, struct lp_err *err)
{
	_cleanup_free_ size_t *of = calloc(now->n + 1, sizeof(*of));
	struct update u = {
		.s = s, .now = now, .watermark_us = watermark_us, .now_us = now_us, .of = of};
	int r = of ? 0 : lp_err_sys(err, -ENOMEM, "cannot keep incidents");

	if (r < 0)
		return r;
	incidents_lock(s);
	r = db_exec(s->db, "BEGIN IMMEDIATE", err);
	if (r == 0) {
		r = update_all(&u, err);
		if (r == 0)
			r = db_exec(s->db, "COMMIT", err);
		if (r < 0) {
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
			reload(s);
		}
	}
	incidents_unlock(s);
	return r;
}
