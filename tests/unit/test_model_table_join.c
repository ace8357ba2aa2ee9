#include "base/cleanup.h"
#include "model/table_pack.h"
#include "table_rig.h"
#include <errno.h>

static const struct lp_column columns[] = {{"rd_ios", "requests", LP_COUNTER, 64},
	{"wr_ios", "requests", LP_COUNTER, 64}, {"rd_ticks", "ms", LP_COUNTER, 32},
	{"wr_ticks", "ms", LP_COUNTER, 32}, {"in_flight", "requests", LP_GAUGE, 0},
	{"lat", "ms", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", columns, ARRAY_SIZE(columns)};
static const char *const metrics[] = {"await", "tps", "inflight", "lat"};

/* A life of two disks. */
struct life {
	int64_t wall, mono;
	int64_t values[2][ARRAY_SIZE(columns)];
	uint32_t unit_us; /* times are multiples of it */
	uint8_t flags;	  /* for all states */
	bool calm;
};

/* Step the clock: mostly forward, sometimes far, sometimes back. */
static void life_tick(struct life *l)
{
	int64_t jitter = l->calm ? 0 : (int64_t)random_below(US_PER_SEC / 4 / l->unit_us);

	l->mono += US_PER_SEC + jitter * l->unit_us;
	l->wall += US_PER_SEC + jitter * l->unit_us;
	if (!l->calm && random_below(30) == 0)
		l->wall += random_below(40) * US_PER_SEC;
	if (!l->calm && random_below(30) == 0)
		l->wall -= random_below(30) * US_PER_SEC;
}

static void life_work(struct life *l, int64_t *v)
{
	for (int i = 0; i < 4; i++) {
		if (v[i] == LP_MISSING)
			v[i] = random_below(2) ? 5 : LP_MISSING;
		else
			v[i] += random_below(3) ? random_below(1000) : 0;
	}
	if (!l->calm && random_below(40) == 0)
		v[random_below(4)] = random_below(2) ? 0 : LP_MISSING;
	v[4] = random_below(9);
	v[5] = lp_cell_from_real(random_below(10) ? random_below(80) / 8.0 : NAN);
}

static void life_sample(struct life *l, struct rig *r, const uint32_t *ids)
{
	life_tick(l);
	rig_sample(r, l->wall, l->mono);
	for (int i = 0; i < 2; i++) {
		uint8_t fresh = !l->calm && random_below(25) == 0 ? LP_FRESH : 0;

		life_work(l, l->values[i]);
		if (l->calm || random_below(20))
			rig_set(r, ids[i], LP_PRESENT | fresh | l->flags, l->values[i]);
	}
}

/* One file: some batches of samples for each of the builders. */
static void life_file(struct life *l, struct lp_table_builder *a, struct lp_table_builder *b)
{
	_cleanup_(rig_release) struct rig r;
	uint32_t ids[2], n = 1 + random_below(60);

	rig_init(&r, US_PER_SEC);
	ids[0] = rig_component(&r, &disk, "a", "sda");
	ids[1] = rig_component(&r, &disk, "a", "sdb");
	for (uint32_t i = 0; i < n; i++) {
		life_sample(l, &r, ids);
		if (random_below(15) && i + 1 < n)
			continue;
		rig_add(a, &r);
		rig_add(b, &r);
		rig_next_batch(&r);
	}
}

/* Another process gets the part, and has a builder like it. */
static struct lp_table_builder *hand_over(
	struct lp_table_builder *part, const struct lp_table_options *opt)
{
	_cleanup_(strbuf_release) struct strbuf packed = {0};
	struct lp_table_builder *there = rig_builder(opt);
	struct cursor from;

	table_builder_pack(part, &packed);
	assert_false(packed.failed);
	from = (struct cursor){.p = (const uint8_t *)packed.text,
		.end = (const uint8_t *)packed.text + packed.len};
	assert_int_equal(table_builder_unpack(there, &from), 0);
	assert_ptr_equal(from.p, from.end);
	assert_int_equal(there->budget.used, part->budget.used);
	lp_table_builder_free(part);
	return there;
}

/* Two runs gave the same tables, bit for bit. */
static void assert_same(const struct rig_tables *a, const struct rig_tables *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct lp_table *x = a->tables[i], *y = b->tables[i];

		assert_string_equal(x->metric, y->metric);
		assert_string_equal(x->unit, y->unit);
		assert_int_equal(x->start_us, y->start_us);
		assert_int_equal(x->n_slots, y->n_slots);
		assert_int_equal(x->n_components, y->n_components);
		for (uint32_t c = 0; c < x->n_components; c++)
			assert_string_equal(x->components[c]->text, y->components[c]->text);
		for (size_t k = 0; k < (size_t)x->n_slots * x->n_components; k++)
			assert_true(lp_cell_from_real(x->values[k]) ==
					lp_cell_from_real(y->values[k]) ||
				(isnan(x->values[k]) && isnan(y->values[k])));
	}
}

static const int64_t steps[] = {SEC(1), SEC(2), SEC(15), SEC(60), LP_TABLE_FOREVER};

/* Files read into a builder each and joined are what one builder makes of them. Times are eighths
 * of seconds here, the sums of which are exact. */
static void test_join_is_reading_on(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 150; seed++) {
		struct lp_table_options opt = {.metrics = metrics,
			.n_metrics = ARRAY_SIZE(metrics),
			.step_us = steps[seed % ARRAY_SIZE(steps)]};
		struct life l = {.wall = T0, .unit_us = 125000, .calm = seed % 7 == 0};
		struct lp_table_builder *one = rig_builder(&opt), *joined = rig_builder(&opt);
		_cleanup_(rig_tables_release) struct rig_tables t1 = {0}, t2 = {0};
		struct lp_err err = {0};

		random_state = seed;
		for (int file = 0; file < 5; file++) {
			struct lp_table_builder *part = rig_builder(&opt);

			if (random_below(3) == 0) /* a file that was copied late */
				l.wall -= random_below(50) * US_PER_SEC;
			life_file(&l, one, part);
			if (seed % 2)
				part = hand_over(part, &opt);
			assert_int_equal(table_builder_join(joined, part, "part", &err), 0);
			lp_table_builder_free(part);
		}
		rig_finish(one, &t1);
		rig_finish(joined, &t2);
		assert_int_equal(t1.n, ARRAY_SIZE(metrics));
		assert_same(&t1, &t2);
	}
}

