/* Random archives with known values, for the tests of src/archive. */
#ifndef ARCHIVE_UTIL_H
#define ARCHIVE_UTIL_H

#include "unit.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limpet/archive.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

#define TRUTH_COLUMNS 4
#define TRUTH_START INT64_C(1304899205000000)

/* Which values occur. */
#define TRUTH_MISSING 1u   /* values that were not measured */
#define TRUTH_HOTPLUG 2u   /* components that come and go, and fresh ones */
#define TRUTH_EXTREME 4u   /* huge, negative, wrapping values */
#define TRUTH_INEXACT 8u   /* doubles that are not decimals, -0.0, infinity */
#define TRUTH_IDLE 16u	   /* nothing ever changes */
#define TRUTH_STEPPING 32u /* the wall clock jumps */
#define TRUTH_ALL 47u

static const struct lp_column disk_columns[] = {
	{"rd_ios", "requests", LP_COUNTER, 64},
	{"rd_sec", "sectors", LP_COUNTER, 32},
	{"inflight", "requests", LP_GAUGE, 0},
	{"wr_ios", "requests", LP_COUNTER, 64},
};
static const struct lp_column net_columns[] = {
	{"rx_bytes", "bytes", LP_COUNTER, 64},
	{"load", "1", LP_REAL, 0},
	{"speed", "Mbit/s", LP_GAUGE, 0},
	{"await", "ms", LP_REAL, 0},
};
static const struct lp_schema truth_schemas[] = {
	{"disk", disk_columns, 4},
	{"net", net_columns, 4},
	{"mark", NULL, 0},
};

/* Everything that was sampled. */
struct truth {
	struct lp_catalogue *catalogue;
	uint32_t n_samples, n_components;
	int64_t *wall, *mono;
	uint8_t *state; /* [component * n_samples + sample] */
	int64_t *cells; /* [(component * TRUTH_COLUMNS + column) * n_samples + sample] */
};

