/* Reads verdicts that `limpet diagnose --json` printed. */
#include "explain/score.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define VERDICT_BYTES_MAX ((size_t)1 << 29)

static int bad(struct lp_err *err, const char *name, const char *what)
{
	return lp_err_set(err, -EBADMSG, "%s: this is not a verdict of limpet: %s", name, what);
}

static int no_memory(struct lp_err *err, const char *name)
{
	return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
}

/* The array under a key that must exist. */
static int array_of(
	const json_t *object, const char *key, const char *name, json_t **ret, struct lp_err *err)
{
	*ret = json_object_get(object, key);
	if (json_is_array(*ret))
		return 0;
	return lp_err_set(err, -EBADMSG,
		"%s: this is not a verdict of limpet: it has no list \"%s\"", name, key);
}

static int take_components(
	struct score_verdict *v, const json_t *group, const char *name, struct lp_err *err)
{
	json_t *list, *item;
	size_t i;
	int r = array_of(group, "components", name, &list, err);

	if (r < 0)
		return r;
	if (array_reserve(&v->components, &v->cap_components,
		    v->n_components + json_array_size(list), sizeof(*v->components)) < 0)
		return no_memory(err, name);
	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			return bad(err, name, "a component is not a string");
		v->components[v->n_components] = strdup(json_string_value(item));
		if (!v->components[v->n_components++])
			return no_memory(err, name);
	}
	return 0;
}

/* Read a time, which may be missing or null. */
static int take_time(
	const json_t *object, const char *key, const char *name, int64_t *ret, struct lp_err *err)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return bad(err, name, "a time is not a string");
	if (time_parse(json_string_value(value), ret, err) < 0)
		return lp_err_prefix(err, "%s: \"%s\" of a suspect", name, key);
	return 0;
}

static int take_suspect(
	struct score_suspects *list, const json_t *object, const char *name, struct lp_err *err)
{
	const char *component = json_string_value(json_object_get(object, "component"));
	const char *cause = json_string_value(json_object_get(object, "cause"));
	struct score_suspect *s;
	int r;

	if (!component)
		return bad(err, name, "a suspect has no component");
	if (array_reserve(&list->items, &list->cap, list->n + 1, sizeof(*s)) < 0)
		return no_memory(err, name);
	s = &list->items[list->n++];
	*s = (struct score_suspect){
		.first_us = INT64_MIN, .last_us = INT64_MAX, .indicted_us = INT64_MIN};
	s->component = strdup(component);
	s->cause = strdup(cause ? cause : "");
	if (!s->component || !s->cause)
		return no_memory(err, name);
	r = take_time(object, "first", name, &s->first_us, err);
	if (r == 0)
		r = take_time(object, "last", name, &s->last_us, err);
	s->indicted_us = s->first_us;
	return r < 0 ? r : take_time(object, "indicted", name, &s->indicted_us, err);
}

/* Read the list under a key, which verdicts of earlier versions may lack. */
static int take_suspects(struct score_suspects *list, const json_t *root, const char *key,
	const char *name, struct lp_err *err)
{
	const json_t *items = json_object_get(root, key);
	json_t *item;
	size_t i;
	int r;

	if (items && !json_is_array(items))
		return lp_err_set(err, -EBADMSG,
			"%s: this is not a verdict of limpet: \"%s\" is not a list", name, key);
	json_array_foreach(items, i, item)
	{
		r = take_suspect(list, item, name, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_verdict(
	struct score_verdict *v, const json_t *root, const char *name, struct lp_err *err)
{
	json_t *groups, *suspects, *item;
	size_t i;
	int r = array_of(root, "groups", name, &groups, err);

	if (r == 0)
		r = array_of(root, "suspects", name, &suspects, err);
	if (r < 0)
		return r;
	json_array_foreach(groups, i, item)
	{
		r = take_components(v, item, name, err);
		if (r < 0)
			return r;
	}
	r = take_suspects(&v->suspects, root, "suspects", name, err);
	if (r == 0)
		r = take_suspects(&v->warnings, root, "warnings", name, err);
	return r < 0 ? r : take_suspects(&v->absent, root, "absent", name, err);
}

int score_verdict_parse(const char *text, size_t len, const char *name, struct score_verdict *ret,
	struct lp_err *err)
{
	_cleanup_(score_verdict_release) struct score_verdict v = {0};
	json_auto_t *root = NULL;
	json_error_t where = {0};
	int r;

	root = json_loadb(text, len, 0, &where);
	if (!root)
		return lp_err_set(
			err, -EBADMSG, "%s:%d:%d: %s", name, where.line, where.column, where.text);
	if (!json_is_object(root))
		return bad(err, name, "it is not an object");
	r = take_verdict(&v, root, name, err);
	if (r < 0)
		return r;
	*ret = v;
	v = (struct score_verdict){0};
	return 0;
}

int score_verdict_read(const char *path, struct score_verdict *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_slurp(path, VERDICT_BYTES_MAX, &text, &len, err);

	return r < 0 ? r : score_verdict_parse(text, len, path, ret, err);
}

static void suspects_release(struct score_suspects *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].component);
		free(list->items[i].cause);
	}
	free(list->items);
}

void score_verdict_release(struct score_verdict *v)
{
	for (size_t i = 0; i < v->n_components; i++)
		free(v->components[i]);
	free(v->components);
	suspects_release(&v->suspects);
	suspects_release(&v->warnings);
	suspects_release(&v->absent);
	*v = (struct score_verdict){0};
}
