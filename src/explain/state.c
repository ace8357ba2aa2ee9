#include "explain/state.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 5000
#define APPLICATION_ID 0x4c4d5054 /* "LMPT" */
#define SCHEMA_VERSION 1
/* Far more than anyone enters. A file with more entries is not one of limpet's. */
#define ENTRIES_MAX 100000
#define TEXT_BYTES_MAX 4096
/* A query in a hostile file must not run forever. */
#define STEPS_MAX 20000000
#define STEPS_A_CALL 100000

struct operator_state {
	sqlite3 *db; /* NULL: read-only and there is no file */
	char *path;
	struct state_entry *entries;
	size_t n_entries, cap_entries;
	unsigned long steps;
};

static const char *const verb_names[STATE_VERBS] = {
	[STATE_ACK] = "ack", [STATE_MUTE] = "mute", [STATE_CLEAR] = "clear"};

const char *state_verb_name(enum state_verb verb)
{
	return verb < STATE_VERBS ? verb_names[verb] : "?";
}

/* Describe an error of SQLite. */
static int fail(const struct operator_state *s, const char *doing, struct lp_err *err)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
	int system = s->db ? sqlite3_system_errno(s->db) : 0;

	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return lp_err_sys(err, -ENOMEM, "cannot %s %s", doing, s->path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return lp_err_set(err, -EAGAIN,
			"cannot %s %s: another program has had it locked for %d s; try again",
			doing, s->path, BUSY_MS / 1000);
	case SQLITE_FULL:
		return lp_err_sys(err, -ENOSPC, "cannot %s %s", doing, s->path);
	case SQLITE_READONLY:
		return lp_err_set(err, -EACCES,
			"cannot %s %s: the file or its directory is not writable", doing, s->path);
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return lp_err_sys(err, system ? -system : -EACCES, "cannot %s %s", doing, s->path);
	case SQLITE_IOERR:
		return lp_err_sys(err, system ? -system : -EIO, "cannot %s %s", doing, s->path);
	default:
		return lp_err_set(err, -EBADMSG,
			"cannot %s %s: it is damaged or not a state file (%s); move it away, and "
			"'limpet ack', 'mute' or 'clear' create a new one",
			doing, s->path, sqlite3_errmsg(s->db));
	}
}

/* Called every STEPS_A_CALL steps of SQLite's virtual machine. */
static int count_steps(void *state)
{
	struct operator_state *s = state;

	s->steps += STEPS_A_CALL;
	return s->steps > STEPS_MAX;
}

/* Do not trust the file: allow no views, triggers or functions in its schema. */
static void harden(struct operator_state *s)
{
	sqlite3_busy_timeout(s->db, BUSY_MS);
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20);
	sqlite3_progress_handler(s->db, STEPS_A_CALL, count_steps, s);
}

static int run(struct operator_state *s, const char *sql, const char *doing, struct lp_err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, doing, err);
}

/* One number of the file's header or schema. */
static int ask(struct operator_state *s, const char *sql, int64_t *ret, struct lp_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = 0;

	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK ||
		sqlite3_step(stmt) != SQLITE_ROW)
		r = fail(s, "read", err);
	else
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return r;
}