UNUSED static uint64_t random_next(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

UNUSED static bool random_chance(uint64_t *seed, unsigned one_in)
{
	return random_next(seed) % one_in == 0;
}

UNUSED static int64_t random_real(uint64_t *seed, unsigned features)
{
	static const double odd[] = {-0.0, INFINITY, -INFINITY, 1e300, 0x1p-1074, 0.1 + 0.2};
	uint64_t x = random_next(seed);

	if (features & TRUTH_MISSING && x % 7 == 0)
		return lp_cell_from_real((double)NAN);
	if (features & TRUTH_INEXACT && x % 5 == 0)
		return lp_cell_from_real(odd[(x >> 8) % ARRAY_SIZE(odd)]);
	if (features & TRUTH_INEXACT && x % 3 == 0)
		return lp_cell_from_real((double)(int64_t)x / 3e9);
	return lp_cell_from_real((double)((int64_t)(x >> 40) - 1000) / 100);
}

UNUSED static int64_t random_integer(
	uint64_t *seed, unsigned features, bool counter, int64_t before)
{
	uint64_t x = random_next(seed);

	if (features & TRUTH_MISSING && x % 7 == 0)
		return LP_MISSING;
	if (features & TRUTH_EXTREME && x % 5 == 0)
		return (int64_t)random_next(seed);
	if (before == LP_MISSING)
		before = 0;
	if (counter)
		return (int64_t)((uint64_t)before + (x % 3 ? x >> 50 : 0));
	return (int64_t)(x >> 56) - 20;
}

UNUSED static int64_t *truth_cells(const struct truth *t, uint32_t component, uint32_t column)
{
	return t->cells + ((size_t)component * TRUTH_COLUMNS + column) * t->n_samples;
}

UNUSED static void truth_fill_component(
	struct truth *t, uint32_t id, unsigned features, uint64_t *seed)
{
	const struct lp_schema *schema =
		&t->catalogue->schemas[t->catalogue->components[id].schema];
	bool there = !(features & TRUTH_HOTPLUG) || random_chance(seed, 2);
	bool idle = features & TRUTH_IDLE || random_chance(seed, 4);

	for (uint32_t s = 0; s < t->n_samples; s++) {
		uint8_t *state = &t->state[(size_t)id * t->n_samples + s];
		bool was = there;

		if (features & TRUTH_HOTPLUG && random_chance(seed, 20))
			there = !there;
		*state = there ? LP_PRESENT : LP_ABSENT;
		if (there && (!was || (features & TRUTH_HOTPLUG && random_chance(seed, 30))))
			*state |= LP_FRESH;
		for (uint32_t c = 0; c < schema->n_columns; c++) {
			int64_t *cell = truth_cells(t, id, c) + s;
			enum lp_column_type type = schema->columns[c].type;

			if (idle && s)
				cell[0] = cell[-1];
			else if (type == LP_REAL)
				cell[0] = random_real(seed, features);
			else
				cell[0] = random_integer(
					seed, features, type == LP_COUNTER, s ? cell[-1] : 1000);
		}
	}
}

UNUSED static void truth_free(struct truth *t)
{
	if (!t)
		return;
	lp_catalogue_free(t->catalogue);
	free(t->wall);
	free(t->mono);
	free(t->state);
	free(t->cells);
	free(t);
}

DEFINE_CLEANUP(struct truth *, truth_free);

UNUSED static struct truth *truth_new(
	uint32_t n_components, uint32_t n_samples, unsigned features, uint64_t seed)
{
	struct truth *t = calloc(1, sizeof(*t));
	uint32_t schema[ARRAY_SIZE(truth_schemas)], id;
	struct lp_err err = {0};

	*t = (struct truth){.catalogue = lp_catalogue_new(),
		.n_samples = n_samples,
		.n_components = n_components,
		.wall = calloc(n_samples, 8),
		.mono = calloc(n_samples, 8),
		.state = calloc(n_samples, n_components),
		.cells = calloc((size_t)n_samples * n_components, 8 * TRUTH_COLUMNS)};
	for (size_t i = 0; i < ARRAY_SIZE(truth_schemas); i++)
		assert_int_equal(
			lp_catalogue_add_schema(t->catalogue, &truth_schemas[i], &schema[i], &err),
			0);
	for (uint32_t s = 0; s < n_samples; s++) {
		t->wall[s] = TRUTH_START + s * INT64_C(1000000);
		t->mono[s] = 5000000 + s * INT64_C(1000000) + (int64_t)(random_next(&seed) % 50);
		if (features & TRUTH_STEPPING && random_chance(&seed, 10))
			t->wall[s] += (int64_t)(random_next(&seed) % 7200000000u) - 3600000000;
	}
	for (uint32_t i = 0; i < n_components; i++) {
		char name[24];

		snprintf(name, sizeof(name), "c%u", i);
		assert_int_equal(lp_catalogue_add_component(t->catalogue,
					 schema[random_next(&seed) % ARRAY_SIZE(schema)], "host",
					 name, i % 3 ? "" : "stable=x\n", &id, &err),
			0);
		assert_int_equal(id, i);
		truth_fill_component(t, i, features, &seed);
	}
	return t;
}

/* Samples first .. first+n-1 as a batch, after the previous sample if `carry`. */
UNUSED static struct lp_batch *truth_batch(
	const struct truth *t, uint32_t first, uint32_t n, bool carry)
{
	uint32_t from = carry ? first - 1 : first, count = n + (carry ? 1 : 0), row;
	struct lp_batch *b = lp_batch_new(count);

	b->carry = carry;
	for (uint32_t s = 0; s < count; s++)
		lp_batch_add_sample(b, t->wall[from + s], t->mono[from + s]);
	for (uint32_t id = 0; id < t->n_components; id++) {
		uint32_t schema = t->catalogue->components[id].schema;
		struct lp_batch_kind *k;

		lp_batch_kind_get(b, schema, t->catalogue->schemas[schema].n_columns, NULL, &k);
		lp_batch_add_component(b, k, id, &row);
		memcpy(k->state + (size_t)row * b->cap_samples,
			t->state + (size_t)id * t->n_samples + from, count);
		if (carry)
			k->state[(size_t)row * b->cap_samples] &= LP_PRESENT;
		for (uint32_t c = 0; c < k->n_columns; c++)
			memcpy(k->columns[c] + (size_t)row * b->cap_samples,
				truth_cells(t, id, c) + from, count * 8);
	}
	return b;
}

DEFINE_CLEANUP(struct lp_batch *, lp_batch_free);
DEFINE_CLEANUP(struct lp_source *, lp_source_close);

/* The number in the truth of a component of a file. Components are named "c<number>". */
UNUSED static uint32_t truth_id(const struct lp_catalogue *c, uint32_t id)
{
	return (uint32_t)strtoul(c->components[id].name + 1, NULL, 10);
}

UNUSED static uint32_t truth_sample(const struct truth *t, int64_t mono)
{
	for (uint32_t s = 0; s < t->n_samples; s++) {
		if (t->mono[s] == mono)
			return s;
	}
	fail_msg("a sample at %lld that never was", (long long)mono);
	return 0;
}

/* How strictly to compare. */
enum truth_mode {
	TRUTH_EXACT,  /* everything is present and right */
	TRUTH_INTACT, /* what is present is right; values may be missing and rows absent */
};

UNUSED static bool truth_cell_missing(enum lp_column_type type, int64_t cell)
{
	return type == LP_REAL ? isnan(lp_cell_to_real(cell)) : cell == LP_MISSING;
}

UNUSED static void truth_check_cell(
	enum lp_column_type type, int64_t got, int64_t want, enum truth_mode mode)
{
	if (truth_cell_missing(type, got) &&
		(truth_cell_missing(type, want) || mode == TRUTH_INTACT))
		return;
	assert_int_equal(got, want);
}

/* A relative counter grows as the true one does, from the previous sample if that exists. */
UNUSED static void truth_check_growth(
	const int64_t *got, const int64_t *want, const uint8_t *state, uint32_t s)
{
	if (s == 0 || !(state[-1] & LP_PRESENT) || got[0] == LP_MISSING || got[-1] == LP_MISSING ||
		want[0] == LP_MISSING || want[-1] == LP_MISSING)
		return;
	assert_int_equal(
		(uint64_t)got[0] - (uint64_t)got[-1], (uint64_t)want[0] - (uint64_t)want[-1]);
}

/* Compare one sample of a batch; returns the number of rows that are present in it. */
UNUSED static uint32_t truth_check_sample(const struct truth *t, const struct lp_catalogue *cat,
	const struct lp_batch *b, uint32_t s, enum truth_mode mode)
{
	uint32_t at = truth_sample(t, b->mono_us[s]), present = 0;

	assert_int_equal(b->wall_us[s], t->wall[at]);
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; row < k->n_components; row++) {
			size_t cell = (size_t)row * b->cap_samples + s;
			uint32_t id = truth_id(cat, k->ids[row]);

			assert_true(id < t->n_components);
			if (mode == TRUTH_EXACT)
				assert_false(k->state[cell] & LP_RELATIVE);
			assert_int_equal(k->state[cell] & ~LP_RELATIVE,
				t->state[(size_t)id * t->n_samples + at]);
			if (!(k->state[cell] & LP_PRESENT))
				continue;
			present++;
			for (uint32_t c = 0; c < k->n_columns; c++) {
				if (k->columns[c] && k->state[cell] & LP_RELATIVE &&
					cat->schemas[k->schema].columns[c].type == LP_COUNTER)
					truth_check_growth(k->columns[c] + cell,
						truth_cells(t, id, c) + at, k->state + cell, s);
				else if (k->columns[c])
					truth_check_cell(cat->schemas[k->schema].columns[c].type,
						k->columns[c][cell], truth_cells(t, id, c)[at],
						mode);
			}
		}
	}
	return present;
}