/* Growth taken at once is, bit for bit, growth added up: that of a row marked relative, which
 * means nothing to growth, is always added up. */
static void test_steady_rows_are_no_others(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 150; seed++) {
		struct lp_table_options opt = {.metrics = metrics,
			.n_metrics = 2,
			.step_us = steps[seed % ARRAY_SIZE(steps)]};
		struct rig_tables t[2] = {{0}};

		for (int run = 0; run < 2; run++) {
			struct lp_table_builder *b = rig_builder(&opt),
						*ignored = rig_builder(&opt);
			struct life l = {.wall = T0, .unit_us = 1, .calm = seed % 3 == 0};

			if (seed % 5 == 0) /* sums beyond what is exact */
				l.values[0][0] = l.values[1][2] = (INT64_C(1) << 62) - 7;
			l.flags = run ? LP_RELATIVE : 0;
			random_state = seed;
			for (int file = 0; file < 3; file++)
				life_file(&l, b, ignored);
			rig_finish(b, &t[run]);
			lp_table_builder_free(ignored);
		}
		assert_same(&t[0], &t[1]);
		rig_tables_release(&t[0]);
		rig_tables_release(&t[1]);
	}
}

/* A leap of more than 2^53 requests is no leap of a disk, but it is added up as ever. */
static void test_growth_beyond_exactness(void **state)
{
	struct lp_table_options opt = {.metrics = metrics + 1, .n_metrics = 1, .step_us = SEC(5)};
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	double sum = 0;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, "a", "sda");
	for (int64_t s = 0; s <= 5; s++) {
		int64_t values[ARRAY_SIZE(columns)] = {s * ((INT64_C(1) << 53) + 3)};

		rig_sample(&r, T0 + SEC(s), SEC(s));
		rig_set(&r, id, LP_PRESENT, values);
		sum += s ? (double)((INT64_C(1) << 53) + 3) : 0;
	}
	rig_add(b, &r);
	rig_finish(b, &t);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(5)) == sum / 5);
}

