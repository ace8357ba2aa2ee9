#include "detect/train/thresholds.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thresholds {
	char *method, *service;
	struct lp_params params;
	struct threshold_row *rows;
	size_t n, cap;
	struct strmap own;   /* "metric\ncomponent" -> row */
	struct strmap kinds; /* "metric\nkind" -> median */
	double *medians;     /* per kind in a metric */
	size_t n_medians, cap_medians;
	uint32_t *globs; /* rows with a glob as component, in order */
	size_t n_globs, cap_globs;
	struct threshold_normal *normals;
	size_t n_normals, cap_normals;
	struct strmap normal; /* "role\ncall\nerror" */
	struct meanings meanings;
	struct function_weights weights;
};

/* Two names as one key. */
#define KEY_MAX (2 * THRESHOLDS_NAME_MAX + 2)

static void key_make(char key[KEY_MAX], const char *metric, const char *rest, size_t len)
{
	size_t n = strlen(metric);

	memcpy(key, metric, n);
	key[n] = '\n';
	memcpy(key + n + 1, rest, len);
	key[n + 1 + len] = '\0';
}

/* The "disk" of "oss3/disk:sdb"; text of another form is returned unchanged. */
static const char *kind_of(const char *component, size_t *ret_len)
{
	const char *slash = strchr(component, '/'), *kind = slash ? slash + 1 : component;

	*ret_len = strcspn(kind, ":");
	return kind;
}

static bool is_glob(const char *component)
{
	return strpbrk(component, "*?") != NULL;
}

static bool name_is_good(const char *name)
{
	size_t len = strnlen(name, THRESHOLDS_NAME_MAX + 1);

	return len > 0 && len <= THRESHOLDS_NAME_MAX;
}

struct thresholds *thresholds_new(const char *method, const struct lp_params *params)
{
	struct thresholds *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->params = *params;
	t->method = strdup(method);
	if (!t->method) {
		thresholds_free(t);
		return NULL;
	}
	return t;
}

static void normal_release(struct threshold_normal *n)
{
	free(n->role);
	free(n->call);
	free(n->error);
}

void thresholds_free(struct thresholds *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		free(t->rows[i].metric);
		free(t->rows[i].component);
	}
	for (size_t i = 0; i < t->n_normals; i++)
		normal_release(&t->normals[i]);
	free(t->rows);
	free(t->normals);
	free(t->medians);
	free(t->globs);
	free(t->method);
	free(t->service);
	strmap_release(&t->own);
	strmap_release(&t->kinds);
	strmap_release(&t->normal);
	meanings_release(&t->meanings);
	function_weights_release(&t->weights);
	free(t);
}

int thresholds_add(struct thresholds *t, const char *metric, const char *component, double value)
{
	_cleanup_free_ char *m = NULL, *c = NULL;
	char key[KEY_MAX];
	uint32_t other;

	if (!isfinite(value) || value < 0 || !name_is_good(metric) || !name_is_good(component))
		return -EINVAL;
	key_make(key, metric, component, strlen(component));
	if (strmap_get(&t->own, key, &other))
		return -EEXIST;
	m = strdup(metric);
	c = strdup(component);
	if (!m || !c || t->n >= UINT32_MAX ||
		array_reserve(&t->rows, &t->cap, t->n + 1, sizeof(*t->rows)) < 0 ||
		strmap_put(&t->own, key, (uint32_t)t->n) < 0)
		return -ENOMEM;
	t->rows[t->n++] = (struct threshold_row){TAKE_PTR(m), TAKE_PTR(c), value};
	return 0;
}

/* Names of calls and errnos are short words. */
#define WORD_MAX 64

static bool is_word(const char *text, const char *letters)
{
	size_t len = strnlen(text, WORD_MAX + 1);

	return len > 0 && len <= WORD_MAX && strspn(text, letters) == len;
}

