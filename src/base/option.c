#include "base/option.h"

#include "base/meant.h"
#include "base/time.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bytes_parse(const char *text, uint64_t *ret_bytes, struct lp_err *err)
{
	static const char units[] = "BKMGT";
	char *end;
	double value = strtod(text, &end);
	double scale = 1;

	if (end != text && *end) {
		const char *unit = strchr(units, toupper((unsigned char)*end));

		if (unit) {
			scale = exp2(10.0 * (double)(unit - units));
			end++;
			end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0;
		}
	}
	if (end == text || *end || !isfinite(value) || value < 0 || value * scale >= 0x1p63)
		return lp_err_set(err, -EINVAL,
			"'%.64s' is not a number of bytes (want 4096, 10M, 2G)", text);
	*ret_bytes = (uint64_t)(value * scale);
	return 0;
}

static int uint_parse(const char *text, uint64_t *ret, struct lp_err *err)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno)
		return lp_err_set(err, -EINVAL, "'%.64s' is not a whole number", text);
	*ret = value;
	return 0;
}

static int list_append(struct option_list *list, const char *text, struct lp_err *err)
{
	if (list->n >= OPTION_LIST_MAX)
		return lp_err_set(err, -E2BIG, "given more than %d times", OPTION_LIST_MAX);
	list->items[list->n++] = text;
	return 0;
}

static int option_store(
	const struct option_def *def, void *values, const char *text, struct lp_err *err)
{
	void *member = (char *)values + def->offset;
	int r = 0;

	switch (def->type) {
	case OPTION_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_STRING:
		*(const char **)member = text;
		break;
	case OPTION_LIST:
	case OPTION_PAIRS:
		r = list_append(member, text, err);
		break;
	case OPTION_UINT:
		r = uint_parse(text, member, err);
		break;
	case OPTION_SPAN:
		r = span_parse(text, member, err);
		if (r == 0 &&
			*(int64_t *)member == 0) /* 0 would mean that the option was not given */
			r = lp_err_set(err, -EINVAL, "a span of time must be longer than 0");
		break;
	case OPTION_TIME:
		r = time_parse_typed(text, clock_us(CLOCK_REALTIME), member, err);
		break;
	case OPTION_BYTES:
		r = bytes_parse(text, member, err);
		break;
	}
	return r < 0 ? lp_err_prefix(err, "--%s", def->name) : 0;
}

/* Find "name" (of `len` bytes) or a letter in all tables. */
static const struct option_def *option_find(const struct option_table *tables, size_t n_tables,
	const char *name, size_t len, char letter, void **ret_values)
{
	for (size_t t = 0; t < n_tables; t++) {
		for (const struct option_def *d = tables[t].defs; d && d->name; d++) {
			bool hit = letter ? d->letter == letter
					  : strlen(d->name) == len && !strncmp(d->name, name, len);

			if (hit) {
				*ret_values = tables[t].values;
				return d;
			}
		}
	}
	return NULL;
}

/* "unknown option '--jsno'; did you mean '--json'?" A single letter is too short for a
 * suggestion. */
static int option_unknown(const char *arg, size_t len, const struct option_table *tables,
	size_t n_tables, struct lp_err *err)
{
	char word[MEANT_MAX + 1] = "", name[MEANT_MAX + 1];
	struct meant m = {.word = word};

	if (len)
		snprintf(word, sizeof(word), "%.*s", (int)len + 2, arg);
	for (size_t t = 0; len && t < n_tables; t++) {
		for (const struct option_def *d = tables[t].defs; d && d->name; d++) {
			snprintf(name, sizeof(name), "--%s", d->name);
			meant_consider(&m, name);
		}
	}
	return lp_err_set(err, -EINVAL, "unknown option '%.*s'%s", len ? (int)len + 2 : 2, arg,
		meant_question(&m));
}

/* Parse an argument that begins with "-". `*i` advances if the next one is its value. */
static int option_take(int argc, char **argv, int *i, const struct option_table *tables,
	size_t n_tables, struct lp_err *err)
{
	const char *arg = argv[*i];
	bool is_long = arg[1] == '-';
	const char *name = arg + (is_long ? 2 : 1);
	size_t len = is_long ? strcspn(name, "=") : 1;
	const char *value =
		is_long ? (name[len] ? name + len + 1 : NULL) : (name[1] ? name + 1 : NULL);
	void *values = NULL;
	const struct option_def *def =
		option_find(tables, n_tables, name, len, is_long ? 0 : name[0], &values);

	if (!def)
		return option_unknown(arg, is_long ? len : 0, tables, n_tables, err);
	if (def->type == OPTION_FLAG) {
		if (value)
			return lp_err_set(err, -EINVAL, "--%s takes no value", def->name);
	} else if (!value) {
		if (*i + 1 >= argc)
			return lp_err_set(err, -EINVAL, "--%s needs %s", def->name, def->arg);
		value = argv[++*i];
	}
	if (def->type == OPTION_PAIRS) {
		int r = option_store(def, values, value, err);

		if (r < 0)
			return r;
		if (*i + 1 >= argc)
			return lp_err_set(err, -EINVAL, "--%s needs %s", def->name, def->arg);
		value = argv[++*i];
	}
	return option_store(def, values, value, err);
}

int option_parse(int argc, char **argv, const struct option_table *tables, size_t n_tables,
	enum option_order order, int *ret_n_args, struct lp_err *err)
{
	bool only_args = false;
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (!only_args && !strcmp(argv[i], "--")) {
			only_args = true;
		} else if (!only_args && argv[i][0] == '-' && argv[i][1]) {
			int r = option_take(argc, argv, &i, tables, n_tables, err);

			if (r < 0)
				return r;
		} else {
			argv[n++] = argv[i];
			only_args |= order == OPTION_IN_FRONT;
		}
	}
	*ret_n_args = n;
	return 0;
}
