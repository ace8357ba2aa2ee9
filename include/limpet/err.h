/* Errors: every function that can fail returns 0 (or a count) on success and a negative errno on
 * failure, and writes one sentence for the user into a `struct lp_err`. The library never prints.
 */
#ifndef LIMPET_ERR_H
#define LIMPET_ERR_H

#include <stdarg.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* A failure, described once, at the place that knows most about it. */
struct lp_err {
	int code;	/* a negative errno, 0 when nothing failed */
	char text[504]; /* one sentence without a final newline */
};

/* Describe a failure: `code` is a negative errno. Returns `code`, so that callers can write
 * `return lp_err_set(err, -EINVAL, ...)`. `err` may be NULL. */
int lp_err_set(struct lp_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As lp_err_set(), and appends ": " and the system's text for `code`. */
int lp_err_sys(struct lp_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "PREFIX: " before the text of a failure of a called function. Returns err->code, or -EIO if
 * `err` is NULL or empty. */
int lp_err_prefix(struct lp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Receives the warnings of a long operation: what was wrong, where, and what was kept.
 * `warn` may be NULL. */
struct lp_warn {
	void (*warn)(void *ctx, const char *text);
	void *ctx;
	unsigned long count; /* the number of warnings, even if `warn` is NULL */
};

/* Raise a warning. `w` may be NULL. */
void lp_warn_raise(struct lp_warn *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
