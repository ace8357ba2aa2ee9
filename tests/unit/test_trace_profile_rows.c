#include "trace/profile/profile_rows.h"

#include "unit.h"
#include <stdio.h>
#include <string.h>

struct desk {
	struct profile_rows *rows;
	struct collect_sink sink;
	struct lp_batch *batch;
	int64_t now_us;
};

static void desk_open(struct desk *d)
{
	*d = (struct desk){
		.rows = profile_rows_new("s3"), .batch = lp_batch_new(16), .now_us = 1000000};
	d->sink.catalogue = lp_catalogue_new();
	d->sink.batch = d->batch;
	assert_true(d->rows && d->batch && d->sink.catalogue);
}

static void desk_close(struct desk *d)
{
	profile_rows_free(d->rows);
	lp_batch_free(d->batch);
	lp_catalogue_free(d->sink.catalogue);
}

static int desk_sample(struct desk *d, const struct profile_totals *t)
{
	struct lp_err err = {0};

	d->now_us += 10000000;
	assert_int_equal(lp_batch_add_sample(d->batch, d->now_us, d->now_us), 0);
	return profile_rows_fill(d->rows, t, &d->sink, &err);
}

/* What a column grew by in the last sample; -1: the component was not there. */
static int64_t growth(const struct desk *d, const char *name, uint32_t column)
{
	uint32_t s = d->batch->n_samples - 1;

	for (uint32_t k = 0; k < d->batch->n_kinds; k++) {
		const struct lp_batch_kind *kind = &d->batch->kinds[k];

		for (uint32_t i = 0; i < kind->n_components; i++) {
			size_t at = (size_t)i * d->batch->cap_samples + s;
			char text[512];

			lp_component_name(d->sink.catalogue, kind->ids[i], text, sizeof(text));
			if (strcmp(text, name) != 0 || !(kind->state[at] & LP_PRESENT))
				continue;
			assert_false(kind->state[at] & LP_FRESH);
			return kind->columns[column][at] - kind->columns[column][at - 1];
		}
	}
	return -1;
}

static void test_counts(void **state)
{
	const struct profile_totals none = {.hz = 199};
	const struct profile_totals some = {
		.samples = 12, .idle = 5, .unknown = 1, .lost = 2, .hz = 199};
	struct desk d;

	(void)state;
	desk_open(&d);
	assert_int_equal(desk_sample(&d, &none), 1); /* it begins */
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "dd:libc.so.6:read", 4), 0);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "dd:libc.so.6:read", 3), 0);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "dd:dd:copy", 5), 0);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_STACKS, "dd;main;copy", 5), 0);
	assert_int_equal(desk_sample(&d, &some), 0);
	assert_int_equal(growth(&d, "s3/function:dd:libc.so.6:read", 0), 7);
	assert_int_equal(growth(&d, "s3/function:dd:dd:copy", 0), 5);
	assert_int_equal(growth(&d, "s3/stack:dd;main;copy", 0), 5);
	assert_int_equal(growth(&d, "s3/profile:cpu", 0), 12);
	assert_int_equal(growth(&d, "s3/profile:cpu", 1), 5);
	assert_int_equal(growth(&d, "s3/profile:cpu", 2), 1);
	assert_int_equal(growth(&d, "s3/profile:cpu", 3), 2);
	/* What is not seen any more did nothing. */
	assert_int_equal(desk_sample(&d, &some), 0);
	assert_int_equal(growth(&d, "s3/function:dd:dd:copy", 0), 0);
	desk_close(&d);
}

/* Rows that do nothing for long go, and count from where they were when they return. */
static void test_idle(void **state)
{
	const struct profile_totals none = {.hz = 199};
	struct desk d;

	(void)state;
	desk_open(&d);
	desk_sample(&d, &none);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "a:a:f", 4), 0);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "b:b:g", 4), 0);
	desk_sample(&d, &none);
	for (int i = 0; i < PROFILE_IDLE_PERIODS + 1; i++) {
		profile_rows_tick(d.rows);
		assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "b:b:g", 1), 0);
	}
	desk_sample(&d, &none);
	assert_int_equal(growth(&d, "s3/function:a:a:f", 0), -1);
	assert_int_equal(growth(&d, "s3/function:b:b:g", 0), PROFILE_IDLE_PERIODS + 1);
	assert_int_equal(profile_rows_count(d.rows, PROFILE_FUNCTIONS, "a:a:f", 3), 0);
	desk_sample(&d, &none);
	assert_int_equal(growth(&d, "s3/function:a:a:f", 0), 3);
	desk_close(&d);
}

static void count_rows(void *ctx, const char *name, const int64_t *values)
{
	uint64_t *sums = ctx, n = (uint64_t)values[0];

	sums[0]++;
	sums[1] += n;
	if (!strcmp(name, "other"))
		sums[2] += n;
}

/* However many there are, they take a bounded amount of room, and none is lost. */
static void test_many(void **state)
{
	struct profile_rows *r = profile_rows_new("s3");
	uint64_t sums[3] = {0};

	(void)state;
	for (int i = 0; i < PROFILE_FUNCTIONS_MAX + 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p:i:f%d", i);
		assert_int_equal(profile_rows_count(r, PROFILE_FUNCTIONS, name, 2), 0);
	}
	profile_rows_each(r, PROFILE_FUNCTIONS, count_rows, sums);
	assert_int_equal(sums[0], PROFILE_FUNCTIONS_MAX + 1);
	assert_int_equal(sums[1], 2 * (PROFILE_FUNCTIONS_MAX + 100));
	assert_int_equal(sums[2], 200);
	profile_rows_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