/* Counters of the carried sample must be right, too, wherever they exist. */
UNUSED static void truth_check_carry(
	const struct truth *t, const struct lp_catalogue *cat, const struct lp_batch *b)
{
	uint32_t at = truth_sample(t, b->mono_us[0]);

	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; row < k->n_components; row++) {
			size_t cell = (size_t)row * b->cap_samples;
			uint32_t id = truth_id(cat, k->ids[row]);

			if (!k->state[cell] || k->state[cell] & LP_RELATIVE)
				continue;
			assert_true(t->state[(size_t)id * t->n_samples + at] & LP_PRESENT);
			for (uint32_t c = 0; c < k->n_columns; c++) {
				if (k->columns[c])
					truth_check_cell(cat->schemas[k->schema].columns[c].type,
						k->columns[c][cell], truth_cells(t, id, c)[at],
						TRUTH_INTACT);
			}
		}
	}
}

/* Compare a batch; `seen` counts how often each sample of the truth was delivered. */
UNUSED static void truth_check_batch(const struct truth *t, const struct lp_catalogue *cat,
	const struct lp_batch *b, enum truth_mode mode, uint8_t *seen)
{
	if (b->carry)
		truth_check_carry(t, cat, b);
	for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++) {
		uint32_t at = truth_sample(t, b->mono_us[s]), want = 0;
		uint32_t present = truth_check_sample(t, cat, b, s, mode);

		for (uint32_t id = 0; id < t->n_components; id++)
			want += t->state[(size_t)id * t->n_samples + at] & LP_PRESENT;
		if (mode == TRUTH_EXACT)
			assert_int_equal(present, want);
		seen[at]++;
	}
}

