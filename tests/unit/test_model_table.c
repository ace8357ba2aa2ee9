#include <limpet/table.h>

#include "table_steady.h"
#include <errno.h>

static void test_two_observers_one_grid(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig a, c;

	(void)state;
	/* One starts two seconds later and its clock is off by nearly half a second. */
	rig_init(&a, US_PER_SEC);
	rig_init(&c, US_PER_SEC);
	add_steady(&a, rig_component(&a, &net, "a", "eth0"), T0, US_PER_SEC, 5, 100);
	add_steady(&c, rig_component(&c, &net, "c", "eth0"), T0 + SEC(2.45), US_PER_SEC, 5, 7);
	rig_add(b, &a);
	rig_add(b, &c);
	rig_finish(b, &t);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.tables[0]->metric, "rxbyt");
	assert_string_equal(t.tables[0]->unit, "bytes/s");
	assert_int_equal(t.tables[0]->n_components, 2);
	assert_int_equal(t.tables[0]->start_us, T0 + SEC(1));
	assert_int_equal(t.tables[0]->n_slots, 6);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(1)) == 100);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(4)) == 100);
	assert_true(isnan(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(5))));
	assert_true(isnan(rig_value(t.tables[0], "c/net:eth0", T0 + SEC(2))));
	assert_true(rig_value(t.tables[0], "c/net:eth0", T0 + SEC(3)) == 7);
	assert_true(rig_value(t.tables[0], "c/net:eth0", T0 + SEC(6)) == 7);
}

static void relabel(struct rig *r, uint32_t id, const char *labels)
{
	struct lp_catalogue *c = r->source.catalogue;
	uint32_t again;

	assert_int_equal(
		lp_catalogue_add_component(c, c->components[id].schema, c->components[id].observer,
			c->components[id].name, labels, &again, NULL),
		0);
	assert_int_equal(again, id);
}

/* Who a component is goes into the table as the catalogue has it, with the labels known last. */
static void test_identity(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r, later;
	const struct lp_identity *c;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	rig_init(&later, US_PER_SEC);
	id = rig_component(&r, &net, "a/b", "eth0");
	relabel(&r, id, "speed=1");
	add_steady(&r, id, T0, US_PER_SEC, 3, 100);
	rig_add(b, &r);
	relabel(&r, id, "speed=2");
	rig_add(b, &r);
	id = rig_component(&later, &net, "a/b", "eth0");
	relabel(&later, id, "speed=3");
	add_steady(&later, id, T0 + SEC(3), US_PER_SEC, 3, 100);
	rig_add(b, &later);
	rig_finish(b, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.tables[0]->n_components, 1);
	c = t.tables[0]->components[0];
	assert_string_equal(c->observer, "a/b"); /* its text alone would not show that */
	assert_string_equal(c->kind, "net");
	assert_string_equal(c->text, "a/b/net:eth0");
	assert_string_equal(c->labels, "speed=3");
	assert_ptr_equal(c, later.source.catalogue->components[id].identity);
}

static void test_clock_half_a_second_off(void **state)
{
	static const double offsets[] = {-0.499, -0.25, 0, 0.25, 0.5};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
		_cleanup_(rig_tables_release) struct rig_tables t = {0};
		_cleanup_(rig_release) struct rig r;

		rig_init(&r, US_PER_SEC);
		add_steady(&r, rig_component(&r, &net, "a", "eth0"), T0 + SEC(offsets[i]),
			US_PER_SEC, 4, 5);
		rig_run(&opt, &r, &t);
		assert_int_equal(t.tables[0]->start_us, T0 + SEC(1));
		assert_int_equal(t.tables[0]->n_slots, 3);
		for (uint32_t s = 0; s < 3; s++)
			assert_true(t.tables[0]->values[s] == 5);
	}
}

