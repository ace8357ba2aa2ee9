#include "model/topology_table.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "model/topology_def.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (64u << 20)
#define COLUMNS_MAX 64

/* A table that is being read. */
struct table_reader {
	struct topology_table *t;
	const char *name;
	unsigned line;
	char *rest;	      /* of the text */
	int key[COLUMNS_MAX]; /* [column] index among the keys, or -1: an attribute */
	size_t n_columns;
};

void topology_table_free(struct topology_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_attributes; i++)
		free(t->attributes[i]);
	free(t->attributes);
	free(t->keys);
	free(t->values);
	strmap_release(&t->rows);
	free(t->text);
	free(t);
}

DEFINE_CLEANUP(struct topology_table *, topology_table_free);

/* Remove spaces at both ends. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* The next line that is neither empty nor a comment, or NULL. */
static char *line_next(struct table_reader *r)
{
	while (r->rest) {
		char *line = trim(strsep(&r->rest, "\n"));

		r->line++;
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

/* Split a line into its fields in place; returns their number, or a negative errno. */
static int fields_split(
	const struct table_reader *r, char *line, char *ret[COLUMNS_MAX], struct lp_err *err)
{
	int n = 0;

	if (strchr(line, '"'))
		return lp_err_set(
			err, -EINVAL, "%s:%u: fields have no quotes here", r->name, r->line);
	while (line) {
		if (n == COLUMNS_MAX)
			return lp_err_set(err, -EINVAL, "%s:%u: more than %d columns", r->name,
				r->line, COLUMNS_MAX);
		ret[n++] = trim(strsep(&line, ","));
	}
	return n;
}

static int key_add(struct table_reader *r, struct text_part part)
{
	struct topology_table *t = r->t;

	if (array_reserve(&t->keys, &t->cap_keys, t->n_keys + 1, sizeof(*t->keys)) < 0)
		return -ENOMEM;
	r->key[r->n_columns] = (int)t->n_keys;
	t->keys[t->n_keys++] = part;
	return 0;
}

static int attribute_add(struct table_reader *r, const char *name)
{
	struct topology_table *t = r->t;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	if (array_reserve(&t->attributes, &t->cap_attributes, t->n_attributes + 1,
		    sizeof(*t->attributes)) < 0)
		return -ENOMEM;
	r->key[r->n_columns] = -1;
	t->attributes[t->n_attributes] = strdup(name);
	return t->attributes[t->n_attributes++] ? 0 : -ENOMEM;
}

static int column_add(
	struct table_reader *r, const char *name, const struct pattern *p, struct lp_err *err)
{
	struct text_part part;
	int rc;

	if (!topology_is_word(name, strlen(name)))
		return lp_err_set(err, -EINVAL,
			"%s:%u: column %zu is called '%.64s', which is not a name (letters, "
			"digits, - and _)",
			r->name, r->line, r->n_columns + 1, name);
	rc = text_part_find(p, name, &part, NULL) == 0 ? key_add(r, part) : attribute_add(r, name);
	r->n_columns++;
	return rc < 0 ? lp_err_sys(err, rc, "cannot read %s", r->name) : 0;
}

static int header_parse(struct table_reader *r, const struct pattern *p, struct lp_err *err)
{
	char *fields[COLUMNS_MAX], *line = line_next(r);
	int n = line ? fields_split(r, line, fields, err) : 0, rc = 0;

	if (!line)
		return lp_err_set(err, -EINVAL, "%s: the table is empty", r->name);
	if (n < 0)
		return n;
	for (int i = 0; rc == 0 && i < n; i++) {
		for (int before = 0; before < i; before++) {
			if (!strcmp(fields[before], fields[i]))
				return lp_err_set(err, -EINVAL,
					"%s:%u: column '%.64s' is given twice", r->name, r->line,
					fields[i]);
		}
		rc = column_add(r, fields[i], p, err);
	}
	if (rc < 0)
		return rc;
	if (!r->t->n_keys)
		return lp_err_set(err, -EINVAL,
			"%s:%u: no column says which components a line is about: 'component', or a "
			"capture of the rule's match",
			r->name, r->line);
	if (!r->t->n_attributes)
		return lp_err_set(
			err, -EINVAL, "%s:%u: no column is an attribute", r->name, r->line);
	return 0;
}

/* Leading zeros do not matter: 7 in a list matches 07 in a name. */
static void key_append(struct strbuf *key, const char *text, size_t len)
{
	uint64_t number;

	if (topology_number(text, len, &number)) {
		while (len > 1 && *text == '0') {
			text++;
			len--;
		}
	}
	strbuf_add(key, text, len);
	strbuf_putc(key, '\x1f');
}

static int row_store(
	struct table_reader *r, char *const *fields, struct strbuf *key, struct lp_err *err)
{
	struct topology_table *t = r->t;
	size_t at = t->n_rows * t->n_attributes;
	uint32_t before;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	if (array_reserve(&t->values, &t->cap_values, at + t->n_attributes, sizeof(*t->values)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", r->name);
	strbuf_reset(key);
	for (size_t i = 0; i < r->n_columns; i++) {
		if (r->key[i] >= 0)
			key_append(key, fields[i], strlen(fields[i]));
		else
			t->values[at++] = fields[i];
	}
	if (!key->failed && strmap_get(&t->rows, key->text, &before))
		return lp_err_set(
			err, -EINVAL, "%s:%u: an earlier line has the same key", r->name, r->line);
	if (key->failed || strmap_put(&t->rows, key->text, (uint32_t)t->n_rows) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", r->name);
	t->n_rows++;
	return 0;
}

static int rows_parse(struct table_reader *r, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf key = {0};
	char *fields[COLUMNS_MAX], *line;
	int rc = 0;

	while (rc == 0 && (line = line_next(r))) {
		int n = fields_split(r, line, fields, err);

		if (n < 0)
			return n;
		if ((size_t)n != r->n_columns)
			return lp_err_set(err, -EINVAL,
				"%s:%u: %d fields where the first line has %zu", r->name, r->line,
				n, r->n_columns);
		rc = row_store(r, fields, &key, err);
	}
	return rc;
}

int topology_table_parse(const char *text, size_t len, const char *name, const struct pattern *p,
	struct topology_table **ret, struct lp_err *err)
{
	_cleanup_(topology_table_freep) struct topology_table *t = calloc(1, sizeof(*t));
	struct table_reader r = {.t = t, .name = name};
	int rc;

	if (t)
		t->text = strndup(text, len);
	if (!t || !t->text)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	if (strlen(t->text) != len)
		return lp_err_set(err, -EINVAL, "%s: byte %zu is 0: this is not text", name,
			strlen(t->text) + 1);
	r.rest = t->text;
	rc = header_parse(&r, p, err);
	if (rc == 0)
		rc = rows_parse(&r, err);
	if (rc < 0)
		return rc;
	*ret = TAKE_PTR(t);
	return 0;
}

int topology_table_read(
	const char *path, const struct pattern *p, struct topology_table **ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = file_slurp(path, FILE_MAX_BYTES, &text, &size, err);

	return r < 0 ? r : topology_table_parse(text, size, path, p, ret, err);
}

const char *topology_table_get(const struct topology_table *t, const char *attribute,
	const struct lp_identity *component, const struct pattern_match *match)
{
	_cleanup_(strbuf_release) struct strbuf key = {0};
	const char *value = NULL;
	size_t at = 0;
	uint32_t row;

	while (at < t->n_attributes && strcmp(t->attributes[at], attribute) != 0)
		at++;
	if (at == t->n_attributes)
		return NULL;
	for (size_t i = 0; i < t->n_keys; i++) {
		size_t len;
		const char *text = text_part_get(&t->keys[i], component, match, &len);

		key_append(&key, text, len);
	}
	if (!key.failed && strmap_get(&t->rows, key.text, &row))
		value = t->values[(size_t)row * t->n_attributes + at];
	return value && *value ? value : NULL;
}