/* Read a whole file and compare. Returns the number of samples; `*ret` is the result of reading. */
UNUSED static uint32_t truth_check_source(
	const struct truth *t, struct lp_source *source, enum truth_mode mode, int *ret)
{
	_cleanup_free_ uint8_t *seen = calloc(t->n_samples + 1, 1);
	struct lp_batch *batch;
	struct lp_err err = {0};
	uint32_t n = 0;
	int r;

	while ((r = lp_source_next(source, &batch, &err)) > 0)
		truth_check_batch(t, source->catalogue, batch, mode, seen);
	for (uint32_t s = 0; s < t->n_samples; s++) {
		assert_true(seen[s] <= 1);
		n += seen[s];
	}
	*ret = r;
	return n;
}

/* Read a file that must be perfect and have the first `n_samples` samples. */
UNUSED static void truth_check_file(const struct truth *t, const char *path, uint32_t n_samples)
{
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	int r = lp_archive_open(path, NULL, &warn, &source, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	assert_int_equal(truth_check_source(t, source, TRUTH_EXACT, &r), n_samples);
	assert_int_equal(r, 0);
	assert_int_equal(warn.count, 0);
}

/* Write samples [from, to) in loose or dense batches of `step`. */
UNUSED static void truth_write(const struct truth *t, struct lp_archive_writer *w, uint32_t from,
	uint32_t to, uint32_t step, enum lp_archive_density density)
{
	struct lp_err err = {0};

	for (uint32_t s = from; s < to; s += step) {
		uint32_t n = to - s < step ? to - s : step;
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, s, n, s > 0);

		if (lp_archive_write(w, t->catalogue, b, density, &err) < 0)
			fail_msg("%s", err.text);
	}
}

UNUSED static const struct lp_archive_meta truth_meta = {
	.observer = "host", .interval_us = 1000000, .extra = "site=lab\n"};

/* Create a file with all samples in batches of `step`; closed in order, or as by a crash. */
UNUSED static void truth_write_file(const struct truth *t, const char *path, uint32_t step,
	enum lp_archive_density density, bool close_it)
{
	struct lp_archive_writer *w;
	struct lp_err err = {0};

	unlink(path);
	if (lp_archive_create(path, &truth_meta, &w, &err) < 0)
		fail_msg("%s", err.text);
	truth_write(t, w, 0, t->n_samples, step, density);
	if (close_it)
		assert_int_equal(lp_archive_close(w, &err), 0);
	else
		lp_archive_abandon(w);
}

/* A separate directory for the test. */
UNUSED static char test_dir[64];

UNUSED static int test_dir_make(void **state)
{
	(void)state;
	snprintf(test_dir, sizeof(test_dir), "%s", "/tmp/limpet-test-XXXXXX");
	return mkdtemp(test_dir) ? 0 : -1;
}

UNUSED static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

UNUSED static int test_dir_remove(void **state)
{
	(void)state;
	return nftw(test_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in that directory; valid until the fourth call after this one. */
UNUSED static const char *test_path(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", test_dir, name);
	return path;
}

UNUSED static void test_write_file(const char *path, const void *data, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(file_pwrite_full(fd, data, size, 0), 0);
}

UNUSED static uint8_t *test_read_file(const char *path, size_t *ret_size)
{
	struct lp_err err = {0};
	char *data;

	if (file_slurp(path, 1 << 28, &data, ret_size, &err) < 0)
		fail_msg("%s", err.text);
	return (uint8_t *)data;
}

#endif
