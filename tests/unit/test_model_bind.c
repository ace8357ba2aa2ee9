#include "model/bind.h"

#include "base/array.h"
#include "unit.h"
#include <math.h>

#define COUNTER(name)                                                                              \
	{                                                                                          \
		name, "", LP_COUNTER, 64                                                           \
	}
#define COUNTER32(name)                                                                            \
	{                                                                                          \
		name, "", LP_COUNTER, 32                                                           \
	}
#define GAUGE(name)                                                                                \
	{                                                                                          \
		name, "", LP_GAUGE, 0                                                              \
	}
#define REAL(name)                                                                                 \
	{                                                                                          \
		name, "", LP_REAL, 0                                                               \
	}
#define SCHEMA(kind, columns)                                                                      \
	{                                                                                          \
		kind, columns, ARRAY_SIZE(columns)                                                 \
	}

#define CELLS 4
#define COLUMNS 8

/* The cells of a component: cells[column][sample]. */
struct cells {
	int64_t values[COLUMNS][CELLS];
	int64_t *columns[COLUMNS];
};

static int64_t *const *columns_of(struct cells *c)
{
	for (size_t i = 0; i < COLUMNS; i++)
		c->columns[i] = c->values[i];
	return c->columns;
}

static const struct lp_column modern[] = {COUNTER("rd_ios"), COUNTER("rd_sec"),
	COUNTER32("rd_ticks"), COUNTER("wr_ios"), COUNTER("wr_sec"), COUNTER32("wr_ticks"),
	COUNTER("dc_ios"), COUNTER32("dc_ticks")};
static const struct lp_schema modern_disk = SCHEMA("disk", modern);

