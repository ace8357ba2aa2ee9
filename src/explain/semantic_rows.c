/* Splits rows of traced programs and their peers for the reader. */
#include "explain/semantic_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256

/* A kind of component in a batch. */
struct row_reader {
	struct semantic_reader *r;
	const struct lp_catalogue *c;
	const struct lp_batch *b;
	const struct lp_batch_kind *k;
};

static int column_of(const struct row_reader *w, const char *name)
{
	return lp_schema_column(&w->c->schemas[w->k->schema], name);
}

static int64_t cell(const struct row_reader *w, int column, uint32_t component, uint32_t sample)
{
	int64_t value = LP_MISSING;

	if (column >= 0 && w->k->columns[column])
		value = w->k->columns[column][(size_t)component * w->b->cap_samples + sample];
	return value == LP_MISSING ? 0 : value;
}

static bool is_present(const struct row_reader *w, uint32_t component, uint32_t sample)
{
	return w->k->state[(size_t)component * w->b->cap_samples + sample] & LP_PRESENT;
}

static int take_peer(
	const struct row_reader *w, const struct lp_component *c, uint32_t i, uint32_t n)
{
	int requests = column_of(w, "requests");
	int64_t values[3] = {cell(w, requests, i, n), cell(w, column_of(w, "responses"), i, n),
		cell(w, column_of(w, "waiting_us"), i, n)};

	if (requests < 0)
		return 0; /* of the I/O stack, which counts something else */
	return reader_peer(w->r, c->observer, w->b->wall_us[n], c->name, values);
}

static int take_program(
	const struct row_reader *w, const struct lp_component *c, uint32_t i, uint32_t n)
{
	int calls = column_of(w, "calls");
	bool active =
		n && is_present(w, i, n - 1) && cell(w, calls, i, n) > cell(w, calls, i, n - 1);

	return reader_program(w->r, c->observer, w->b->wall_us[n], c->name,
		cell(w, column_of(w, "nsread_n"), i, n) > 0, active);
}

static int take_tally(
	const struct row_reader *w, const struct lp_component *c, uint32_t i, uint32_t n)
{
	return reader_tally(
		w->r, c->observer, w->b->wall_us[n], c->name, cell(w, column_of(w, "n"), i, n));
}

/* "glusterfsd.812:storage-read" belongs to process 812. This is fed once per batch. */
static int take_process(
	const struct row_reader *w, const struct lp_component *c, uint32_t i, uint32_t n)
{
	char comm[NAME_BYTES], *colon, *dot, *end;
	bool talks;
	long pid;

	if (n > w->b->carry && is_present(w, i, n - 1))
		return 0;
	snprintf(comm, sizeof(comm), "%.*s", NAME_BYTES - 1, c->name);
	colon = strrchr(comm, ':');
	if (!colon)
		return 0;
	talks = !strncmp(colon + 1, "tcp-", 4);
	*colon = '\0';
	dot = strrchr(comm, '.');
	if (!dot)
		return 0;
	*dot = '\0';
	pid = strtol(dot + 1, &end, 10);
	if (*end || pid <= 0 || pid > INT32_MAX)
		return 0;
	return reader_process(w->r, c->observer, w->b->wall_us[n], (int32_t)pid, comm, talks);
}

typedef int (*take_fn)(
	const struct row_reader *w, const struct lp_component *c, uint32_t i, uint32_t sample);

static take_fn take_of(const char *kind)
{
	static const struct {
		const char *kind;
		take_fn take;
	} kinds[] = {{"sys", take_program}, {"peer", take_peer}, {"call", take_process},
		{"errno", take_tally}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].take;
	}
	return NULL;
}

static int take_kind(const struct row_reader *w)
{
	take_fn take = take_of(w->c->schemas[w->k->schema].kind);
	int got = 0;

	for (uint32_t i = 0; i < w->k->n_components; i++) {
		const struct lp_component *c = &w->c->components[w->k->ids[i]];
		const int64_t *seen_us = NULL;

		for (uint32_t n = w->b->carry; got == 0 && n < w->b->n_samples; n++) {
			if (!is_present(w, i, n))
				continue;
			/* Only the first component of an observer adds anything. */
			seen_us = seen_us ? seen_us : semantic_reader_seen_us(w->r, c->observer);
			if (!seen_us)
				return -ENOMEM;
			if (w->b->wall_us[n] > *seen_us)
				got = semantic_reader_presence(
					w->r, c->observer, w->b->wall_us[n], false);
			if (got == 0 && take)
				got = take(w, c, i, n);
		}
	}
	return got;
}

int semantic_reader_batch(
	struct semantic_reader *r, const struct lp_catalogue *c, const struct lp_batch *b)
{
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < b->n_kinds; i++) {
		struct row_reader w = {r, c, b, &b->kinds[i]};

		got = take_kind(&w);
	}
	return got;
}
