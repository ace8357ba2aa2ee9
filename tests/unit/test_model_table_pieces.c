/* Tables in pieces: what is refused as a whole, and nothing but that. */
#include "model/table_pieces.h"
#include "table_rig.h"
#include <errno.h>

static const struct lp_column latency_column[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema csv_disk = {"disk", latency_column, 1};
static const struct lp_column disk_columns[] = {{"rd_ios", "requests", LP_COUNTER, 0},
	{"wr_ios", "requests", LP_COUNTER, 0}, {"rd_ticks", "ms", LP_COUNTER, 0},
	{"wr_ticks", "ms", LP_COUNTER, 0}};
static const struct lp_schema disk = {"disk", disk_columns, 4};
static const char *const latency[] = {"latency"};

#define SINGLES 4000
#define LENGTH 4000
#define BUSY "a/disk:busy"

static const struct lp_table_options every = {.step_us = US_PER_SEC};
static const struct lp_table_options one = {
	.metrics = latency, .n_metrics = 1, .step_us = US_PER_SEC};

/* Components of one sample each, all at other times. */
static void put_singles(struct lp_table_builder *b)
{
	for (int i = 0; i < SINGLES; i++) {
		_cleanup_(rig_release) struct rig r;
		char name[16];

		snprintf(name, sizeof(name), "d%d", i);
		rig_init(&r, US_PER_SEC);
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set1(&r, rig_component(&r, &csv_disk, "a", name), lp_cell_from_real(i));
		rig_add(b, &r);
	}
}

/* A disk that counts all the time: it has metrics that look back. */
static void put_busy(struct lp_table_builder *b)
{
	_cleanup_(rig_release) struct rig r;
	int64_t counters[4] = {0};
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, "a", "busy");
	for (int i = 0; i < LENGTH; i++) {
		counters[0] += 10;
		counters[2] += 10 * (i % 97);
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set(&r, id, LP_PRESENT, counters);
	}
	rig_add(b, &r);
}

struct seen {
	const struct lp_table *whole; /* what one of the metrics has to be; NULL: nothing */
	uint32_t n_pieces, n_values, n_compared, n_last;
	uint64_t largest; /* bytes */
	int64_t end_us;	  /* of the piece before */
	int stop;
};

static void compare_piece(struct seen *seen, const struct lp_table *t)
{
	for (uint32_t s = 0; s < t->n_slots; s++) {
		double got = rig_value(t, BUSY, lp_table_time(t, s));
		double want = rig_value(seen->whole, BUSY, lp_table_time(t, s));

		assert_true(isnan(want) ? isnan(got) : got == want);
		seen->n_compared += !isnan(want);
	}
}

static int take_piece(
	void *ctx, struct lp_table *const *tables, uint32_t n, bool last, struct lp_err *err)
{
	struct seen *seen = ctx;
	uint64_t bytes = 0;

	(void)err;
	seen->n_pieces++;
	seen->n_last += last;
	for (uint32_t t = 0; t < n; t++) {
		size_t cells = (size_t)tables[t]->n_components * tables[t]->n_slots;

		bytes += cells * sizeof(double);
		for (size_t i = 0; i < cells && !strcmp(tables[t]->metric, "latency"); i++)
			seen->n_values += !isnan(tables[t]->values[i]);
		if (seen->whole && !strcmp(tables[t]->metric, seen->whole->metric))
			compare_piece(seen, tables[t]);
	}
	if (n) {
		assert_true(tables[0]->start_us > seen->end_us);
		seen->end_us = lp_table_time(tables[0], tables[0]->n_slots - 1);
	}
	seen->largest = bytes > seen->largest ? bytes : seen->largest;
	return seen->stop;
}

static void test_single_samples(void **state)
{
	struct lp_table_builder *b = rig_builder(&one);
	struct seen seen = {.end_us = INT64_MIN};
	struct lp_err err = {0};

	(void)state;
	put_singles(b);
	assert_int_equal(table_builder_pieces(b, take_piece, &seen, &err), 0);
	assert_int_equal(seen.n_values, SINGLES);
	assert_true(seen.n_pieces > 1);
	assert_int_equal(seen.n_last, 1);
	assert_true(seen.largest <= 16 << 20);
	lp_table_builder_free(b);
}

/* A peak is the largest value of the 15 s before it, also where a piece begins. */
static void test_what_looks_back(void **state)
{
	struct lp_table_builder *b = rig_builder(&every), *alone = rig_builder(&every);
	_cleanup_(rig_tables_release) struct rig_tables whole = {0};
	struct seen seen = {.end_us = INT64_MIN};
	struct lp_err err = {0};

	(void)state;
	put_busy(alone);
	rig_finish(alone, &whole);
	for (uint32_t i = 0; i < whole.n; i++) {
		if (!strcmp(whole.tables[i]->metric, "await-peak"))
			seen.whole = whole.tables[i];
	}
	assert_non_null(seen.whole);
	put_singles(b);
	put_busy(b);
	assert_int_equal(table_builder_pieces(b, take_piece, &seen, &err), 0);
	assert_true(seen.n_pieces > 1);
	assert_int_equal(seen.n_values, SINGLES);
	assert_int_equal(seen.n_compared, LENGTH - 1);
	lp_table_builder_free(b);
}

static void test_whole(void **state)
{
	struct lp_table_builder *b = rig_builder(&every), *empty = rig_builder(&every);
	struct seen seen = {.end_us = INT64_MIN}, nothing = {.end_us = INT64_MIN};
	struct lp_err err = {0};

	(void)state;
	put_busy(b);
	assert_int_equal(table_builder_pieces(b, take_piece, &seen, &err), 0);
	assert_true(seen.n_pieces == 1 && seen.n_last == 1);
	assert_int_equal(table_builder_pieces(empty, take_piece, &nothing, &err), 0);
	assert_true(nothing.n_pieces == 1 && nothing.n_last == 1 && !nothing.largest);
	lp_table_builder_free(b);
	lp_table_builder_free(empty);
}

static void test_who_has_enough(void **state)
{
	struct lp_table_builder *b = rig_builder(&one);
	struct seen seen = {.end_us = INT64_MIN, .stop = -EPIPE};
	struct lp_err err = {0};

	(void)state;
	put_singles(b);
	assert_int_equal(table_builder_pieces(b, take_piece, &seen, &err), -EPIPE);
	assert_int_equal(seen.n_pieces, 1);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_samples),
		cmocka_unit_test(test_what_looks_back),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_who_has_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
