/* A verdict depends on the options, the data and the watermark, and on nothing else. */
#include "base/array.h"
#include "engine_rig.h"

#include "engine/engine.h"

#include <errno.h>

#define SERVERS 5

/* Three quarters of an hour: the fast horizon has had several epochs, and the slow one speaks. */
#define LONG_S 2700

static const struct lp_diagnose_options usual = {0};
static const struct rig_fault fault = {2, 1, 1200, 1440, 8};

/* Feed in pieces of any size, servers in any order, up to `lateness` seconds apart; advance now and
 * then to where everybody has been. */
static void feed_at_random(struct rig *r, struct lp_engine *e, uint32_t end, uint64_t *seed)
{
	const uint32_t lateness = 60;
	uint32_t slowest = 0;

	for (uint32_t i = 0; i < r->n; i++)
		r->servers[i].fed = 0;
	while (slowest < end) {
		uint32_t server = rig_below(seed, r->n), n = 1 + rig_below(seed, 90);
		struct rig_server *s = &r->servers[server];

		n = s->fed + n > end ? end - s->fed : n;
		if (n && s->fed + n <= slowest + lateness + 90)
			rig_feed(r, e, server, n);
		slowest = end;
		for (uint32_t i = 0; i < r->n; i++)
			slowest = r->servers[i].fed < slowest ? r->servers[i].fed : slowest;
		if (slowest && rig_below(seed, 8) == 0)
			rig_advance(e, slowest - 1 - rig_below(seed, slowest < 30 ? 1 : 30));
	}
}

static char *says_at_once(
	struct rig *r, const struct lp_diagnose_options *o, uint32_t end, uint32_t watermark)
{
	struct lp_engine *e = rig_engine(o);
	char *text;

	rig_feed_all(r, e, end);
	rig_advance(e, watermark);
	text = rig_says(e);
	lp_engine_free(e);
	return text;
}

static void check_random(struct rig *r, const struct lp_diagnose_options *o, uint32_t end)
{
	char *once = says_at_once(r, o, end, end);

	for (uint64_t seed = 1; seed <= 4; seed++) {
		uint64_t random = seed * 7919;
		struct lp_engine *e = rig_engine(o);
		char *text;

		feed_at_random(r, e, end, &random);
		rig_advance(e, end);
		assert_int_equal(lp_engine_n_late(e), 0);
		text = rig_says(e);
		assert_string_equal(text, once);
		free(text);
		lp_engine_free(e);
	}
	free(once);
}

static void test_cut_and_interleaved(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, LONG_S, &fault, 1);
	check_random(&r, &usual, 150);
	check_random(&r, &usual, 900);
	check_random(&r, &usual, LONG_S);
	rig_release(&r);
}

static void test_cut_and_interleaved_plain(void **state)
{
	static const char *const fixed[] = {"5"};
	struct lp_diagnose_options o = {.method = "cdf", .fixed = fixed, .n_fixed = 1};
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, 600, &fault, 2);
	check_random(&r, &o, 600);
	rig_release(&r);
}

/* At each moment, a running engine gives the same verdict as a new one for the data so far. */
static void test_on_the_way(void **state)
{
	struct lp_engine *e = rig_engine(&usual);
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, LONG_S, &fault, 3);
	rig_feed_all(&r, e, LONG_S);
	for (uint32_t t = 95; t <= LONG_S; t += 217) {
		char *fresh = says_at_once(&r, &usual, t, t), *text;

		rig_advance(e, t);
		text = rig_says(e);
		assert_string_equal(text, fresh);
		free(text);
		free(fresh);
	}
	lp_engine_free(e);
	rig_release(&r);
}

/* Feed both engines the same `n` seconds of all servers. */
static void feed_both(struct rig *r, struct lp_engine *one, struct lp_engine *other, uint32_t n)
{
	for (uint32_t i = 0; i < r->n; i++) {
		rig_feed(r, one, i, n);
		r->servers[i].fed -= n;
		rig_feed(r, other, i, n);
	}
}

