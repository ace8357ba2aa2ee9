/* Helpers for SQLite: statements and their values in one call. */
#ifndef SERVE_DB_H
#define SERVE_DB_H

#include <limpet/err.h>
#include <sqlite3.h>
#include <stdint.h>

/* Open a file with a write-ahead log, and create it if it does not exist; NULL: in memory. `schema`
 * creates the tables of an empty database. -EBADMSG: it is another file, or has another version. */
int db_open(const char *path, int application, int version, const char *schema, sqlite3 **ret,
	struct lp_err *err);

/* Describe the last error. */
int db_fail(sqlite3 *db, const char *doing, struct lp_err *err);

/* Run statements without values. */
int db_exec(sqlite3 *db, const char *sql, struct lp_err *err);

/* Run one statement. `types` has the types of the values that follow: i an int64_t, d a double
 * (NaN: NULL), t a text (NULL: NULL). */
int db_run(sqlite3 *db, struct lp_err *err, const char *sql, const char *types, ...);

/* Begin a query with such values; call db_step() for each row, then sqlite3_finalize(). */
int db_query(sqlite3 *db, sqlite3_stmt **ret, struct lp_err *err, const char *sql,
	const char *types, ...);

/* 1: there is a row; 0: there are no more. */
int db_step(sqlite3_stmt *stmt, struct lp_err *err);

/* The value of a column; NULL becomes "", or NaN. */
const char *db_text(sqlite3_stmt *stmt, int column);
double db_real(sqlite3_stmt *stmt, int column);

#endif
