#include "report/functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static void server_release(struct functions_server *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		free(s->rows[i].name);
	free(s->rows);
	free(s->name);
	strmap_release(&s->index);
}

void functions_release(struct functions_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		server_release(&v->servers[i]);
	free(v->servers);
	strmap_release(&v->index);
	*v = (struct functions_view){0};
}

const struct functions_server *functions_find(const struct functions_view *v, const char *name)
{
	uint32_t at;

	return strmap_get(&v->index, name, &at) ? &v->servers[at] : NULL;
}

static struct functions_server *server_get(struct functions_view *v, const char *name)
{
	struct functions_server *s;
	uint32_t at;

	if (strmap_get(&v->index, name, &at))
		return &v->servers[at];
	if (array_reserve(&v->servers, &v->cap, v->n + 1, sizeof(*v->servers)) < 0)
		return NULL;
	s = &v->servers[v->n];
	*s = (struct functions_server){.name = strdup(name), .first_us = INT64_MAX};
	if (!s->name || strmap_put(&v->index, name, (uint32_t)v->n) < 0) {
		free(s->name);
		return NULL;
	}
	v->n++;
	return s;
}

static int server_count(struct functions_server *s, const char *name, uint64_t n)
{
	uint32_t at;
	char *copy;

	s->total += n;
	if (strmap_get(&s->index, name, &at)) {
		s->rows[at].n += n;
		return 0;
	}
	copy = strdup(name);
	if (!copy || array_reserve(&s->rows, &s->cap_rows, s->n_rows + 1, sizeof(*s->rows)) < 0 ||
		strmap_put(&s->index, name, (uint32_t)s->n_rows) < 0) {
		free(copy);
		return -ENOMEM;
	}
	s->rows[s->n_rows++] = (struct functions_row){copy, n};
	return 0;
}

/* The pass over the data. */
struct pass {
	const struct functions_select *select;
	struct functions_view *v;
};

static bool is_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct functions_select *s = ((struct pass *)ctx)->select;
	const struct lp_identity *who = c->components[id].identity;

	if (strcmp(who->kind, s->kind) != 0)
		return false;
	for (uint32_t i = 0; i < s->n_components; i++) {
		if (fnmatch(s->components[i], who->text, 0) == 0)
			return true;
	}
	return !s->n_components;
}

/* Is the difference between a sample and the previous one in the selected time? */
static bool counts(const struct pass *p, const struct lp_batch *b, const uint8_t *state, uint32_t s)
{
	int64_t wall_us = b->wall_us[s];

	return state[s] & LP_PRESENT && state[s - 1] & LP_PRESENT && !(state[s] & LP_FRESH) &&
		wall_us >= p->select->from_us && (!p->select->to_us || wall_us < p->select->to_us);
}

static int add_component(const struct pass *p, const struct lp_identity *who,
	const struct lp_batch *b, const uint8_t *state, const int64_t *cells)
{
	struct functions_server *server = server_get(p->v, who->observer);
	uint64_t n = 0;

	if (!server)
		return -ENOMEM;
	for (uint32_t s = 1; s < b->n_samples; s++) {
		if (!counts(p, b, state, s))
			continue;
		n += cells[s] > cells[s - 1] ? (uint64_t)(cells[s] - cells[s - 1]) : 0;
		if (b->wall_us[s - 1] < server->first_us)
			server->first_us = b->wall_us[s - 1];
		if (b->wall_us[s] > server->last_us)
			server->last_us = b->wall_us[s];
	}
	return n ? server_count(server, who->name, n) : 0;
}

static int add_batch(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	const struct lp_catalogue *c = source->catalogue;

	for (uint32_t k = 0; b && k < b->n_kinds; k++) {
		const struct lp_batch_kind *kind = &b->kinds[k];
		int column = lp_schema_column(&c->schemas[kind->schema], "samples");

		if (column < 0 && !strcmp(c->schemas[kind->schema].kind, "function"))
			((struct pass *)ctx)->v->calls = true;
		if (column < 0 || !kind->columns[column])
			continue;
		for (uint32_t i = 0; i < kind->n_components; i++) {
			size_t at = (size_t)i * b->cap_samples;

			if (is_wanted(ctx, c, kind->ids[i]) &&
				add_component(ctx, c->components[kind->ids[i]].identity, b,
					kind->state + at, kind->columns[column] + at) < 0)
				return lp_err_sys(err, -ENOMEM, "cannot count functions");
		}
	}
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct functions_row *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct functions_server *)a)->name,
		((const struct functions_server *)b)->name);
}

/* Sort, and update the index. */
static int view_finish(struct functions_view *v)
{
	int r = 0;

	if (v->n)
		qsort(v->servers, v->n, sizeof(*v->servers), by_name);
	for (size_t i = 0; r == 0 && i < v->n; i++) {
		struct functions_server *s = &v->servers[i];

		r = strmap_put(&v->index, s->name, (uint32_t)i);
		if (s->n_rows)
			qsort(s->rows, s->n_rows, sizeof(*s->rows), most_first);
		for (size_t k = 0; r == 0 && k < s->n_rows; k++)
			r = strmap_put(&s->index, s->rows[k].name, (uint32_t)k);
	}
	return r;
}

int functions_read(struct lp_dataset *ds, const struct functions_select *select,
	struct functions_view *ret, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	struct pass p = {select, &v};
	/* The sample before the first one is needed as well, so the time is checked above. */
	const struct lp_select all = {.component = is_wanted, .ctx = &p};
	int r = lp_dataset_read(ds, &all, add_batch, &p, err);

	if (r < 0 && r != -EBADMSG)
		return r;
	if (view_finish(&v) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot count functions");
	*ret = v;
	v = (struct functions_view){0};
	return r;
}