static void check_same(struct lp_engine *one, struct lp_engine *other)
{
	char *a = rig_says(one), *b = rig_says(other);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

/* Work that an advance leaves for later does not change the result, wherever it is suspended and
 * whatever is fed in between. Returns the number of steps in which work was left. */
static uint32_t compare_slices(bool bounded, uint64_t seed)
{
	static const int64_t lengths_us[] = {1, 1, 30, 200, 3000};
	const uint32_t late_s = 700, step_s = 5, end_s = 2400;
	struct lp_diagnose_options whole = {.bounded = bounded},
				   sliced = {.bounded = bounded, .slice_us = 1};
	struct lp_engine *one = rig_engine(&whole), *other = rig_engine(&sliced);
	uint32_t n_rests = 0;
	struct rig r, late;

	rig_init(&r, SERVERS, end_s, &fault, seed);
	rig_init_as(&late, "new", 3, end_s, NULL, seed + 1);
	late.start_s += late_s;
	for (uint32_t s = step_s; s <= end_s; s += step_s) {
		feed_both(&r, one, other, step_s);
		if (s > late_s)
			feed_both(&late, one, other, step_s);
		sliced.slice_us = lengths_us[rig_below(&seed, ARRAY_SIZE(lengths_us))];
		rig_advance(one, s - 1);
		rig_advance(other, s - 1);
		n_rests += slices_rests(other->slices);
		if (rig_below(&seed, 60) == 0)
			check_same(one, other);
	}
	check_same(one, other);
	assert_false(slices_rests(other->slices));
	lp_engine_free(one);
	lp_engine_free(other);
	rig_release(&r);
	rig_release(&late);
	return n_rests;
}

static void test_slices(void **state)
{
	(void)state;
	assert_true(compare_slices(false, 31) > 20);
	assert_true(compare_slices(true, 32) > 20);
}

static char *says_lazily(struct lp_engine *e)
{
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};
	struct printed p;

	assert_int_equal(engine_verdict_lazy(e, &v, &err), 0);
	assert_true(v->n_tables > 0);
	assert_non_null(v->tables[0]->lazy);
	assert_int_equal(verdict_print_json(printed_begin(&p), v), 0);
	lp_verdict_free(v);
	return printed_end(&p);
}

/* Tables that read values on demand do not change the verdict: while the engine warms up, by the
 * fast horizon, and by the slow one. */
static void test_lazy(void **state)
{
	const struct lp_diagnose_options bounded = {.bounded = true};
	const struct rig_fault early = {2, 1, 100, LONG_S, 8};
	struct lp_engine *e = rig_engine(&bounded);
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, LONG_S, &early, 5);
	rig_feed_all(&r, e, LONG_S);
	for (uint32_t t = 200; t <= LONG_S; t += 500) {
		char *all, *lazy;

		rig_advance(e, t);
		all = rig_says(e);
		lazy = says_lazily(e);
		assert_non_null(strstr(all, "\"suspects\""));
		assert_string_equal(lazy, all);
		free(all);
		free(lazy);
	}
	lp_engine_free(e);
	rig_release(&r);
}

static bool names(struct lp_engine *e, const char *component)
{
	struct lp_verdict *v = rig_verdict_of(e);
	bool named = v->n_suspects == 1 &&
		!strcmp(v->components[v->suspects[0].component]->text, component);

	lp_verdict_free(v);
	return named;
}

/* Four minutes are named while they last, and when they are long over. */
static void test_short_and_terrible(void **state)
{
	struct lp_engine *e = rig_engine(&usual);
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, 6000, &fault, 4);
	rig_feed_all(&r, e, 6000);
	rig_advance(e, 1190);
	assert_false(names(e, "oss2/disk:sdb"));
	rig_advance(e, 1380);
	assert_true(names(e, "oss2/disk:sdb"));
	for (uint32_t t = 1500; t <= 6000; t += 900) {
		rig_advance(e, t);
		assert_true(names(e, "oss2/disk:sdb"));
	}
	lp_engine_free(e);
	rig_release(&r);
}