static void test_different_intervals(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, 5 * US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig fine, coarse;

	(void)state;
	rig_init(&fine, US_PER_SEC);
	rig_init(&coarse, 5 * US_PER_SEC);
	add_steady(&fine, rig_component(&fine, &net, "f", "e"), T0, US_PER_SEC, 21, 10);
	add_steady(&coarse, rig_component(&coarse, &net, "c", "e"), T0, 5 * US_PER_SEC, 5, 20);
	rig_add(b, &fine);
	rig_add(b, &coarse);
	rig_finish(b, &t);
	assert_int_equal(t.tables[0]->n_slots, 4);
	for (int64_t s = 5; s <= 20; s += 5) {
		assert_true(rig_value(t.tables[0], "f/net:e", T0 + SEC(s)) == 10);
		assert_true(rig_value(t.tables[0], "c/net:e", T0 + SEC(s)) == 20);
	}
}

/* What a table must be, said as plainly as can be: for each slot the growth between neighbours that
 * end in it, over the time between them. */
struct plain {
	int64_t wall[RIG_SAMPLES], mono[RIG_SAMPLES], value[RIG_SAMPLES];
	uint8_t state[RIG_SAMPLES];
	int n;
};

static double plain_value(const struct plain *p, int64_t slot_end_us, int64_t step_us)
{
	double growth = 0, time_s = 0;

	for (int i = 1; i < p->n; i++) {
		int64_t due = p->wall[i] - US_PER_SEC / 2; /* half an interval may be late */

		if (due > slot_end_us - step_us && due <= slot_end_us && p->state[i - 1] &&
			p->state[i] == LP_PRESENT && p->value[i] >= p->value[i - 1]) {
			growth += (double)(p->value[i] - p->value[i - 1]);
			time_s += (double)(p->mono[i] - p->mono[i - 1]) / 1e6;
		}
	}
	return time_s > 0 ? growth / time_s : NAN;
}

/* A random life: jitter, gaps, absences, replaced devices and resets. */
static void plain_make(struct plain *p, bool calm)
{
	int64_t wall = T0, value = 1000;

	p->n = 0;
	for (int i = 0; i < 300; i++) {
		int64_t jitter = calm ? 0 : random_below(400000);

		wall += US_PER_SEC;
		if (!calm && random_below(40) == 0)
			wall += random_below(60) * US_PER_SEC;
		value += random_below(1000000);
		if (!calm && random_below(30) == 0)
			value = 0;
		p->wall[p->n] = wall + jitter;
		p->mono[p->n] = wall + jitter - T0;
		p->value[p->n] = value;
		p->state[p->n] = LP_PRESENT;
		if (!calm && random_below(15) == 0)
			p->state[p->n] = LP_ABSENT;
		else if (!calm && random_below(15) == 0)
			p->state[p->n] = LP_PRESENT | LP_FRESH;
		p->n++;
	}
}

/* Hand it to a builder in batches of random length. */
static void plain_feed(const struct plain *p, struct lp_table_builder *b)
{
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &net, "a", "eth0");
	for (int i = 0; i < p->n; i++) {
		rig_sample(&r, p->wall[i], p->mono[i]);
		if (p->state[i])
			rig_set(&r, id, p->state[i], &p->value[i]);
		if (random_below(20) == 0) {
			rig_add(b, &r);
			rig_next_batch(&r);
		}
	}
	rig_add(b, &r);
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_against_the_plain_definition(void **state)
{
	static const int64_t steps[] = {1, 2, 5, 15, 60};
	static struct plain p;

	(void)state;
	for (random_state = 1; random_state < 200; random_state++) {
		uint64_t seed = random_state;
		int64_t step = steps[seed % ARRAY_SIZE(steps)] * US_PER_SEC;
		struct lp_table_options opt = OPTIONS(rxbyt, step);
		struct lp_table_builder *b = rig_builder(&opt);
		_cleanup_(rig_tables_release) struct rig_tables t = {0};

		plain_make(&p, seed % 4 == 0);
		plain_feed(&p, b);
		rig_finish(b, &t);
		assert_int_equal(t.n, 1);
		assert_true(t.tables[0]->n_slots >= 298 * US_PER_SEC / step);
		for (int64_t at = T0 / step * step; at < p.wall[p.n - 1] + 2 * step; at += step)
			assert_true(same(rig_value(t.tables[0], "a/net:eth0", at),
				plain_value(&p, at, step)));
		random_state = seed;
	}
}

