/* Reads the answers of Prometheus' HTTP API (and of compatible servers): series with their samples,
 * lists of words, and errors.
 */
#ifndef IMPORT_REMOTE_ANSWER_H
#define IMPORT_REMOTE_ANSWER_H

#include <jansson.h>
#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

/* One series of an answer; valid during the callback. */
struct answer_series {
	const json_t *labels; /* an object of strings */
	const json_t *values; /* a list of [seconds, "value"] */
};

/* The value of a label, or NULL. The first argument is a struct answer_series, so that this fits
 * mapping_label_fn. */
const char *answer_label(const void *series, const char *label);

/* Sample number `i`: its time in milliseconds and its value, which may be NaN or infinite. 1, 0
 * after the last, -EBADMSG if it is not a sample. */
int answer_sample(const struct answer_series *s, size_t i, int64_t *ret_ms, double *ret_value);

/* A non-zero result stops and is returned. */
typedef int (*answer_series_fn)(void *ctx, const struct answer_series *s, struct lp_err *err);

/* Read a successful answer of type matrix, and call `fn` for each series. -EBADMSG: it is not such
 * an answer, and `err` says why. `fn` may be NULL. */
int answer_parse(const char *text, size_t len, answer_series_fn fn, void *ctx, struct lp_err *err);

/* Read an answer that is a list of words, and call `fn` for each. */
int answer_parse_words(const char *text, size_t len,
	int (*fn)(void *ctx, const char *word, struct lp_err *err), void *ctx, struct lp_err *err);

/* The description of a failed answer: the text of its error, or the beginning of the answer if it
 * is not JSON. */
void answer_error(const char *text, size_t len, char *buf, size_t size);

#endif
