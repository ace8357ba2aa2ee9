#include "collect/journal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "model/catalogue.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void change_release(struct journal_change *change)
{
	free(change->observer);
	free(change->name);
	free(change->labels);
	*change = (struct journal_change){0};
}

void journal_release(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		change_release(&j->changes[i]);
	free(j->schemas);
	free(j->changes);
	idmap_release(&j->places);
	*j = (struct journal){0};
}

int journal_reserve_schema(struct journal *j)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	return array_reserve(&j->schemas, &j->cap_schemas, j->n_schemas + 1, sizeof(*j->schemas));
}

void journal_add_schema(struct journal *j, const struct lp_schema *schema)
{
	j->schemas[j->n_schemas++] = schema;
}

/* The place for the last change of `id`; NULL: out of memory. */
static struct journal_change *place_of(struct journal *j, uint32_t id)
{
	uint32_t at;

	if (idmap_get(&j->places, id, &at))
		return &j->changes[at];
	if (array_reserve(&j->changes, &j->cap, j->n + 1, sizeof(*j->changes)) < 0 ||
		idmap_put(&j->places, id, (uint32_t)j->n) < 0)
		return NULL;
	j->changes[j->n] = (struct journal_change){0};
	return &j->changes[j->n++];
}

int journal_add(struct journal *j, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels)
{
	_cleanup_(change_release) struct journal_change change = {.id = id, .schema = schema};
	struct journal_change *place;

	if (name) {
		change.observer = strdup(observer);
		change.name = strdup(name);
		change.labels = strdup(labels);
		if (!change.observer || !change.name || !change.labels)
			return -ENOMEM;
	}
	place = place_of(j, id);
	if (!place)
		return -ENOMEM;
	change_release(place);
	*place = change;
	/* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the cleanup reads it */
	change = (struct journal_change){0};
	return 0;
}

static int change_apply(
	const struct journal_change *change, struct lp_catalogue *c, struct lp_err *err)
{
	int r;

	if (change->name)
		return catalogue_place(c, change->id, change->schema, change->observer,
			change->name, change->labels, err);
	/* Its first component appeared and retired before the journal was applied. */
	if (change->id == c->n_components) {
		r = catalogue_place(c, change->id, 0, "", "", "", err);
		if (r < 0)
			return r;
	}
	r = catalogue_vacate(c, change->id);
	return r < 0 ? lp_err_sys(err, r, "cannot forget a component") : 0;
}

int journal_apply(struct journal *j, struct lp_catalogue *c, struct lp_err *err)
{
	uint32_t number;
	int r = 0;

	/* Changes that were applied before a failure may be applied again. */
	for (size_t i = 0; r == 0 && i < j->n_schemas; i++)
		r = lp_catalogue_add_schema(c, j->schemas[i], &number, err);
	for (size_t i = 0; r == 0 && i < j->n; i++)
		r = change_apply(&j->changes[i], c, err);
	if (r < 0)
		return r;
	journal_release(j);
	return 0;
}
