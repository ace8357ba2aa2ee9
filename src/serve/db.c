#include "serve/db.h"

#include "base/cleanup.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUSY_MS 5000

int db_fail(sqlite3 *db, const char *doing, struct lp_err *err)
{
	const char *path = db ? sqlite3_db_filename(db, "main") : "";
	int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
	int r = code == SQLITE_NOMEM				  ? -ENOMEM
		: code == SQLITE_FULL				  ? -ENOSPC
		: code == SQLITE_BUSY || code == SQLITE_LOCKED	  ? -EAGAIN
		: code == SQLITE_READONLY			  ? -EACCES
		: code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? -EBADMSG
								  : -EIO;

	return lp_err_set(err, r, "cannot %s %s: %s", doing, path && *path ? path : "the database",
		db ? sqlite3_errmsg(db) : "no memory");
}

int db_exec(sqlite3 *db, const char *sql, struct lp_err *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(db, "use", err);
}

/* Bind values, in the order of `types`. */
static int bind(sqlite3_stmt *stmt, const char *types, va_list values)
{
	int r = SQLITE_OK;

	for (int i = 0; r == SQLITE_OK && types[i]; i++) {
		const char *text;
		double real;

		switch (types[i]) {
		case 'i':
			r = sqlite3_bind_int64(stmt, i + 1, va_arg(values, int64_t));
			break;
		case 'd':
			real = va_arg(values, double);
			r = isfinite(real) ? sqlite3_bind_double(stmt, i + 1, real)
					   : sqlite3_bind_null(stmt, i + 1);
			break;
		default:
			text = va_arg(values, const char *);
			r = sqlite3_bind_text(stmt, i + 1, text, -1, SQLITE_TRANSIENT);
		}
	}
	return r;
}

static int prepare(sqlite3 *db, sqlite3_stmt **ret, struct lp_err *err, const char *sql,
	const char *types, va_list values)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
		bind(stmt, types, values) != SQLITE_OK) {
		int r = db_fail(db, "use", err);

		sqlite3_finalize(stmt);
		return r;
	}
	*ret = stmt;
	return 0;
}

int db_run(sqlite3 *db, struct lp_err *err, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt = NULL;
	va_list values;
	int r;

	va_start(values, types);
	r = prepare(db, &stmt, err, sql, types, values);
	va_end(values);
	if (r < 0)
		return r;
	r = db_step(stmt, err);
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

int db_query(sqlite3 *db, sqlite3_stmt **ret, struct lp_err *err, const char *sql,
	const char *types, ...)
{
	va_list values;
	int r;

	va_start(values, types);
	r = prepare(db, ret, err, sql, types, values);
	va_end(values);
	return r;
}

int db_step(sqlite3_stmt *stmt, struct lp_err *err)
{
	int r = sqlite3_step(stmt);

	if (r == SQLITE_ROW)
		return 1;
	return r == SQLITE_DONE ? 0 : db_fail(sqlite3_db_handle(stmt), "use", err);
}

const char *db_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "";
}

double db_real(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		? (double)NAN
		: sqlite3_column_double(stmt, column);
}

static int number(sqlite3 *db, const char *sql, int64_t *ret, struct lp_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int r = db_query(db, &stmt, err, sql, "");

	if (r == 0)
		r = db_step(stmt, err);
	if (r > 0)
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

/* Is it a database of this application? An empty one is initialised. */
static int claim(sqlite3 *db, int application, int version, const char *schema, struct lp_err *err)
{
	int64_t app = 0, ver = 0, things = 0;
	char sql[120];
	int r = number(db, "PRAGMA application_id", &app, err);

	if (r == 0)
		r = number(db, "PRAGMA user_version", &ver, err);
	if (r == 0)
		r = number(db, "SELECT count(*) FROM sqlite_schema", &things, err);
	if (r < 0)
		return r;
	if (app == application && ver == version)
		return 0;
	if (app || ver || things)
		return lp_err_set(err, -EBADMSG,
			app == application
				? "%s was made by another version of limpet; move it away"
				: "%s is the database of another program; move it away",
			sqlite3_db_filename(db, "main"));
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		application, version);
	r = db_exec(db, schema, err);
	return r < 0 ? r : db_exec(db, sql, err);
}

static int open_file(
	sqlite3 *db, int application, int version, const char *schema, struct lp_err *err)
{
	int r;

	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	r = db_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", err);
	if (r == 0)
		r = db_exec(db, "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	r = claim(db, application, version, schema, err);
	if (r == 0)
		return db_exec(db, "COMMIT", err);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int db_open(const char *path, int application, int version, const char *schema, sqlite3 **ret,
	struct lp_err *err)
{
	sqlite3 *db = NULL;
	int r;

	if (sqlite3_open_v2(path ? path : ":memory:", &db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
		    NULL) != SQLITE_OK)
		r = db_fail(db, "open", err);
	else
		r = open_file(db, application, version, schema, err);
	if (r < 0) {
		sqlite3_close(db);
		return path ? lp_err_prefix(err, "%s", path) : r;
	}
	*ret = TAKE_PTR(db);
	return 0;
}