static void check_both(struct lp_engine *e)
{
	char *says = rig_says(e);

	assert_non_null(strstr(says, "{\"component\":\"oss2/disk:sdb\""));
	assert_non_null(strstr(says, "{\"component\":\"oss1/disk:sda\""));
	free(says);
}

/* Two short recordings, longer apart than the span of the fast horizon: what each of them shows is
 * named, also if the engine advanced in the time between them. */
static void test_apart(void **state)
{
	const struct rig_fault one = {2, 1, 60, 180, 8}, other = {1, 0, 60, 200, 3};
	struct lp_engine *once = rig_engine(&usual), *often = rig_engine(&usual);
	struct rig early, late;

	(void)state;
	rig_init(&early, SERVERS, 240, &one, 41);
	rig_init(&late, SERVERS, 200, &other, 42);
	late.start_s += 3000;
	rig_feed_all(&early, once, 240);
	rig_feed_all(&late, once, 200);
	rig_advance(once, 3200);
	rig_feed_all(&early, often, 240);
	for (uint32_t t = 100; t < 3000; t += 100)
		rig_advance(often, t);
	rig_feed_all(&late, often, 200);
	rig_advance(often, 3200);
	check_both(once);
	check_both(often);
	lp_engine_free(once);
	lp_engine_free(often);
	rig_release(&early);
	rig_release(&late);
}

/* A fault that was named stays named, however much sound data follows, as long as its horizon
 * reaches back to it. */
static void test_more_data(void **state)
{
	static const struct rig_fault faults[] = {
		{2, 1, 150, 240, 4}, {2, 1, 60, 130, 6}, {2, 1, 500, 700, 3}};

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct lp_engine *e = rig_engine(&usual);
		bool named = false;
		struct rig r;

		rig_init(&r, SERVERS, 2400, &faults[i], 21 + i);
		rig_feed_all(&r, e, 2400);
		for (uint32_t t = faults[i].from; t < faults[i].from + 1750; t += 50) {
			rig_advance(e, t);
			if (named)
				assert_true(names(e, "oss2/disk:sdb"));
			named = named || names(e, "oss2/disk:sdb");
		}
		assert_true(named);
		lp_engine_free(e);
		rig_release(&r);
	}
}

/* Being three times as slow for some minutes is not worth a report an hour later. */
static void test_short_and_mild(void **state)
{
	const struct rig_fault mild = {
		.server = 2, .disk = 1, .from = 3000, .to = 3600, .factor = 3};
	struct lp_engine *e = rig_engine(&usual);
	struct lp_verdict *v;
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, 6000, &mild, 4);
	rig_feed_all(&r, e, 6000);
	rig_advance(e, 6000);
	v = rig_verdict_of(e);
	assert_int_equal(v->n_suspects, 0);
	lp_verdict_free(v);
	lp_engine_free(e);
	rig_release(&r);
}

static void test_sound(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed < 15; seed++) {
		struct lp_engine *e = rig_engine(&usual);
		struct lp_verdict *v;
		struct rig r;

		rig_init(&r, SERVERS, 4000, NULL, seed);
		rig_feed_all(&r, e, 4000);
		rig_advance(e, 4000);
		v = rig_verdict_of(e);
		assert_int_equal(v->n_suspects, 0);
		lp_verdict_free(v);
		lp_engine_free(e);
		rig_release(&r);
	}
}