static void test_sum_of_all_columns(void **state)
{
	struct cells c = {
		.values = {{10, 14}, {0}, {100, 140}, {20, 25}, {0}, {200, 240}, {1, 2}, {7, 27}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "await", false, &b));
	assert_true(b.has_counters);
	assert_true(bind_uses(&b, 2) && bind_uses(&b, 7) && bind_uses(&b, 0));
	assert_false(bind_uses(&b, 1));
	assert_true(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(bind_value(&b, &acc) == 100.0 / 10);
}

static void test_optional_column_not_in_the_schema(void **state)
{
	static const struct lp_column old[] = {COUNTER("rd_ios"), COUNTER("wr_ios")};
	static const struct lp_schema s = SCHEMA("disk", old);
	struct cells c = {.values = {{10, 14}, {20, 25}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&s, "tps", false, &b));
	assert_int_equal(b.inputs[0].n, 2);
	assert_true(bind_add(&b, columns_of(&c), 1, 0.5, &acc));
	assert_true(bind_value(&b, &acc) == 18);
	assert_false(bind_metric(&s, "await", false, &b));
	assert_false(bind_metric(&s, "nosuch", false, &b));
}

/* Old kernels print fewer columns: the recorder has them all, some without values. */
static void test_optional_column_without_values(void **state)
{
	struct cells c = {
		.values = {{10, 14}, {0}, {0}, {20, 25}, {0}, {0}, {LP_MISSING, LP_MISSING}, {0}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "tps", false, &b));
	assert_true(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(bind_value(&b, &acc) == 9);
	/* It appears after a change of kernels: from then on it counts. */
	c.values[6][1] = 5;
	acc = (struct bind_acc){0};
	assert_true(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(bind_value(&b, &acc) == 9);
}

static void test_required_column_without_value(void **state)
{
	struct cells c = {.values = {{10, 14}, {0}, {0}, {20, LP_MISSING}, {0}, {0}, {1, 1}, {0}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "tps", false, &b));
	assert_false(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(isnan(bind_value(&b, &acc)));
	/* A part that was reset makes the sum unknown, optional or not. */
	c.values[3][1] = 21;
	c.values[6][1] = 0;
	assert_false(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_int_equal(acc.n, 0);
}

/* sysstat counts all requests in one column. */
static void test_alternative(void **state)
{
	static const struct lp_column sysstat[] = {
		COUNTER("ios"), COUNTER("rd_ios"), COUNTER("wr_ios")};
	static const struct lp_schema s = SCHEMA("disk", sysstat);
	struct bind b;

	(void)state;
	assert_true(bind_metric(&s, "tps", false, &b));
	assert_int_equal(b.inputs[0].n, 1);
	assert_true(bind_uses(&b, 0));
	assert_false(bind_uses(&b, 1));
}

static void test_32_bits_wrap(void **state)
{
	struct cells c = {.values = {{10, 20}, {0}, {4294967195, 199}, {0}, {0}, {0}, {0}, {0}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "r_await", false, &b));
	assert_true(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(bind_value(&b, &acc) == 30);
}

static void test_several_samples_make_one_value(void **state)
{
	struct cells c = {
		.values = {{0, 1, 1, 11}, {0}, {0, 100, 100, 110}, {0}, {0}, {0}, {0}, {0}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "r_await", false, &b));
	for (size_t s = 1; s < CELLS; s++)
		assert_true(bind_add(&b, columns_of(&c), s, 1, &acc));
	/* All waiting over all requests, not the mean of 100, 0 and 1. */
	assert_true(bind_value(&b, &acc) == 10);
	assert_true(acc.dt_s == 3);
}

static void test_gauges_are_averaged(void **state)
{
	static const struct lp_column tcp[] = {GAUGE("sockets"), GAUGE("cwnd_sum")};
	static const struct lp_schema s = SCHEMA("tcp", tcp);
	struct cells c = {.values = {{2, 4, 0, LP_MISSING}, {20, 10, 0, 3}}};
	struct bind_acc acc = {0};
	struct bind sockets, cwnd;

	(void)state;
	assert_true(bind_metric(&s, "sockets", false, &sockets));
	assert_true(bind_metric(&s, "cwnd", false, &cwnd));
	assert_false(cwnd.has_counters);
	assert_true(bind_add(&sockets, columns_of(&c), 0, 0, &acc));
	assert_true(bind_add(&sockets, columns_of(&c), 1, 1, &acc));
	assert_false(bind_add(&sockets, columns_of(&c), 3, 1, &acc));
	assert_true(bind_value(&sockets, &acc) == 3);
	acc = (struct bind_acc){0};
	assert_true(bind_add(&cwnd, columns_of(&c), 0, 0, &acc));
	assert_true(bind_add(&cwnd, columns_of(&c), 1, 1, &acc));
	assert_true(bind_value(&cwnd, &acc) == 5);
	acc = (struct bind_acc){0};
	assert_true(bind_add(&cwnd, columns_of(&c), 2, 1, &acc));
	assert_true(isnan(bind_value(&cwnd, &acc)));
}

static void test_real_column_is_the_metric(void **state)
{
	static const struct lp_column real[] = {REAL("await"), REAL("temperature")};
	static const struct lp_schema s = SCHEMA("disk", real);
	struct cells c = {0};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	c.values[0][0] = lp_cell_from_real(1.5);
	c.values[0][1] = lp_cell_from_real(NAN);
	c.values[0][2] = lp_cell_from_real(2.5);
	assert_true(bind_metric(&s, "await", false, &b));
	assert_null(b.metric);
	assert_false(b.has_counters);
	assert_true(bind_uses(&b, 0));
	assert_false(bind_uses(&b, 1));
	assert_true(bind_add(&b, columns_of(&c), 0, 0, &acc));
	assert_false(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_true(bind_add(&b, columns_of(&c), 2, 1, &acc));
	assert_true(bind_value(&b, &acc) == 2);
	assert_true(bind_metric(&s, "temperature", false, &b));
}

/* What cannot be is missing; what only is called by a name that limpet does not know may be
 * negative. */
static void test_absurd_values(void **state)
{
	static const struct lp_column real[] = {REAL("await"), REAL("temperature")};
	static const struct lp_schema s = SCHEMA("disk", real);
	const double values[] = {-1, INFINITY, -INFINITY, 1e300, -1e300};
	struct cells c = {0};
	struct bind_acc acc = {0};
	struct bind await, temperature, raw;

	(void)state;
	assert_true(bind_metric(&s, "await", false, &await));
	assert_true(bind_metric(&s, "temperature", false, &temperature));
	assert_true(bind_metric(&s, "await", true, &raw));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		assert_true(bind_is_absurd(&await, values[i]));
		assert_true(bind_is_absurd(&temperature, values[i]) == (values[i] != -1));
		assert_false(bind_is_absurd(&raw, values[i]));
		c.values[0][0] = lp_cell_from_real(values[i]);
		assert_false(bind_add(&await, columns_of(&c), 0, 0, &acc));
	}
	assert_false(bind_is_absurd(&await, 0));
	assert_false(bind_is_absurd(&await, NAN));
	assert_int_equal(acc.n, 0);
}

/* A finished metric that is called like a raw column is no input: its cells hold doubles. */
static void test_real_columns_are_no_inputs(void **state)
{
	static const struct lp_column real[] = {REAL("rd_sec"), REAL("wr_sec"), REAL("ios"),
		COUNTER("rd_ios"), COUNTER("wr_ios"), REAL("dc_ios")};
	static const struct lp_schema s = SCHEMA("disk", real);
	struct bind b;

	(void)state;
	assert_false(bind_metric(&s, "avgrq-sz", false, &b));
	assert_true(bind_metric(&s, "tps", false, &b));
	assert_int_equal(b.inputs[0].n, 2);
	assert_true(bind_uses(&b, 3) && bind_uses(&b, 4));
}

static void test_raw(void **state)
{
	struct cells c = {.values = {{10, 14, LP_MISSING}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "rd_ios", true, &b));
	assert_false(bind_metric(&modern_disk, "await", true, &b));
	assert_false(bind_metric(&modern_disk, "rd_ios", false, &b));
	assert_true(bind_metric(&modern_disk, "rd_ios", true, &b));
	assert_false(b.has_counters);
	assert_true(bind_add(&b, columns_of(&c), 0, 0, &acc));
	assert_true(bind_add(&b, columns_of(&c), 1, 1, &acc));
	assert_false(bind_add(&b, columns_of(&c), 2, 1, &acc));
	assert_true(bind_value(&b, &acc) == 14); /* the last, not the mean */
}

static void test_shapes(void **state)
{
	static const struct lp_column real[] = {REAL("tps")}, ios[] = {COUNTER("ios")};
	static const struct lp_schema s_real = SCHEMA("disk", real), s_ios = SCHEMA("disk", ios);
	struct bind a, b, c;

	(void)state;
	assert_true(bind_metric(&modern_disk, "tps", false, &a));
	assert_true(bind_metric(&s_ios, "tps", false, &b));
	assert_true(bind_metric(&s_real, "tps", false, &c));
	assert_int_equal(bind_shape(&a), bind_shape(&b));
	assert_int_not_equal(bind_shape(&a), bind_shape(&c));
}

static void test_no_time_no_rate(void **state)
{
	struct cells c = {.values = {{10, 14}}};
	struct bind_acc acc = {0};
	struct bind b;

	(void)state;
	assert_true(bind_metric(&modern_disk, "rd_sec", false, &b));
	assert_true(bind_add(&b, columns_of(&c), 1, 0, &acc));
	assert_true(isnan(bind_value(&b, &acc)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_of_all_columns),
		cmocka_unit_test(test_optional_column_not_in_the_schema),
		cmocka_unit_test(test_optional_column_without_values),
		cmocka_unit_test(test_required_column_without_value),
		cmocka_unit_test(test_alternative),
		cmocka_unit_test(test_32_bits_wrap),
		cmocka_unit_test(test_several_samples_make_one_value),
		cmocka_unit_test(test_gauges_are_averaged),
		cmocka_unit_test(test_real_column_is_the_metric),
		cmocka_unit_test(test_absurd_values),
		cmocka_unit_test(test_real_columns_are_no_inputs),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_no_time_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
