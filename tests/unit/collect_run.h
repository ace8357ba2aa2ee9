/* Runs one collector over a tree and looks up the recorded values. */
#ifndef COLLECT_RUN_H
#define COLLECT_RUN_H

#include "base/cleanup.h"
#include "base/file.h"
#include "collect/collector.h"
#include "unit.h"
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define RUN_SAMPLES_MAX 128

struct run {
	const struct collector *collector;
	char dir[PATH_MAX];
	struct proc_root root;
	struct collect_config config;
	struct collect_sink sink;
	struct lp_warn warn;
	void *state;
};

/* Prepare a run in `dir`; the caller may then change `config` before run_sample(). */
static inline void run_init(struct run *r, const char *collector, const char *dir)
{
	*r = (struct run){.collector = collector_find(collector)};
	assert_non_null(r->collector);
	snprintf(r->dir, sizeof(r->dir), "%s", dir);
	r->root.dir = r->dir;
	r->config = (struct collect_config){.observer = "oss1", .root = &r->root};
	r->sink = (struct collect_sink){.catalogue = lp_catalogue_new(),
		.batch = lp_batch_new(RUN_SAMPLES_MAX),
		.warn = &r->warn};
	assert_non_null(r->sink.catalogue);
	assert_non_null(r->sink.batch);
}

/* Prepare a run on a moment (1 to 5) of a tree in tests/fixtures/trees. */
static inline void run_init_tree(struct run *r, const char *collector, const char *tree, int moment)
{
	const char *fixtures = getenv("FIXTURES");
	char dir[PATH_MAX];

	assert_non_null(fixtures);
	snprintf(dir, sizeof(dir), "%s/trees/%s/20240301T12000%dZ", fixtures, tree, moment - 1);
	run_init(r, collector, dir);
}

/* Go to another moment of the same tree. */
static inline void run_moment(struct run *r, int moment)
{
	r->dir[strlen(r->dir) - 2] = (char)('0' + moment - 1);
	r->root.generation++;
}

static inline void run_sample(struct run *r)
{
	int64_t now_us = r->sink.batch->n_samples * INT64_C(1000000);
	struct lp_err err = {0};

	if (!r->state)
		assert_int_equal(r->collector->open(&r->config, &r->state, &err), 0);
	assert_int_equal(lp_batch_add_sample(r->sink.batch, now_us, now_us), 0);
	assert_int_equal(r->collector->sample(r->state, &r->sink, &err), 0);
}

/* Sample all five moments of a tree, from the first on. */
static inline void run_all_moments(struct run *r)
{
	for (int moment = 1; moment <= 5; moment++) {
		run_moment(r, moment);
		run_sample(r);
	}
}

static inline void run_close(struct run *r)
{
	r->collector->close(r->state);
	lp_catalogue_free(r->sink.catalogue);
	lp_batch_free(r->sink.batch);
}

/* The row of a component, or -1 if it was never recorded. */
static inline int run_row(const struct run *r, const char *name)
{
	const struct lp_batch *b = r->sink.batch;

	for (uint32_t i = 0; b->n_kinds && i < b->kinds[0].n_components; i++) {
		uint32_t id = b->kinds[0].ids[i];

		if (!strcmp(r->sink.catalogue->components[id].name, name))
			return (int)i;
	}
	return -1;
}

/* The state of a component in a sample (from 0); LP_ABSENT if it was never recorded. */
static inline unsigned run_state(const struct run *r, const char *name, uint32_t sample)
{
	int row = run_row(r, name);

	return row < 0 ? LP_ABSENT
		       : r->sink.batch->kinds[0].state[(size_t)row * RUN_SAMPLES_MAX + sample];
}

static inline int64_t run_value(
	const struct run *r, const char *name, const char *column, uint32_t sample)
{
	int row = run_row(r, name), c = lp_schema_column(r->collector->schema, column);

	assert_true(row >= 0);
	assert_true(c >= 0);
	return r->sink.batch->kinds[0].columns[c][(size_t)row * RUN_SAMPLES_MAX + sample];
}

/* Checks one label; NULL: there must be none. */
static inline void run_assert_label(
	const struct run *r, const char *name, const char *key, const char *want)
{
	int row = run_row(r, name);
	char value[512] = "";
	bool found;

	assert_true(row >= 0);
	found = lp_component_label(&r->sink.catalogue->components[r->sink.batch->kinds[0].ids[row]],
		key, value, sizeof(value));
	assert_int_equal(found, want != NULL);
	assert_string_equal(value, want ? want : "");
}

/* Checks which components were recorded, in order: "sda sdb". */
static inline void run_assert_names(const struct run *r, const char *want)
{
	const struct lp_batch *b = r->sink.batch;
	char names[4096] = "";

	for (uint32_t i = 0; b->n_kinds && i < b->kinds[0].n_components; i++) {
		size_t len = strlen(names);

		snprintf(names + len, sizeof(names) - len, "%s%s", i ? " " : "",
			r->sink.catalogue->components[b->kinds[0].ids[i]].name);
	}
	assert_string_equal(names, want);
}

/* A separate tree for the test, in a new directory. */
static inline void tree_make(char dir[PATH_MAX])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, PATH_MAX, "%s/limpet-unit-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
}

static inline void tree_put(const char *dir, const char *path, const char *text)
{
	_cleanup_fclose_ FILE *f = NULL;
	char full[PATH_MAX], *slash;

	assert_true(snprintf(full, sizeof(full), "%s/%s", dir, path) < (int)sizeof(full));
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(path_make_dirs(full, NULL), 0);
	*slash = '/';
	f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static inline int tree_remove_one(
	const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)flag;
	(void)where;
	return remove(path);
}

static inline void tree_remove(const char *dir)
{
	nftw(dir, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