/* A bounded engine keeps what its spans need, and components that are gone retire. */
static void test_bounded(void **state)
{
	struct lp_diagnose_options bounded = {.bounded = true};
	struct lp_engine *e = rig_engine(&bounded);
	size_t most = 0;

	(void)state;
	/* Every ten minutes other servers, for three hours: of all horizons the fast one forgets
	 * them. */
	for (uint32_t round = 0; round < 18; round++) {
		struct rig r;
		size_t rows;

		rig_init_at(&r, SERVERS, 600, round);
		rig_feed_all(&r, e, 600);
		assert_int_equal(lp_engine_advance(e, rig_time((round + 1) * 600), NULL), 0);
		rows = e->lanes[0].builder->sets[0].n_rows;
		most = rows > most ? rows : most;
		rig_release(&r);
	}
	assert_true(most <= 5 * (size_t)SERVERS * RIG_DISKS);
	/* They are missed for a span before they are forgotten. */
	assert_true(e->lanes[0].history.metrics[0].n <= 8 * (size_t)SERVERS * RIG_DISKS);
	lp_engine_free(e);
}

static double value_at(
	const struct lp_verdict *v, const char *metric, const char *component, uint32_t second)
{
	for (uint32_t t = 0; t < v->n_tables; t++) {
		const struct lp_table *table = v->tables[t];

		for (uint32_t i = 0; !strcmp(table->metric, metric) && i < table->n_components;
			i++) {
			int64_t slot = RIG_START_S + second - table->start_us / 1000000;

			if (!strcmp(table->components[i]->text, component))
				return table->values[(size_t)i * table->n_slots + (size_t)slot];
		}
	}
	fail_msg("there is no %s of %s", metric, component);
	return 0;
}

/* A second without a request has no latency: a gap, not 0. Half a minute of that is no fault. */
static void test_no_request(void **state)
{
	const struct rig_fault still = {2, 1, 100, 130, 0};
	struct lp_engine *e = rig_engine(&usual);
	struct lp_verdict *v;
	struct rig r;

	(void)state;
	rig_init(&r, SERVERS, 300, &still, 8);
	rig_feed_all(&r, e, 300);
	rig_advance(e, 300);
	v = rig_verdict_of(e);
	assert_int_equal(v->n_suspects, 0);
	assert_true(isnan(value_at(v, "await", "oss2/disk:sdb", 115)));
	assert_true(value_at(v, "rd_sec", "oss2/disk:sdb", 115) == 0);
	assert_true(value_at(v, "await", "oss2/disk:sdb", 140) > 0);
	assert_true(value_at(v, "await", "oss2/disk:sda", 115) > 0);
	lp_verdict_free(v);
	lp_engine_free(e);
	rig_release(&r);
}

/* Samples before the watermark are ignored and counted. */
static void test_too_late(void **state)
{
	struct lp_engine *e = rig_engine(&usual);
	struct rig r;
	char *before, *after;

	(void)state;
	rig_init(&r, SERVERS, 300, NULL, 5);
	for (uint32_t i = 0; i + 1 < SERVERS; i++)
		rig_feed(&r, e, i, 300);
	rig_advance(e, 300);
	before = rig_says(e);
	rig_feed(&r, e, SERVERS - 1, 300);
	assert_int_equal(lp_engine_n_late(e), 300);
	after = rig_says(e);
	assert_string_equal(before, after);
	free(before);
	free(after);
	lp_engine_free(e);
	rig_release(&r);
}

static void test_ready(void **state)
{
	struct lp_engine *e = rig_engine(&usual);
	struct rig r;

	(void)state;
	rig_init(&r, 3, 400, NULL, 6);
	assert_true(lp_engine_ready(e, 60000000) == INT64_MIN);
	rig_feed(&r, e, 0, 200);
	rig_feed(&r, e, 1, 180);
	rig_feed(&r, e, 2, 150);
	assert_true(lp_engine_ready(e, 60000000) == (RIG_START_S + 149) * 1000000 + 22000);
	/* An observer that is far behind delays nothing. */
	rig_feed(&r, e, 0, 200);
	rig_feed(&r, e, 1, 200);
	assert_true(lp_engine_ready(e, 60000000) == (RIG_START_S + 379) * 1000000 + 21000);
	lp_engine_free(e);
	rig_release(&r);
}