/* Returns 1 for a state file of this version, 0 for an empty file, else an error. */
static int identify(struct operator_state *s, struct lp_err *err)
{
	int64_t application = 0, version = 0, things = 0;
	int r = ask(s, "PRAGMA application_id", &application, err);

	if (r == 0)
		r = ask(s, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = ask(s, "SELECT count(*) FROM sqlite_schema", &things, err);
	if (r < 0)
		return r;
	if (!application && !version && !things)
		return 0;
	if (application != APPLICATION_ID)
		return lp_err_set(err, -EBADMSG,
			"%s is the SQLite database of another program; name another file with "
			"--state or $LIMPET_STATE",
			s->path);
	if (version != SCHEMA_VERSION)
		return lp_err_set(err, -EBADMSG,
			"%s has version %lld of the format, and this limpet knows %d: use a newer "
			"limpet, or another file (--state)",
			s->path, (long long)version, SCHEMA_VERSION);
	return 1;
}

/* The same in one transaction: another process may initialise the file between two queries. */
static int identify_at_once(struct operator_state *s, struct lp_err *err)
{
	int r = run(s, "BEGIN", "read", err), ended;

	if (r < 0)
		return r;
	r = identify(s, err);
	ended = run(s, "END", "read", r < 0 ? NULL : err);
	return r < 0 ? r : (ended < 0 ? ended : r);
}

/* Create the table in an empty file. Another process may do so at the same time. */
static int create(struct operator_state *s, struct lp_err *err)
{
	static const char sql[] = "CREATE TABLE said ("
				  " component TEXT NOT NULL,"
				  " verb TEXT NOT NULL,"
				  " at_us INTEGER NOT NULL,"
				  " until_us INTEGER NOT NULL,"
				  " note TEXT NOT NULL,"
				  " PRIMARY KEY (component, verb)) WITHOUT ROWID;"
				  "PRAGMA application_id = 1280135252;"
				  "PRAGMA user_version = 1;";
	int r = run(s, "BEGIN IMMEDIATE", "write", err);

	_Static_assert(APPLICATION_ID == 1280135252 && SCHEMA_VERSION == 1, "they are in the SQL");
	if (r < 0)
		return r;
	r = identify(s, err);
	if (r == 0)
		r = run(s, sql, "write", err);
	if (r >= 0)
		r = run(s, "COMMIT", "write", err);
	if (r < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static void forget_entries(struct operator_state *s)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		free(s->entries[i].component);
		free(s->entries[i].note);
	}
	s->n_entries = 0;
}

/* A text column of at most TEXT_BYTES_MAX bytes without NUL, copied. */
static int take_text(
	struct operator_state *s, sqlite3_stmt *stmt, int column, char **ret, struct lp_err *err)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	int len = sqlite3_column_bytes(stmt, column);

	if (!text || len > TEXT_BYTES_MAX || strlen(text) != (size_t)len)
		return lp_err_set(err, -EBADMSG,
			"%s: entry %zu has invalid text; move the file away, or repair it with "
			"sqlite3",
			s->path, s->n_entries + 1);
	*ret = strdup(text);
	return *ret ? 0 : lp_err_sys(err, -ENOMEM, "cannot read %s", s->path);
}

static int take_verb(struct operator_state *s, sqlite3_stmt *stmt, int column, enum state_verb *ret,
	struct lp_err *err)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	for (unsigned i = 0; text && i < STATE_VERBS; i++) {
		if (!strcmp(text, verb_names[i])) {
			*ret = i;
			return 0;
		}
	}
	return lp_err_set(err, -EBADMSG, "%s: entry %zu says neither ack, mute nor clear", s->path,
		s->n_entries + 1);
}

