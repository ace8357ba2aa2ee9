#include "collect/census.h"
#include "collect/collector.h"
#include "unit.h"

#include "base/cleanup.h"
#include "model/catalogue.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PER_BATCH 10

static const struct lp_column columns[] = {{"n", "x", LP_COUNTER, 64}};
static const struct lp_schema disk = {"disk", columns, 1}, net = {"net", columns, 1};

/* What the loop has, without threads and files. */
struct bench {
	struct census census;
	struct journal journal;
	struct collect_sink sink;
};

static void bench_make(struct bench *b)
{
	*b = (struct bench){0};
	b->sink = (struct collect_sink){.catalogue = lp_catalogue_new(),
		.batch = lp_batch_new(PER_BATCH + 1),
		.census = &b->census};
	assert_non_null(b->sink.catalogue);
	assert_non_null(b->sink.batch);
}

static void bench_release(struct bench *b)
{
	census_release(&b->census);
	journal_release(&b->journal);
	lp_catalogue_free(b->sink.catalogue);
	lp_batch_free(b->sink.batch);
}

static void begin_sample(struct bench *b)
{
	assert_int_equal(lp_batch_add_sample(b->sink.batch, 0, 0), 0);
}

/* A batch is full: the next one begins with its last sample. */
static void end_batch(struct bench *b)
{
	struct lp_batch *next = lp_batch_new(PER_BATCH + 1);

	census_note(&b->census, b->sink.batch);
	assert_int_equal(lp_batch_carry(next, b->sink.batch), 0);
	lp_batch_free(b->sink.batch);
	b->sink.batch = next;
	census_retire(&b->census, b->sink.catalogue, &b->journal);
}

static void add(
	struct bench *b, const struct lp_schema *schema, const char *name, struct collect_row *ret)
{
	struct lp_err err = {0};

	assert_int_equal(collect_add_component(&b->sink, schema, "h", name, "", ret, &err), 0);
}

static int store(struct bench *b, struct collect_row *row)
{
	const int64_t value = 1;
	struct lp_err err = {0};

	return collect_store(&b->sink, row, false, &value, &err);
}

/* So many samples that have only `row`. */
static void pass(struct bench *b, struct collect_row *row, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (b->sink.batch->n_samples == b->sink.batch->cap_samples)
			end_batch(b);
		begin_sample(b);
		if (row)
			assert_int_equal(store(b, row), 0);
	}
	end_batch(b);
}

static void test_retires(void **state)
{
	struct collect_row sda, sdb, again, sdc, eth0;
	struct bench b;
	uint32_t id;

	(void)state;
	bench_make(&b);
	add(&b, &disk, "sda", &sda);
	add(&b, &disk, "sdb", &sdb);
	add(&b, &net, "eth0", &eth0);
	begin_sample(&b);
	assert_int_equal(store(&b, &sda), 0);
	assert_int_equal(store(&b, &sdb), 0);
	assert_int_equal(store(&b, &eth0), 0);
	end_batch(&b);
	pass(&b, &sda, CENSUS_HORIZON);
	assert_true(collect_holds(&b.sink, &sdb)); /* not yet */
	assert_int_equal(b.journal.n, 0);
	pass(&b, &sda, 1);
	assert_false(collect_holds(&b.sink, &sdb));
	assert_int_equal(b.journal.n, 1);
	assert_int_equal(store(&b, &sdb), -ESTALE);
	assert_int_equal(catalogue_find(b.sink.catalogue, 0, "h", "sdb", &id), -ENOENT);
	/* Who never saw others of its kind without it stays. */
	assert_true(collect_holds(&b.sink, &eth0));
	assert_true(collect_holds(&b.sink, &sda));
	/* Another component has its id; a component that is added again is new. */
	add(&b, &disk, "sdc", &sdc);
	assert_int_equal(sdc.id, sdb.id);
	assert_false(collect_holds(&b.sink, &sdb));
	add(&b, &disk, "sdb", &again);
	assert_int_not_equal(again.id, sdb.id);
	assert_int_equal(b.sink.n_added, 5);
	bench_release(&b);
}

/* A collector that fails for days makes no component retire. */
static void test_silence(void **state)
{
	struct collect_row sda;
	struct bench b;

	(void)state;
	bench_make(&b);
	add(&b, &disk, "sda", &sda);
	pass(&b, &sda, 1);
	pass(&b, NULL, 3 * CENSUS_HORIZON);
	assert_true(collect_holds(&b.sink, &sda));
	begin_sample(&b);
	assert_int_equal(store(&b, &sda), 0);
	bench_release(&b);
}

/* However many come and go, there are as many ids as were seen within a horizon. */
static void test_bounded(void **state)
{
	struct collect_row eth0, veth;
	struct bench b;
	char name[32];

	(void)state;
	bench_make(&b);
	add(&b, &net, "eth0", &eth0);
	for (unsigned i = 0; i < 100000; i++) {
		if (b.sink.batch->n_samples == b.sink.batch->cap_samples)
			end_batch(&b);
		begin_sample(&b);
		snprintf(name, sizeof(name), "veth%u", i);
		add(&b, &net, name, &veth);
		assert_int_equal(store(&b, &veth), 0);
		assert_int_equal(store(&b, &eth0), 0);
	}
	assert_int_equal(b.sink.n_added, 100001);
	assert_true(b.sink.catalogue->n_components > CENSUS_HORIZON);
	assert_true(b.sink.catalogue->n_components <= CENSUS_HORIZON + 3 * PER_BATCH);
	assert_true(b.journal.n <= b.sink.catalogue->n_components);
	assert_true(collect_holds(&b.sink, &eth0));
	bench_release(&b);
}

/* New names come much faster than the horizon forgets them: those that have been missing longest
 * retire, and memory is limited. */
static void test_many_missing(void **state)
{
	struct collect_row eth0, veth, last[3];
	struct bench b;
	char name[32];

	(void)state;
	bench_make(&b);
	add(&b, &net, "eth0", &eth0);
	for (unsigned i = 0; i < 6 * CENSUS_MISSING_MAX; i++) {
		if (i % 1024 == 0) {
			if (b.sink.batch->n_samples)
				end_batch(&b);
			begin_sample(&b);
			assert_int_equal(store(&b, &eth0), 0);
		}
		snprintf(name, sizeof(name), "veth%u", i);
		add(&b, &net, name, &veth);
		assert_int_equal(store(&b, &veth), 0);
		last[i % 3] = veth;
	}
	pass(&b, &eth0, 1);
	assert_true(b.census.n <= CENSUS_MISSING_MAX + 3 * 1024);
	assert_true(b.sink.catalogue->n_components == b.census.n);
	/* Those that were there last are known. */
	for (unsigned i = 0; i < 3; i++)
		assert_true(collect_holds(&b.sink, &last[i]));
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retires),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_many_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