static void test_refused(void **state)
{
	struct lp_diagnose_options wrong = {.method = "nonsense"};
	struct lp_engine *e = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_engine_new(&usual, 0, &e, &err), -EINVAL);
	assert_int_equal(lp_engine_new(&wrong, 1000000, &e, &err), -EINVAL);
	assert_null(e);
	lp_engine_free(NULL);
}

enum { FUNCTIONS = 10, ROUNDS = 90, ROUND_S = 10, ROGUE = 4 };

/* Fifteen minutes of samples of a server's functions, the last of which is dd's, which only one of
 * them runs. */
static void feed_functions(struct lp_engine *e, uint32_t server)
{
	static const struct lp_column columns[] = {{"samples", "samples", LP_COUNTER, 64}};
	static const struct lp_schema schema = {"function", columns, 1};
	struct lp_source source = {.catalogue = lp_catalogue_new(),
		.path = (char *)"rig",
		.interval_us = ROUND_S * 1000000};
	struct lp_batch *b = lp_batch_new(ROUNDS);
	int64_t totals[FUNCTIONS + 1] = {0};
	uint64_t seed = server + 1;
	uint32_t number, id, row;
	char observer[8], name[32];
	struct lp_batch_kind *k;
	struct lp_err err = {0};

	snprintf(observer, sizeof(observer), "s%u", server);
	assert_int_equal(lp_catalogue_add_schema(source.catalogue, &schema, &number, NULL), 0);
	assert_int_equal(lp_batch_kind_get(b, 0, 1, NULL, &k), 0);
	for (int f = 0; f <= FUNCTIONS; f++) {
		snprintf(name, sizeof(name), f < FUNCTIONS ? "server:server:f%d" : "dd:libc:read",
			f);
		assert_int_equal(lp_catalogue_add_component(
					 source.catalogue, number, observer, name, "", &id, NULL),
			0);
		assert_int_equal(lp_batch_add_component(b, k, id, &row), 0);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		int64_t wall_us = (RIG_START_S + i * ROUND_S) * 1000000;

		assert_int_equal(lp_batch_add_sample(b, wall_us, wall_us), 0);
		k = &b->kinds[0];
		for (int f = 0; f <= FUNCTIONS; f++) {
			size_t at = (size_t)f * b->cap_samples + i;

			if (f < FUNCTIONS)
				totals[f] += 200 + 10 * f + rig_below(&seed, 40);
			else if (server == ROGUE && i >= 20)
				totals[f] += 1500;
			k->state[at] = LP_PRESENT;
			k->columns[0][at] = totals[f];
		}
	}
	if (lp_engine_feed(e, &source, b, &err) != 0)
		fail_msg("%s", err.text);
	lp_batch_free(b);
	lp_catalogue_free(source.catalogue);
}

/* A server that runs a program that its peers do not is reported, if remarks show it. */
static void test_remarks(void **state)
{
	static const char note[] = "kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb";
	struct lp_engine *e = NULL;
	struct lp_err err = {0};
	char *says;

	(void)state;
	assert_int_equal(lp_engine_new(&usual, ROUND_S * 1000000, &e, &err), 0);
	for (uint32_t i = 0; i < SERVERS; i++)
		feed_functions(e, i);
	assert_int_equal(lp_engine_feed_remark(e, "s4", rig_time(220), note, &err), 0);
	assert_int_equal(lp_engine_feed_remark(e, "s4", rig_time(230), "kind=other", &err), 0);
	rig_advance(e, ROUNDS * ROUND_S);
	says = rig_says(e);
	assert_non_null(strstr(says, "\"rogue-process\""));
	assert_non_null(strstr(says, "process 812 of user 0, dd if=/dev/sdb"));
	free(says);
	lp_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_and_interleaved),
		cmocka_unit_test(test_cut_and_interleaved_plain),
		cmocka_unit_test(test_on_the_way),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_short_and_terrible),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_more_data),
		cmocka_unit_test(test_short_and_mild),
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_no_request),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_remarks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
