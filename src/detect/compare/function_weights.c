#include "detect/compare/function_weights.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX (2 * FUNCTION_NAME_MAX + 2)

void function_weights_release(struct function_weights *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->items[i].metric);
		free(w->items[i].function);
	}
	free(w->items);
	strmap_release(&w->own);
	*w = (struct function_weights){0};
}

static bool name_is_good(const char *name)
{
	size_t len = strnlen(name, FUNCTION_NAME_MAX + 1);

	return len > 0 && len <= FUNCTION_NAME_MAX;
}

static bool key_make(char key[KEY_MAX], const char *metric, const char *function)
{
	if (!name_is_good(metric) || !name_is_good(function))
		return false;
	snprintf(key, KEY_MAX, "%s\n%s", metric, function);
	return true;
}

static bool is_glob(const char *function)
{
	return strpbrk(function, "*?") != NULL;
}

int function_weights_add(
	struct function_weights *w, const char *metric, const char *function, double value)
{
	_cleanup_free_ char *m = NULL, *f = NULL;
	char key[KEY_MAX];
	uint32_t known;

	if (!(value >= 0 && value <= FUNCTION_WEIGHT_MAX) || !key_make(key, metric, function))
		return -EINVAL;
	if (strmap_get(&w->own, key, &known))
		return -EEXIST;
	m = strdup(metric);
	f = strdup(function);
	if (!m || !f || w->n >= UINT32_MAX ||
		array_reserve(&w->items, &w->cap, w->n + 1, sizeof(*w->items)) < 0 ||
		strmap_put(&w->own, key, (uint32_t)w->n) < 0)
		return -ENOMEM;
	w->has_globs |= is_glob(f);
	w->items[w->n++] = (struct function_weight){TAKE_PTR(m), TAKE_PTR(f), value};
	return 0;
}

static int weight_compare(const void *a, const void *b)
{
	const struct function_weight *x = a, *y = b;
	int c = strcmp(x->metric, y->metric);

	return c ? c : strcmp(x->function, y->function);
}

int function_weights_sort(struct function_weights *w)
{
	char key[KEY_MAX];

	if (w->n)
		qsort(w->items, w->n, sizeof(*w->items), weight_compare);
	for (size_t i = 0; i < w->n; i++) {
		key_make(key, w->items[i].metric, w->items[i].function);
		if (strmap_put(&w->own, key, (uint32_t)i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static double glob_get(const struct function_weights *w, const char *metric, const char *function)
{
	size_t longest = 0;
	double found = 1;

	for (size_t i = 0; w->has_globs && i < w->n; i++) {
		const struct function_weight *item = &w->items[i];
		size_t len = strlen(item->function);

		if (len <= longest || !is_glob(item->function) ||
			strcmp(item->metric, metric) != 0 || fnmatch(item->function, function, 0))
			continue;
		longest = len;
		found = item->value;
	}
	return found;
}

double function_weights_get(
	const struct function_weights *w, const char *metric, const char *function)
{
	char key[KEY_MAX];
	uint32_t known;

	if (!w || !w->n || !key_make(key, metric, function))
		return 1;
	return strmap_get(&w->own, key, &known) ? w->items[known].value
						: glob_get(w, metric, function);
}

int function_weights_of(const struct function_weights *w, const char *metric,
	const struct dimensions *d, double **ret)
{
	_cleanup_free_ double *all = NULL;
	bool any = false;

	*ret = NULL;
	if (!w || !w->n || !d->n)
		return 0;
	all = calloc(d->n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n; i++) {
		all[i] = function_weights_get(w, metric, d->names[i]);
		any |= all[i] != 1;
	}
	if (any)
		*ret = TAKE_PTR(all);
	return 0;
}