static int take_entry(struct operator_state *s, sqlite3_stmt *stmt, struct lp_err *err)
{
	_cleanup_free_ char *component = NULL, *note = NULL;
	struct state_entry *e;
	enum state_verb verb = STATE_ACK;
	int r;

	if (s->n_entries >= ENTRIES_MAX)
		return lp_err_set(
			err, -EBADMSG, "%s has more than %d entries", s->path, ENTRIES_MAX);
	r = take_text(s, stmt, 0, &component, err);
	if (r == 0)
		r = take_verb(s, stmt, 1, &verb, err);
	if (r == 0)
		r = take_text(s, stmt, 4, &note, err);
	if (r < 0)
		return r;
	if (array_reserve(&s->entries, &s->cap_entries, s->n_entries + 1, sizeof(*e)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", s->path);
	e = &s->entries[s->n_entries++];
	*e = (struct state_entry){.component = TAKE_PTR(component),
		.verb = verb,
		.at_us = sqlite3_column_int64(stmt, 2),
		.until_us = sqlite3_column_int64(stmt, 3),
		.note = TAKE_PTR(note)};
	return 0;
}

/* Read all entries into memory: there are few, and they are used often. */
static int load(struct operator_state *s, struct lp_err *err)
{
	static const char sql[] =
		"SELECT component, verb, at_us, until_us, note FROM said ORDER BY component, verb";
	sqlite3_stmt *stmt = NULL;
	int r = 0, step = SQLITE_ROW;

	forget_entries(s);
	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		r = fail(s, "read", err);
	while (r == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW)
		r = take_entry(s, stmt, err);
	if (r == 0 && step != SQLITE_DONE)
		r = fail(s, "read", err);
	sqlite3_finalize(stmt);
	return r;
}

/* May limpet use this file? It must not be a link of another user. And root must not use a file
 * that belongs to another user, who could change it, or that has several names. */
static int check_file(const struct stat *st, const char *path, struct lp_err *err)
{
	bool ours = st->st_uid == 0 || st->st_uid == geteuid();

	if (!ours && (S_ISLNK(st->st_mode) || geteuid() == 0))
		return lp_err_set(err, -EPERM, "cannot open %s: it belongs to another user", path);
	if (S_ISREG(st->st_mode) && st->st_nlink > 1 && geteuid() == 0)
		return lp_err_set(
			err, -EMLINK, "cannot open %s: the file has more than one hard link", path);
	if (S_ISFIFO(st->st_mode))
		return lp_err_set(err, -EINVAL, "cannot open %s: it is not a regular file", path);
	return 0;
}

/* The path for SQLite, without any symbolic link. */
static int resolve(const char *path, char **ret, struct lp_err *err)
{
	_cleanup_close_ int dir = dir_open_of(path, err);
	_cleanup_free_ char *whole = NULL;
	char fd_path[64], dir_path[PATH_MAX];
	struct stat st;
	ssize_t len;
	int r;

	if (dir == -ENOENT)
		return lp_err_set(err, dir,
			"cannot open %s: its directory does not exist; make it, or name another "
			"file with --state",
			path);
	if (dir < 0)
		return dir;
	if (fstatat(dir, path_basename(path), &st, AT_SYMLINK_NOFOLLOW) == 0) {
		r = check_file(&st, path, err);
		if (r < 0)
			return r;
		if (S_ISLNK(st.st_mode)) {
			*ret = realpath(path, NULL);
			return *ret ? 0 : lp_err_sys(err, -errno, "cannot open %s", path);
		}
	}
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", dir);
	len = readlink(fd_path, dir_path, sizeof(dir_path) - 1);
	if (len < 0)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	dir_path[len] = '\0';
	if (asprintf(&whole, "%s/%s", dir_path, path_basename(path)) < 0) {
		whole = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
	}
	*ret = TAKE_PTR(whole);
	return 0;
}

static int open_file(struct operator_state *s, bool read_only, struct lp_err *err)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	_cleanup_free_ char *place = NULL;
	int r;

	if (read_only && access(s->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = resolve(s->path, &place, err);
	if (r < 0)
		return r;
	r = sqlite3_open_v2(
		place, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
	if (r != SQLITE_OK)
		return fail(s, "open", err);
	harden(s);
	r = identify_at_once(s, err);
	if (r == 0 && !read_only)
		r = create(s, err);
	else if (r == 0)
		return 0; /* an empty file has no entries */
	return r < 0 ? r : load(s, err);
}

DEFINE_CLEANUP(struct operator_state *, state_close);

int state_open(const char *path, bool read_only, struct operator_state **ret, struct lp_err *err)
{
	_cleanup_(state_closep) struct operator_state *s = calloc(1, sizeof(*s));
	int r;

	if (s)
		s->path = strdup(path);
	if (!s || !s->path)
		return lp_err_sys(err, -ENOMEM, "cannot open %s", path);
	r = open_file(s, read_only, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

void state_close(struct operator_state *s)
{
	if (!s)
		return;
	forget_entries(s);
	free(s->entries);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

/* Run a statement with bound parameters, and reload all entries. */
static int finish(struct operator_state *s, sqlite3_stmt *stmt, bool bound, struct lp_err *err)
{
	int r = bound && sqlite3_step(stmt) == SQLITE_DONE ? 0 : fail(s, "write", err);

	sqlite3_finalize(stmt);
	return r == 0 ? load(s, err) : r;
}

static int check_text(const char *what, const char *text, struct lp_err *err)
{
	if (strlen(text) > TEXT_BYTES_MAX)
		return lp_err_set(err, -EINVAL, "a %s has at most %d bytes", what, TEXT_BYTES_MAX);
	return 0;
}

int state_say(struct operator_state *s, const struct state_entry *entry, struct lp_err *err)
{
	static const char sql[] = "INSERT OR REPLACE INTO said VALUES (?, ?, ?, ?, ?)";
	const char *note = entry->note ? entry->note : "";
	sqlite3_stmt *stmt = NULL;
	bool bound;

	if (check_text("component", entry->component, err) < 0 || check_text("note", note, err) < 0)
		return -EINVAL;
	if (!*entry->component)
		return lp_err_set(err, -EINVAL, "a component must have a name");
	s->steps = 0;
	bound = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_bind_text(stmt, 1, entry->component, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(stmt, 2, state_verb_name(entry->verb), -1, SQLITE_STATIC) ==
			SQLITE_OK &&
		sqlite3_bind_int64(stmt, 3, entry->at_us) == SQLITE_OK &&
		sqlite3_bind_int64(stmt, 4, entry->until_us) == SQLITE_OK &&
		sqlite3_bind_text(stmt, 5, note, -1, SQLITE_STATIC) == SQLITE_OK;
	return finish(s, stmt, bound, err);
}

int state_forget(struct operator_state *s, enum state_verb verb, const char *component,
	unsigned *ret_n, struct lp_err *err)
{
	static const char sql[] = "DELETE FROM said WHERE component = ? AND verb = ?";
	sqlite3_stmt *stmt = NULL;
	bool bound;
	int r;

	s->steps = 0;
	bound = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_bind_text(stmt, 1, component, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(stmt, 2, state_verb_name(verb), -1, SQLITE_STATIC) == SQLITE_OK;
	r = finish(s, stmt, bound, err);
	if (r == 0)
		*ret_n = (unsigned)sqlite3_changes(s->db);
	return r;
}

const struct state_entry *state_entries(const struct operator_state *s, unsigned *ret_n)
{
	*ret_n = (unsigned)s->n_entries;
	return s->entries;
}

/* A name may have brackets of its own ("tcp:[fe80::1]:in"), so it does not match itself as a
 * glob. */
static bool is_meant(const struct state_entry *e, const char *component)
{
	return !strcmp(e->component, component) || fnmatch(e->component, component, 0) == 0;
}

bool state_holds(
	const struct operator_state *s, enum state_verb verb, const char *component, int64_t at_us)
{
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct state_entry *e = &s->entries[i];

		if (e->verb == verb && e->at_us <= at_us &&
			(e->until_us == 0 || at_us < e->until_us) && is_meant(e, component))
			return true;
	}
	return false;
}

int64_t state_cleared(const struct operator_state *s, const char *component)
{
	int64_t latest = 0;

	for (size_t i = 0; i < s->n_entries; i++) {
		const struct state_entry *e = &s->entries[i];

		if (e->verb == STATE_CLEAR && e->at_us > latest && is_meant(e, component))
			latest = e->at_us;
	}
	return latest;
}

static const char *named_path(void)
{
	const char *path = getenv("LIMPET_STATE");

	return path && *path ? path : NULL;
}

char *state_default_path(void)
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *text = NULL;
	int r;

	if (named_path())
		return strdup(named_path());
	if (geteuid() == 0)
		return strdup("/var/lib/limpet/state.db");
	if (base && *base)
		r = asprintf(&text, "%s/limpet/state.db", base);
	else
		r = asprintf(&text, "%s/.local/state/limpet/state.db", home && *home ? home : ".");
	return r < 0 ? NULL : text;
}

int state_default_dir_make(struct lp_err *err)
{
	_cleanup_free_ char *path = named_path() ? NULL : state_default_path();
	char *slash = path ? strrchr(path, '/') : NULL;
	_cleanup_close_ int fd = -1;

	if (!slash)
		return named_path() ? 0 : lp_err_sys(err, -ENOMEM, "cannot begin");
	*slash = '\0';
	fd = dir_make(path, geteuid() == 0 ? 0755 : 0700, err);
	return fd < 0 ? fd : 0;
}
