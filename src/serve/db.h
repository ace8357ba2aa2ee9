/* Helpers for SQLite: statements with their values in one call. */
#ifndef SERVE_DB_H
#define SERVE_DB_H

#include <limpet/err.h>
#include <sqlite3.h>
#include <stdint.h>

/* Open a file, which is made if it does not exist, with a write-ahead log; NULL: in memory.
 * `schema` makes the tables of an empty one. -EBADMSG: it is something else, or of another
 * version. */
int db_open(const char *path, int application, int version, const char *schema, sqlite3 **ret,
	struct lp_err *err);

/* Describe the last error. */
int db_fail(sqlite3 *db, const char *doing, struct lp_err *err);

/* Run statements without values. */
int db_exec(sqlite3 *db, const char *sql, struct lp_err *err);

/* Run one statement. `types` has the types of the values that follow: i an int64_t, d a double
 * (NaN: NULL), t a text (NULL: NULL). */
int db_run(sqlite3 *db, struct lp_err *err, const char *sql, const char *types, ...);

/* Begin a query with such values; step through it with db_step(), then sqlite3_finalize(). */
int db_query(sqlite3 *db, sqlite3_stmt **ret, struct lp_err *err, const char *sql,
	const char *types, ...);

/* 1: there is a row; 0: there are no more. */
int db_step(sqlite3_stmt *stmt, struct lp_err *err);

/* A column: "" for NULL; NaN for NULL. */
const char *db_text(sqlite3_stmt *stmt, int column);
double db_real(sqlite3_stmt *stmt, int column);

#endif