static void test_join_beyond_the_budget(void **state)
{
	struct lp_table_options small = {
		.metrics = metrics, .n_metrics = 1, .step_us = SEC(1), .bytes_max = 512};
	struct lp_table_options large = {.metrics = metrics, .n_metrics = 1, .step_us = SEC(1)};
	struct lp_err err = {0};
	int r = 0;

	(void)state;
	for (int again = 0; again < 2; again++) {
		struct lp_table_builder *b = rig_builder(&small);

		for (int file = 0; r == 0 && file < 20; file++) {
			struct lp_table_builder *part = rig_builder(&large);
			struct lp_table_builder *other = rig_builder(&large);
			struct life l = {.wall = T0 + SEC(again ? 100 * file : 0),
				.unit_us = 125000,
				.calm = true};

			life_file(&l, part, other);
			r = table_builder_join(b, part, "part.lpa", &err);
			lp_table_builder_free(part);
			lp_table_builder_free(other);
		}
		lp_table_builder_free(b);
		if (again)
			assert_non_null(strstr(err.text, "part.lpa: a table from 2011-03-13T"));
	}
	assert_int_equal(r, -EFBIG);
}

/* Samples without a value do not take away what an earlier file has. */
static void test_later_nothing_keeps(void **state)
{
	struct lp_table_options opt = {.metrics = metrics, .n_metrics = 1, .step_us = SEC(1)};
	struct lp_table_builder *b[2] = {rig_builder(&opt), rig_builder(&opt)};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_err err = {0};

	(void)state;
	for (int file = 0; file < 2; file++) {
		_cleanup_(rig_release) struct rig r;
		uint32_t id;

		rig_init(&r, US_PER_SEC);
		id = rig_component(&r, &disk, "a", "sda");
		for (int64_t s = 0; s < 3; s++) {
			int64_t values[ARRAY_SIZE(columns)] = {s, 0, 7 * s};

			rig_sample(&r, T0 + SEC(s), SEC(s));
			if (!file || s < 2)
				rig_set(&r, id, LP_PRESENT | (file && s ? LP_FRESH : 0), values);
		}
		rig_add(b[file], &r);
	}
	assert_int_equal(table_builder_join(b[0], b[1], "later", &err), 0);
	lp_table_builder_free(b[1]);
	rig_finish(b[0], &t);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(1)) == 7);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(2)) == 7);
}

/* Bytes that end early are refused, wherever they end. */
static void test_packed_cut_off(void **state)
{
	struct lp_table_options opt = {
		.metrics = metrics, .n_metrics = ARRAY_SIZE(metrics), .step_us = SEC(1)};
	struct life l = {.wall = T0, .unit_us = 125000};
	struct lp_table_builder *b = rig_builder(&opt), *ignored = rig_builder(&opt);
	_cleanup_(strbuf_release) struct strbuf packed = {0};

	(void)state;
	random_state = 3;
	life_file(&l, b, ignored);
	table_builder_pack(b, &packed);
	assert_true(packed.len > 100);
	for (size_t n = 0; n < packed.len; n += 1 + n / 50) {
		struct lp_table_builder *there = rig_builder(&opt);
		struct cursor from = {
			.p = (const uint8_t *)packed.text, .end = (const uint8_t *)packed.text + n};

		assert_int_equal(table_builder_unpack(there, &from), -EBADMSG);
		lp_table_builder_free(there);
	}
	lp_table_builder_free(b);
	lp_table_builder_free(ignored);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_is_reading_on),
		cmocka_unit_test(test_packed_cut_off),
		cmocka_unit_test(test_steady_rows_are_no_others),
		cmocka_unit_test(test_growth_beyond_exactness),
		cmocka_unit_test(test_join_beyond_the_budget),
		cmocka_unit_test(test_later_nothing_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
