#include "import/remote/answer.h"

#include "base/safe_text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest time of a sample, in seconds since 1970: the year 9999. */
#define SECONDS_MAX 253402300800.0

const char *answer_label(const void *series, const char *label)
{
	const struct answer_series *s = series;

	return json_string_value(json_object_get(s->labels, label));
}

int answer_sample(const struct answer_series *s, size_t i, int64_t *ret_ms, double *ret_value)
{
	const json_t *sample = json_array_get(s->values, i), *time, *value;
	const char *text;
	double seconds;
	char *end;

	if (!sample)
		return 0;
	time = json_array_get(sample, 0);
	value = json_array_get(sample, 1);
	text = json_string_value(value);
	seconds = json_number_value(time);
	if (!json_is_number(time) || !text || !(fabs(seconds) < SECONDS_MAX))
		return -EBADMSG;
	*ret_value = strtod(text, &end);
	if (end == text || *end)
		return -EBADMSG;
	*ret_ms = llround(seconds * 1000);
	return 1;
}

static int not_understood(const char *text, size_t len, const char *what, struct lp_err *err)
{
	char begin[120];

	answer_error(text, len, begin, sizeof(begin));
	return lp_err_set(err, -EBADMSG, "the answer is not Prometheus' (%s): %s", what, begin);
}

/* The "data" of a successful answer. The caller releases `*ret_root`. */
static int data_get(const char *text, size_t len, json_t **ret_root, const json_t **ret_data,
	struct lp_err *err)
{
	json_error_t fault;
	const char *status;

	*ret_root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &fault);
	if (!*ret_root && fault.position >= (int)len)
		return lp_err_set(err, -EBADMSG, "the answer breaks off after %zu bytes: %s", len,
			fault.text);
	if (!*ret_root) {
		char what[200];

		snprintf(what, sizeof(what), "byte %d: %s", fault.position, fault.text);
		safe_text_make(what);
		return not_understood(text, len, what, err);
	}
	status = json_string_value(json_object_get(*ret_root, "status"));
	*ret_data = json_object_get(*ret_root, "data");
	if (!status || strcmp(status, "success") != 0 || !*ret_data)
		return not_understood(text, len, "no status 'success' and data", err);
	return 0;
}

static int series_give(const char *text, size_t len, const json_t *data, answer_series_fn fn,
	void *ctx, struct lp_err *err)
{
	const char *type = json_string_value(json_object_get(data, "resultType"));
	const json_t *result = json_object_get(data, "result");
	int r = 0;

	if (!type || strcmp(type, "matrix") != 0 || !json_is_array(result))
		return not_understood(text, len, "no matrix", err);
	for (size_t i = 0; r == 0 && i < json_array_size(result); i++) {
		const json_t *item = json_array_get(result, i);
		struct answer_series s = {.labels = json_object_get(item, "metric"),
			.values = json_object_get(item, "values")};

		if (!json_is_object(s.labels) || !json_is_array(s.values))
			return not_understood(text, len, "a series without metric or values", err);
		r = fn ? fn(ctx, &s, err) : 0;
	}
	return r;
}

int answer_parse(const char *text, size_t len, answer_series_fn fn, void *ctx, struct lp_err *err)
{
	const json_t *data = NULL;
	json_t *root = NULL;
	int r = data_get(text, len, &root, &data, err);

	if (r == 0)
		r = series_give(text, len, data, fn, ctx, err);
	json_decref(root);
	return r;
}

int answer_parse_words(const char *text, size_t len,
	int (*fn)(void *ctx, const char *word, struct lp_err *err), void *ctx, struct lp_err *err)
{
	const json_t *data = NULL;
	json_t *root = NULL;
	int r = data_get(text, len, &root, &data, err);

	if (r == 0 && !json_is_array(data))
		r = not_understood(text, len, "no list", err);
	for (size_t i = 0; r == 0 && i < json_array_size(data); i++) {
		const char *word = json_string_value(json_array_get(data, i));

		r = word ? fn(ctx, word, err) : not_understood(text, len, "no words", err);
	}
	json_decref(root);
	return r;
}

void answer_error(const char *text, size_t len, char *buf, size_t size)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	const char *said = json_string_value(json_object_get(root, "error"));

	if (said)
		snprintf(buf, size, "%s", said);
	else
		snprintf(buf, size, "'%.*s'", (int)(len < 60 ? len : 60), len ? text : "");
	for (char *p = buf; *p; p++) {
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = ' ';
	}
	safe_text_make(buf);
	json_decref(root);
}