/* Every byte counted between two instants of the grid shows, to the last one. */
static void test_downsampling_loses_nothing(void **state)
{
	static struct plain p;
	int64_t step = 15 * US_PER_SEC;

	(void)state;
	random_state = 42;
	plain_make(&p, true);
	for (int k = 0; k < 5; k++) {
		struct lp_table_options opt = OPTIONS(rxbyt, step);
		struct lp_table_builder *b = rig_builder(&opt);
		_cleanup_(rig_tables_release) struct rig_tables t = {0};
		int first = 0;

		plain_feed(&p, b);
		rig_finish(b, &t);
		while (p.wall[first] % step)
			first++;
		for (int i = first; i + 15 < p.n; i += 15) {
			double growth = (double)(p.value[i + 15] - p.value[i]);

			assert_true(rig_value(t.tables[0], "a/net:eth0", p.wall[i + 15]) ==
				growth / 15);
		}
	}
}

static void test_later_of_repeated_samples_wins(void **state)
{
	struct lp_table_options opt = OPTIONS(latency, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &csv_disk, "a", "sda");
	for (int i = 0; i < 6; i++) {
		/* The clock goes 0 1 2 | 1 2 3: it was stepped back. */
		rig_sample(&r, T0 + (i < 3 ? i : i - 2) * US_PER_SEC, i * US_PER_SEC);
		rig_set1(&r, id, lp_cell_from_real(i + 1));
	}
	rig_run(&opt, &r, &t);
	assert_int_equal(t.tables[0]->n_slots, 4);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0) == 1);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(1)) == 4);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(2)) == 5);
	assert_true(rig_value(t.tables[0], "a/disk:sda", T0 + SEC(3)) == 6);
}

static void test_repeat_without_a_value_keeps_the_old(void **state)
{
	struct lp_table_options opt = OPTIONS(latency, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &csv_disk, "a", "sda");
	rig_sample(&r, T0, 0);
	rig_set1(&r, id, lp_cell_from_real(3));
	rig_next_batch(&r);
	rig_sample(&r, T0, 1);
	rig_set1(&r, id, lp_cell_from_real(NAN));
	r.batch->carry = false; /* both samples are new */
	rig_run(&opt, &r, &t);
	assert_int_equal(t.tables[0]->n_slots, 1);
	assert_true(t.tables[0]->values[0] == 3);
}

/* A clock that jumps ahead leaves a gap; rates come from the clock that never steps. */
static void test_clock_steps(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &net, "a", "eth0");
	for (int i = 0; i < 6; i++) {
		rig_sample(&r, T0 + (i < 3 ? i : i + 10) * US_PER_SEC, i * US_PER_SEC);
		rig_set1(&r, id, i * 50);
	}
	rig_run(&opt, &r, &t);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(2)) == 50);
	for (int i = 3; i < 13; i++)
		assert_true(isnan(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(i))));
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(13)) == 50);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(15)) == 50);
}

static void test_absent_and_fresh(void **state)
{
	static const uint8_t states[] = {1, 1, 0, 1, 1, LP_PRESENT | LP_FRESH, 1};
	struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &net, "a", "eth0");
	for (int i = 0; i < 7; i++) {
		int64_t value = i * 10;

		rig_sample(&r, T0 + i * US_PER_SEC, i * US_PER_SEC);
		if (states[i])
			rig_set(&r, id, states[i], &value);
	}
	rig_run(&opt, &r, &t);
	for (int i = 0; i < 7; i++) {
		double value = rig_value(t.tables[0], "a/net:eth0", T0 + SEC(i));
		bool known = i == 1 || i == 4 || i == 6;

		assert_true(known ? value == 10 : isnan(value));
	}
}

