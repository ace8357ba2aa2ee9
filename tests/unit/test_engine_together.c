#include "unit.h"

#include "base/cleanup.h"
#include "engine/together.h"
#include <errno.h>

/* A large group is one process's; the small ones are the others'. All processes divide alike. */
static void test_division(void **state)
{
	static const uint32_t members[] = {100, 10, 10, 10, 10, 90};
	static const int owners[] = {0, 1, 2, 1, 2, 1};
	struct division d;

	(void)state;
	for (int rank = 0; rank < 3; rank++) {
		struct team t = {.rank = rank, .size = 3};

		assert_int_equal(division_begin(&d, &t), 0);
		for (size_t i = 0; i < 6; i++) {
			int owner = division_next(&d, members[i]);

			assert_int_equal(owner, owners[i]);
			assert_int_equal(division_mine(&d, owner), owner == rank);
		}
		division_release(&d);
	}
	assert_int_equal(division_begin(&d, NULL), 0);
	assert_true(division_mine(&d, division_next(&d, 1)));
	division_release(&d);
}

static struct cursor reading(const struct strbuf *sb, size_t n)
{
	return (struct cursor){
		.p = (const uint8_t *)sb->text, .end = (const uint8_t *)sb->text + n};
}

static void test_looks(void **state)
{
	static const struct lp_metric await = {.name = "await"};
	const struct comparison_look look = {.threshold = 1.5,
		.floor = 0.25,
		.metric = &await,
		.role = LP_ROLE_LATENCY,
		.weighs = true,
		.method = "cdf"};
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	struct comparison_look got = {0};
	struct cursor from;
	bool worth;

	(void)state;
	look_pack(&look, true, &sb);
	look_pack(NULL, false, &sb);
	from = reading(&sb, sb.len);
	assert_int_equal(look_unpack(&from, &await, "cdf", &got, &worth), 0);
	assert_true(worth && got.weighs && !got.by_sample);
	assert_true(got.threshold == 1.5 && got.floor == 0.25);
	assert_int_equal(got.role, LP_ROLE_LATENCY);
	assert_ptr_equal(got.metric, &await);
	assert_string_equal(got.method, "cdf");
	assert_int_equal(look_unpack(&from, &await, "cdf", &got, &worth), 0);
	assert_false(worth);
	assert_int_equal(look_unpack(&from, &await, "cdf", &got, &worth), -EBADMSG);
	from = reading(&sb, sb.len);
	assert_int_equal(look_unpack(&from, NULL, "cdf", &got, &worth), -EBADMSG);
}

static const char *const names[] = {"a", "b", "c"};

static struct tracks *tracks_of(struct history *h, uint32_t numbers[3])
{
	struct tracks *t = history_metric(h, "await");

	assert_non_null(t);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tracks_get(t, names[i], &numbers[i]), 0);
	return t;
}

/* Both processes keep the same results, window by window. */
static void test_results(void **state)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	_cleanup_(history_release) struct history here = {0}, there = {0};
	uint32_t a[3], b[3];
	struct tracks *from = tracks_of(&here, a), *to = tracks_of(&there, b);
	struct cursor c;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		from->items[a[i]].first_slot = 1000 + i;
		for (int64_t w = 50; w < 55; w++) {
			struct kept k = {.own = (float)w,
				.peers = 2,
				.ratio = (float)i,
				.distance = 3,
				.mark = (uint8_t)(i + 1)};

			assert_int_equal(track_put(&from->items[a[i]], w, &k), 0);
		}
	}
	results_pack(from, a, 3, 5, 50, &sb);
	for (size_t n = 0; n < sb.len; n++) {
		_cleanup_(history_release) struct history cut = {0};
		uint32_t numbers[3];
		struct tracks *t = tracks_of(&cut, numbers);

		c = reading(&sb, n);
		assert_int_equal(results_unpack(t, numbers, 3, 50, &c), -EBADMSG);
	}
	c = reading(&sb, sb.len);
	assert_int_equal(results_unpack(to, b, 3, 50, &c), 0);
	assert_ptr_equal(c.p, c.end);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(to->items[b[i]].first_slot, 1000 + i);
		assert_int_equal(to->items[b[i]].n, 5);
		assert_true(track_get(&to->items[b[i]], 54).own == 54);
		assert_int_equal(track_get(&to->items[b[i]], 50).mark, i + 1);
	}
}

/* A pair that had nothing to compare leaves no trace. */
static void test_no_results(void **state)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	_cleanup_(history_release) struct history h = {0};
	uint32_t numbers[3];
	struct tracks *t = tracks_of(&h, numbers);
	struct cursor c;

	(void)state;
	results_pack(t, numbers, 3, 0, 50, &sb);
	c = reading(&sb, sb.len);
	assert_int_equal(results_unpack(t, numbers, 3, 50, &c), 0);
	assert_int_equal(t->items[numbers[0]].n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_division),
		cmocka_unit_test(test_looks), cmocka_unit_test(test_results),
		cmocka_unit_test(test_no_results)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
