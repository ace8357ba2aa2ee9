#include "serve/observers.h"
#include "unit.h"

#define SECOND INT64_C(1000000)
#define NOW (INT64_C(1300000000) * SECOND)
#define LATE (60 * SECOND)

static uint32_t add(struct observers *o, const char *name)
{
	uint32_t at = 0;

	assert_int_equal(observers_get(o, name, &at), 0);
	return at;
}

static struct observer *find(struct observers *o, const char *name)
{
	return &o->items[add(o, name)];
}

static void expect(struct observers *o, const char *name)
{
	uint32_t at = add(o, name);

	o->items[at].expected = true;
}

static void hear(struct observers *o, const char *name, int64_t sample_s, int64_t now_s)
{
	uint32_t at = add(o, name);

	observers_arrived(o, at, NOW + sample_s * SECOND, NOW + now_s * SECOND);
	observers_heard(o, at, NOW + sample_s * SECOND, 1, NOW + now_s * SECOND);
}

static void test_states(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	expect(&o, "expected");
	for (int64_t s = 0; s <= 300; s += 10) {
		hear(&o, "a", s - 2, s);
		hear(&o, "b", s - 1, s);
		hear(&o, "behind", s - 20, s);
		hear(&o, "late", s - 90, s);
		if (s < 200)
			hear(&o, "silent", s, s);
	}
	observers_rate(&o, LATE, NOW + 300 * SECOND);
	assert_int_equal(find(&o, "a")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "behind")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "late")->state, OBSERVER_LATE);
	assert_int_equal(find(&o, "silent")->state, OBSERVER_SILENT);
	assert_int_equal(find(&o, "expected")->state, OBSERVER_SILENT);
	assert_int_equal(observers_count(&o, OBSERVER_OK), 3);
	/* A late observer does not delay the watermark, but one that is slightly behind does. */
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 300 * SECOND), NOW + 280 * SECOND);
	observers_release(&o);
}

/* No observer's clock makes the others late, and ours may be the wrong one. */
static void test_clocks(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	for (int64_t s = 0; s <= 300; s += 5) {
		hear(&o, "a", s - 100, s);
		hear(&o, "b", s - 101, s);
		hear(&o, "c", s - 102, s);
		hear(&o, "ahead", s + 3500, s);
		hear(&o, "off", s - 130, s);
	}
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 300 * SECOND), NOW + 170 * SECOND);
	observers_rate(&o, LATE, NOW + 300 * SECOND);
	assert_int_equal(find(&o, "a")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "a")->skew_us, 1 * SECOND);
	assert_int_equal(find(&o, "ahead")->skew_us, 3601 * SECOND);
	assert_int_equal(find(&o, "off")->skew_us, -29 * SECOND);
	assert_int_equal(find(&o, "a")->news_us, 0);
	assert_int_equal(find(&o, "ahead")->news_us, 3601 * SECOND);
	assert_int_equal(find(&o, "off")->news_us, -29 * SECOND);
	/* What is known is no news. */
	find(&o, "ahead")->ahead_us = 3600 * SECOND;
	find(&o, "off")->ahead_us = -31 * SECOND;
	observers_rate(&o, LATE, NOW + 300 * SECOND);
	assert_int_equal(find(&o, "ahead")->news_us, 0);
	assert_int_equal(find(&o, "off")->news_us, 0);
	observers_release(&o);
}

/* Data that arrives late says nothing of clocks, nor does that of a fleet that sends now and then.
 * Data from the future does. */
static void test_slow_to_send(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	for (int64_t s = 0; s <= 600; s += 5) {
		hear(&o, "a", s - 1, s);
		hear(&o, "b", s - 2, s);
		hear(&o, "c", s - 1, s);
		if (s % 60 == 0)
			hear(&o, "bulk", s - 40, s);
		hear(&o, "catching up", s / 2 - 300, s);
	}
	observers_rate(&o, LATE, NOW + 600 * SECOND);
	for (size_t i = 0; i < o.n; i++)
		assert_int_equal(o.items[i].news_us, 0);
	hear(&o, "future", 600 + 100, 600);
	observers_rate(&o, LATE, NOW + 600 * SECOND);
	assert_int_equal(find(&o, "future")->news_us, 102 * SECOND);
	observers_release(&o);

	o = (struct observers){.live = true};
	for (int64_t s = 0; s <= 1200; s += 300) {
		hear(&o, "a", s - 200, s);
		hear(&o, "b", s - 210, s);
		hear(&o, "live", s, s);
	}
	observers_rate(&o, LATE, NOW + 1200 * SECOND);
	assert_int_equal(find(&o, "live")->news_us, 0);
	observers_release(&o);
}

/* In a replay the data decides which observer is silent, and clocks are not compared. */
static void test_replay(void **state)
{
	struct observers o = {0};

	(void)state;
	hear(&o, "a", 600, 0);
	hear(&o, "b", 100, 0);
	observers_rate(&o, LATE, NOW + 150 * SECOND);
	assert_int_equal(find(&o, "b")->state, OBSERVER_OK);
	observers_rate(&o, LATE, NOW + 300 * SECOND);
	assert_int_equal(find(&o, "a")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "b")->state, OBSERVER_SILENT);
	assert_int_equal(find(&o, "b")->skew_us, INT64_MIN);
	observers_release(&o);
}

/* When all stop at once, all are silent, and the watermark stays. In a replay it is the end. */
static void test_all_stop(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	hear(&o, "a", 0, 1);
	hear(&o, "b", 1, 1);
	observers_rate(&o, LATE, NOW + 61 * SECOND);
	assert_int_equal(observers_count(&o, OBSERVER_OK), 2);
	observers_rate(&o, LATE, NOW + 62 * SECOND);
	assert_int_equal(observers_count(&o, OBSERVER_SILENT), 2);
	assert_in_range(observers_most_us(&o, LATE, NOW + 3600 * SECOND), NOW, NOW + SECOND);
	o.live = false;
	observers_rate(&o, LATE, NOW + 3600 * SECOND);
	assert_int_equal(observers_count(&o, OBSERVER_OK), 2);
	observers_release(&o);
}