/* The day's next file: more columns, the same component. */
static void test_later_file_with_more_columns(void **state)
{
	static const struct lp_column more[] = {
		{"tx_bytes", "", LP_COUNTER, 64}, {"rx_bytes", "", LP_COUNTER, 64}};
	static const struct lp_schema net2 = {"net", more, 2};
	static const char *const both[] = {"rxbyt", "txbyt"};
	struct lp_table_options opt = OPTIONS(both, 4 * US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig old, new;
	uint32_t id;

	(void)state;
	rig_init(&old, US_PER_SEC);
	rig_init(&new, US_PER_SEC);
	add_steady(&old, rig_component(&old, &net, "a", "e"), T0, US_PER_SEC, 7, 10);
	id = rig_component(&new, &net2, "a", "e");
	for (int i = 6; i <= 12; i++) {
		rig_sample(&new, T0 + i * US_PER_SEC, i * US_PER_SEC);
		rig_set(&new, id, LP_PRESENT, (int64_t[]){i * 3, i * 30});
	}
	rig_add(b, &old);
	rig_add(b, &new);
	rig_finish(b, &t);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.tables[0]->n_components, 1);
	assert_true(rig_value(t.tables[0], "a/net:e", T0 + SEC(4)) == 10);
	/* The slot in which the files meet has two seconds of each. */
	assert_true(rig_value(t.tables[0], "a/net:e", T0 + SEC(8)) == 20);
	assert_true(rig_value(t.tables[0], "a/net:e", T0 + SEC(12)) == 30);
	assert_true(isnan(rig_value(t.tables[1], "a/net:e", T0 + SEC(4))));
	assert_true(rig_value(t.tables[1], "a/net:e", T0 + SEC(8)) == 3);
}