static bool normal_key(char key[KEY_MAX], const char *role, const char *call, const char *error)
{
	if ((strcmp(role, "server") != 0 && strcmp(role, "client") != 0) ||
		!is_word(call, "abcdefghijklmnopqrstuvwxyz0123456789_") ||
		!is_word(error, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") || *error != 'E')
		return false;
	snprintf(key, KEY_MAX, "%s\n%s\n%s", role, call, error);
	return true;
}

static int normal_compare(const struct threshold_normal *x, const struct threshold_normal *y)
{
	int c = strcmp(y->role, x->role); /* servers first: they are judged */

	if (c == 0)
		c = strcmp(x->call, y->call);
	return c ? c : strcmp(x->error, y->error);
}

int thresholds_add_normal(
	struct thresholds *t, const char *role, const char *call, const char *error)
{
	struct threshold_normal n;
	char key[KEY_MAX];
	size_t place;

	if (!normal_key(key, role, call, error))
		return -EINVAL;
	if (thresholds_is_normal(t, role, call, error))
		return -EEXIST;
	n = (struct threshold_normal){strdup(role), strdup(call), strdup(error)};
	if (!n.role || !n.call || !n.error ||
		array_reserve(&t->normals, &t->cap_normals, t->n_normals + 1, sizeof(*t->normals)) <
			0 ||
		strmap_put(&t->normal, key, 0) < 0) {
		normal_release(&n);
		return -ENOMEM;
	}
	place = t->n_normals++;
	for (; place > 0 && normal_compare(&t->normals[place - 1], &n) > 0; place--)
		t->normals[place] = t->normals[place - 1];
	t->normals[place] = n;
	return 0;
}

bool thresholds_is_normal(
	const struct thresholds *t, const char *role, const char *call, const char *error)
{
	char key[KEY_MAX];
	uint32_t ignored;

	return normal_key(key, role, call, error) && strmap_get(&t->normal, key, &ignored);
}

struct meanings *thresholds_meanings(struct thresholds *t)
{
	return &t->meanings;
}

const struct meanings *thresholds_meant(const struct thresholds *t)
{
	return &t->meanings;
}

struct function_weights *thresholds_weights(struct thresholds *t)
{
	return &t->weights;
}

const struct function_weights *thresholds_weighted(const struct thresholds *t)
{
	return &t->weights;
}

const struct threshold_normal *thresholds_normals(const struct thresholds *t, size_t *ret_n)
{
	*ret_n = t->n_normals;
	return t->normals;
}

static int row_compare(const void *a, const void *b)
{
	const struct threshold_row *x = a, *y = b;
	int c = strcmp(x->metric, y->metric);

	return c ? c : strcmp(x->component, y->component);
}

/* Update the index after sorting. */
static int index_rows(struct thresholds *t)
{
	char key[KEY_MAX];

	for (size_t i = 0; i < t->n; i++) {
		const struct threshold_row *row = &t->rows[i];

		key_make(key, row->metric, row->component, strlen(row->component));
		if (strmap_put(&t->own, key, (uint32_t)i) < 0)
			return -ENOMEM;
		if (!is_glob(row->component))
			continue;
		if (array_reserve(&t->globs, &t->cap_globs, t->n_globs + 1, sizeof(*t->globs)) < 0)
			return -ENOMEM;
		t->globs[t->n_globs++] = (uint32_t)i;
	}
	return 0;
}

/* A row with its kind, to be sorted by metric, kind and value. */
struct ranked_threshold {
	const char *metric, *kind;
	size_t kind_len;
	double value;
};

static int kind_compare(const struct ranked_threshold *x, const struct ranked_threshold *y)
{
	size_t len = x->kind_len < y->kind_len ? x->kind_len : y->kind_len;
	int c = strcmp(x->metric, y->metric);

	if (c == 0)
		c = memcmp(x->kind, y->kind, len);
	return c ? c : (x->kind_len > y->kind_len) - (x->kind_len < y->kind_len);
}

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked_threshold *x = a, *y = b;
	int c = kind_compare(x, y);

	return c ? c : (x->value > y->value) - (x->value < y->value);
}

static int add_median(struct thresholds *t, const struct ranked_threshold *r, size_t n)
{
	char key[KEY_MAX];

	key_make(key, r->metric, r->kind, r->kind_len);
	if (array_reserve(&t->medians, &t->cap_medians, t->n_medians + 1, sizeof(*t->medians)) <
			0 ||
		strmap_put(&t->kinds, key, (uint32_t)t->n_medians) < 0)
		return -ENOMEM;
	t->medians[t->n_medians++] =
		n % 2 ? r[n / 2].value : (r[n / 2 - 1].value + r[n / 2].value) / 2;
	return 0;
}

static int find_medians(struct thresholds *t)
{
	_cleanup_free_ struct ranked_threshold *r = calloc(t->n + 1, sizeof(*r));
	size_t n = 0, first = 0;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		const struct threshold_row *row = &t->rows[i];

		if (is_glob(row->component)) /* its members are unknown */
			continue;
		r[n] = (struct ranked_threshold){.metric = row->metric, .value = row->value};
		r[n].kind = kind_of(row->component, &r[n].kind_len);
		n++;
	}
	qsort(r, n, sizeof(*r), ranked_compare);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && kind_compare(&r[first], &r[i]) == 0)
			continue;
		if (add_median(t, &r[first], i - first) < 0)
			return -ENOMEM;
		first = i;
	}
	return 0;
}

int thresholds_finish(struct thresholds *t)
{
	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), row_compare);
	if (index_rows(t) < 0 || function_weights_sort(&t->weights) < 0)
		return -ENOMEM;
	return find_medians(t);
}

const struct threshold_row *thresholds_rows(const struct thresholds *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->rows;
}

const char *thresholds_method(const struct thresholds *t)
{
	return t->method;
}

const char *thresholds_service(const struct thresholds *t)
{
	return t->service;
}

int thresholds_set_service(struct thresholds *t, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(t->service);
	t->service = copy;
	return 0;
}

const struct lp_params *thresholds_params(const struct thresholds *t)
{
	return &t->params;
}

/* The threshold of the longest glob that matches. */
static bool glob_get(
	const struct thresholds *t, const char *metric, const char *component, double *ret)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->n_globs; i++) {
		const struct threshold_row *row = &t->rows[t->globs[i]];
		size_t len = strlen(row->component);

		if (len <= longest || strcmp(row->metric, metric) ||
			fnmatch(row->component, component, 0))
			continue;
		*ret = row->value;
		longest = len;
	}
	return longest > 0;
}

bool thresholds_get(const struct thresholds *t, const char *metric,
	const struct lp_identity *component, double *ret)
{
	char key[KEY_MAX];
	uint32_t found;

	if (!name_is_good(metric) || !name_is_good(component->text))
		return false;
	key_make(key, metric, component->text, strlen(component->text));
	if (strmap_get(&t->own, key, &found)) {
		*ret = t->rows[found].value;
		return true;
	}
	if (glob_get(t, metric, component->text, ret))
		return true;
	key_make(key, metric, component->kind, strlen(component->kind));
	if (!strmap_get(&t->kinds, key, &found))
		return false;
	*ret = t->medians[found];
	return true;
}