/* After earlier recordings have been read, all observers have time to deliver. */
static void test_go_live(void **state)
{
	struct observers o = {0};

	(void)state;
	expect(&o, "expected");
	hear(&o, "a", -600, -600);
	hear(&o, "b", -601, -600);
	observers_go_live(&o, NOW);
	observers_rate(&o, LATE, NOW + 50 * SECOND);
	assert_int_equal(observers_count(&o, OBSERVER_OK), 2);
	assert_int_equal(find(&o, "expected")->state, OBSERVER_SILENT);
	hear(&o, "a", 50, 50);
	observers_rate(&o, LATE, NOW + 70 * SECOND);
	assert_int_equal(find(&o, "a")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "b")->state, OBSERVER_SILENT);
	observers_release(&o);
}

/* Nothing could arrive for minutes, and the servers come back one after the other: the watermark
 * waits for what they recorded meanwhile, and nobody is late. */
static void test_interruption(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "gone"};
	struct observers o = {.live = true};

	(void)state;
	for (int64_t s = 0; s <= 300; s += 5) {
		for (int i = 0; i < 5; i++)
			hear(&o, names[i], s, s);
	}
	for (int64_t s = 500; s <= 520; s += 5) {
		for (int i = 0; i < 3; i++)
			hear(&o, names[i], s, s);
	}
	observers_rate(&o, LATE, NOW + 520 * SECOND);
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 520 * SECOND), NOW + 300 * SECOND);
	assert_int_equal(find(&o, "a")->state, OBSERVER_OK);
	/* One of them begins to send what it has kept, the other does not come back. */
	for (int64_t s = 525; s <= 565; s += 5) {
		for (int i = 0; i < 3; i++)
			hear(&o, names[i], s, s);
		hear(&o, "d", 300 + (s - 520) * 2, s);
	}
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 559 * SECOND), NOW + 300 * SECOND);
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 565 * SECOND), NOW + 390 * SECOND);
	observers_rate(&o, LATE, NOW + 565 * SECOND);
	assert_int_equal(find(&o, "d")->state, OBSERVER_OK);
	assert_int_equal(find(&o, "gone")->state, OBSERVER_SILENT);
	/* It stops in the middle of it. */
	assert_int_equal(observers_ready_us(&o, LATE, NOW + 580 * SECOND), NOW + 565 * SECOND);
	observers_release(&o);
}

/* The collector's disk is full: no server is silent because of that, but those that were are. */
static void test_blind(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	hear(&o, "dead", -300, -300);
	hear(&o, "a", 0, 0);
	hear(&o, "b", 0, 0);
	observers_rate(&o, LATE, NOW);
	assert_int_equal(find(&o, "dead")->state, OBSERVER_SILENT);
	for (int64_t s = 0; s <= 600; s += 1) {
		observers_go_live(&o, NOW + s * SECOND);
		observers_rate(&o, LATE, NOW + s * SECOND);
	}
	assert_int_equal(observers_count(&o, OBSERVER_OK), 2);
	assert_int_equal(find(&o, "dead")->state, OBSERVER_SILENT);
	observers_rate(&o, LATE, NOW + 661 * SECOND);
	assert_int_equal(observers_count(&o, OBSERVER_SILENT), 3);
	observers_release(&o);
}

/* A server that was cut off is silent after a minute, without being late for a moment. */
static void test_cut_off(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	for (int64_t s = 0; s <= 200; s++) {
		hear(&o, "a", s, s);
		hear(&o, "b", s, s);
		if (s <= 100)
			hear(&o, "cut", s, s);
		observers_rate(&o, LATE, NOW + s * SECOND);
		assert_int_equal(observers_count(&o, OBSERVER_LATE), 0);
	}
	assert_int_equal(find(&o, "cut")->state, OBSERVER_SILENT);
	observers_release(&o);
}

/* The span of samples that came too late; another gap is another span. */
static void test_heard_late(void **state)
{
	struct observers o = {.live = true};

	(void)state;
	hear(&o, "a", 0, 0);
	assert_int_equal(find(&o, "a")->late_heard_us, INT64_MIN);
	observers_heard_late(&o, 0, NOW + 100 * SECOND, NOW + 110 * SECOND, NOW + 300 * SECOND);
	observers_heard_late(&o, 0, NOW + 90 * SECOND, NOW + 95 * SECOND, NOW + 301 * SECOND);
	observers_heard_late(&o, 0, NOW + 111 * SECOND, NOW + 290 * SECOND, NOW + 302 * SECOND);
	assert_int_equal(find(&o, "a")->late_from_us, NOW + 90 * SECOND);
	assert_int_equal(find(&o, "a")->late_until_us, NOW + 290 * SECOND);
	assert_int_equal(find(&o, "a")->late_heard_us, NOW + 302 * SECOND);
	observers_heard_late(&o, 0, NOW + 5000 * SECOND, NOW + 5001 * SECOND, NOW + 5300 * SECOND);
	assert_int_equal(find(&o, "a")->late_from_us, NOW + 5000 * SECOND);
	observers_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_states),
		cmocka_unit_test(test_clocks), cmocka_unit_test(test_slow_to_send),
		cmocka_unit_test(test_replay), cmocka_unit_test(test_all_stop),
		cmocka_unit_test(test_go_live), cmocka_unit_test(test_interruption),
		cmocka_unit_test(test_blind), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_heard_late)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