/* The same metric, finished in one file and counted in the other, cannot be mixed in a slot. */
static void test_finished_after_counted(void **state)
{
	static const struct lp_column real[] = {{"rxbyt", "", LP_REAL, 0}};
	static const struct lp_schema finished = {"net", real, 1};
	struct lp_table_options opt = OPTIONS(rxbyt, 4 * US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig old, new;
	uint32_t id;

	(void)state;
	rig_init(&old, US_PER_SEC);
	rig_init(&new, US_PER_SEC);
	add_steady(&old, rig_component(&old, &net, "a", "e"), T0, US_PER_SEC, 7, 10);
	id = rig_component(&new, &finished, "a", "e");
	rig_sample(&new, T0 + SEC(7), 0);
	rig_set1(&new, id, lp_cell_from_real(5));
	rig_add(b, &old);
	rig_add(b, &new);
	rig_finish(b, &t);
	assert_true(rig_value(t.tables[0], "a/net:e", T0 + SEC(4)) == 10);
	assert_true(rig_value(t.tables[0], "a/net:e", T0 + SEC(8)) == 5);
}

static void test_time_range(void **state)
{
	struct lp_table_options opt = {.metrics = rxbyt,
		.n_metrics = 1,
		.step_us = US_PER_SEC,
		.from_us = T0 + SEC(3),
		.to_us = T0 + SEC(6)};
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;

	(void)state;
	assert_int_equal(lp_table_builder_select(b)->from_us, T0 + SEC(3));
	assert_int_equal(lp_table_builder_select(b)->to_us, T0 + SEC(6));
	rig_init(&r, US_PER_SEC);
	add_steady(&r, rig_component(&r, &net, "a", "eth0"), T0, US_PER_SEC, 10, 4);
	rig_add(b, &r);
	rig_finish(b, &t);
	/* The first has its value from the sample before the range. */
	assert_int_equal(t.tables[0]->start_us, T0 + SEC(3));
	assert_int_equal(t.tables[0]->n_slots, 3);
	assert_true(t.tables[0]->values[0] == 4);
}

static bool not_eth1(void *ctx, const struct lp_identity *component)
{
	++*(int *)ctx;
	return strcmp(component->name, "eth1") != 0;
}

static void test_component_globs(void **state)
{
	int asked = 0;
	static const char *const globs[] = {"*/net:eth*", "b/net:lo", "b/net:l"};
	struct lp_table_options opt = {.metrics = rxbyt,
		.n_metrics = 1,
		.step_us = US_PER_SEC,
		.components = globs,
		.n_components = 3,
		.wanted = not_eth1,
		.wanted_ctx = &asked};
	struct lp_table_builder *b = rig_builder(&opt);
	const struct lp_select *select = lp_table_builder_select(b);
	static const char *const names[][2] = {
		{"a", "eth0"}, {"a", "lo"}, {"b", "lo"}, {"a", "eth1"}, {"a", "eth2"}};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;

	(void)state;
	rig_init(&r, US_PER_SEC);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		rig_component(&r, &net, names[i][0], names[i][1]);
	for (int s = 0; s < 3; s++) {
		rig_sample(&r, T0 + s * US_PER_SEC, s * US_PER_SEC);
		for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
			rig_set1(&r, i, s);
	}
	assert_true(select->component(select->ctx, r.source.catalogue, 0));
	assert_false(select->component(select->ctx, r.source.catalogue, 1));
	rig_add(b, &r);
	rig_finish(b, &t);
	assert_int_equal(t.tables[0]->n_components, 3);
	assert_string_equal(t.tables[0]->components[0]->text, "a/net:eth0");
	assert_string_equal(t.tables[0]->components[1]->text, "b/net:lo");
	assert_string_equal(t.tables[0]->components[2]->text, "a/net:eth2");
	assert_int_equal(asked, 1 + 4); /* not of a/net:lo, which no glob matches */
}

static void test_columns_wanted(void **state)
{
	static const struct lp_column columns[] = {{"rx_packets", "", LP_COUNTER, 64},
		{"rx_bytes", "", LP_COUNTER, 64}, {"quality", "", LP_REAL, 0}};
	static const struct lp_schema s = {"net", columns, 3};
	static const char *const raw_name[] = {"rx_packets"};
	struct lp_table_options one = OPTIONS(rxbyt, US_PER_SEC),
				raw = {.metrics = raw_name,
					.n_metrics = 1,
					.raw = true,
					.step_us = 1},
				headline = {.headline = true, .step_us = 1}, all = {.step_us = 1};
	const struct lp_table_options *const options[] = {&one, &raw, &headline, &all};
	static const bool wanted[][3] = {{false, true, false}, {true, false, false},
		{false, true, true}, {true, true, true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct lp_table_builder *b = rig_builder(options[i]);
		const struct lp_select *select = lp_table_builder_select(b);

		for (uint32_t c = 0; c < 3; c++)
			assert_int_equal(select->column(select->ctx, &s, c), wanted[i][c]);
		lp_table_builder_free(b);
	}
}

static void test_all_metrics_in_order_of_the_catalogue(void **state)
{
	static const struct lp_column columns[] = {{"quality", "points", LP_REAL, 0},
		{"tx_bytes", "", LP_COUNTER, 64}, {"rx_bytes", "", LP_COUNTER, 64}};
	static const struct lp_schema s = {"net", columns, 3};
	struct lp_table_options opt = {.step_us = US_PER_SEC};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &s, "a", "eth0");
	for (int i = 0; i < 2; i++) {
		rig_sample(&r, T0 + i * US_PER_SEC, i * US_PER_SEC);
		rig_set(&r, id, LP_PRESENT, (int64_t[]){lp_cell_from_real(i), i, i});
	}
	rig_run(&opt, &r, &t);
	assert_int_equal(t.n, 3);
	assert_string_equal(t.tables[0]->metric, "rxbyt");
	assert_string_equal(t.tables[1]->metric, "txbyt");
	assert_string_equal(t.tables[2]->metric, "quality");
	assert_string_equal(t.tables[2]->unit, "points");
	for (uint32_t i = 0; i < t.n; i++) {
		assert_int_equal(t.tables[i]->start_us, T0);
		assert_int_equal(t.tables[i]->n_slots, 2);
	}
}

/* A comparison of a mean also gets its weight; other readers do not. */
static void test_weights(void **state)
{
	static const struct lp_column columns[] = {{"dread_n", "", LP_COUNTER, 64},
		{"dread_ns", "", LP_COUNTER, 64}, {"calls", "", LP_COUNTER, 64}};
	static const struct lp_schema s = {"sys", columns, 3};
	static const char *const dread[] = {"dread"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct lp_table_options opt = OPTIONS(dread, US_PER_SEC);
		_cleanup_(rig_tables_release) struct rig_tables t = {0};
		_cleanup_(rig_release) struct rig r;
		uint32_t id;

		opt.judged = i > 0;
		opt.metrics = i < 2 ? dread : NULL;
		opt.n_metrics = i < 2;
		rig_init(&r, US_PER_SEC);
		id = rig_component(&r, &s, "s1", "glusterfsd");
		for (int k = 0; k < 3; k++) {
			rig_sample(&r, T0 + k * US_PER_SEC, k * US_PER_SEC);
			/* In the last second there is no call. */
			rig_set(&r, id, LP_PRESENT,
				(int64_t[]){k ? 10 : 0, k ? 20000000 : 0, 100 * k});
		}
		rig_run(&opt, &r, &t);
		assert_int_equal(t.n, i ? 2 : 1);
		assert_string_equal(t.tables[0]->metric, "dread");
		assert_true(rig_value(t.tables[0], "s1/sys:glusterfsd", T0 + SEC(1)) == 2);
		assert_true(isnan(rig_value(t.tables[0], "s1/sys:glusterfsd", T0 + SEC(2))));
		if (!i)
			continue;
		assert_string_equal(t.tables[1]->metric, "dreads");
		assert_true(rig_value(t.tables[1], "s1/sys:glusterfsd", T0 + SEC(1)) == 10);
		assert_true(rig_value(t.tables[1], "s1/sys:glusterfsd", T0 + SEC(2)) == 0);
	}
}

/* A comparison of calls of functions also gets their times, which decide which functions count; if
 * times were selected, they are ordinary tables. */
static void test_beside(void **state)
{
	static const struct lp_column columns[] = {
		{"n", "calls", LP_COUNTER, 64}, {"ns", "ns", LP_COUNTER, 64}};
	static const struct lp_schema s = {"function", columns, 2};
	static const char *const names[] = {"fcalls", "ftime"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct lp_table_options opt = OPTIONS(names, US_PER_SEC);
		_cleanup_(rig_tables_release) struct rig_tables t = {0};
		_cleanup_(rig_release) struct rig r;
		uint32_t id;

		opt.judged = i > 0;
		opt.n_metrics = i < 2 ? 1 : 2;
		rig_init(&r, US_PER_SEC);
		id = rig_component(&r, &s, "s1", "glusterfsd:x:sys_pread");
		for (int k = 0; k < 3; k++) {
			/* As many as the checkers can imagine. */
			const int64_t values[64] = {10 * k, 5000000 * k};

			rig_sample(&r, T0 + k * US_PER_SEC, k * US_PER_SEC);
			rig_set(&r, id, LP_PRESENT, values);
		}
		rig_run(&opt, &r, &t);
		assert_int_equal(t.n, i ? 2 : 1);
		assert_string_equal(t.tables[0]->metric, "fcalls");
		assert_false(t.tables[0]->beside);
		if (!i)
			continue;
		assert_string_equal(t.tables[1]->metric, "ftime");
		assert_int_equal(t.tables[1]->beside, i == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_observers_one_grid),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_clock_half_a_second_off),
		cmocka_unit_test(test_different_intervals),
		cmocka_unit_test(test_against_the_plain_definition),
		cmocka_unit_test(test_downsampling_loses_nothing),
		cmocka_unit_test(test_later_of_repeated_samples_wins),
		cmocka_unit_test(test_repeat_without_a_value_keeps_the_old),
		cmocka_unit_test(test_clock_steps),
		cmocka_unit_test(test_absent_and_fresh),
		cmocka_unit_test(test_later_file_with_more_columns),
		cmocka_unit_test(test_finished_after_counted),
		cmocka_unit_test(test_time_range),
		cmocka_unit_test(test_component_globs),
		cmocka_unit_test(test_columns_wanted),
		cmocka_unit_test(test_all_metrics_in_order_of_the_catalogue),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
