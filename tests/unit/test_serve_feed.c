/* Live, the engine says what `limpet diagnose` says of the same data. */
#include "serve_rig.h"

#include "serve/feed.h"
#include "serve/sightings.h"
#include <errno.h>

#define SERVERS 5
#define LONG_S 2700

static const struct rig_fault fault = {2, 1, 1200, 1440, 8, 0}, none = {0};

static char *verdict_text(struct lp_verdict *v)
{
	struct printed p;

	assert_int_equal(verdict_print_json(printed_begin(&p), v), 0);
	lp_verdict_free(v);
	return printed_end(&p);
}

static char *diagnosed(const struct serve_rig *r, const struct lp_diagnose_options *o)
{
	struct lp_dataset *ds = serve_rig_dataset(r);
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	if (lp_diagnose(ds, o, &v, &err) < 0)
		fail_msg("%s", err.text);
	lp_dataset_close(ds);
	return verdict_text(v);
}

static int64_t second(uint32_t s)
{
	return (RIG_START_S + s) * 1000000 + 30000;
}

static void read_now(struct feed *f, uint32_t s)
{
	struct lp_err err = {0};

	if (feed_read(f, second(s) + FEED_LATENESS_US, second(s), &err) < 0 ||
		feed_advance(f, second(s), &err) < 0)
		fail_msg("%s", err.text);
}

static char *feed_says(struct feed *f)
{
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	if (feed_verdict(f, &v, &err) < 0)
		fail_msg("%s", err.text);
	return verdict_text(v);
}

/* Servers record at random, up to a minute apart; the feed reads, advances and is asked now and
 * then. */
static void run_at_random(struct serve_rig *r, struct feed *f, uint64_t seed)
{
	uint32_t slowest = 0, fastest = 0;

	/* An observer that never delivered is not waited for. */
	for (uint32_t i = 0; i < SERVERS; i++)
		serve_rig_write(r, i, 1);
	while (slowest < LONG_S) {
		uint32_t server = rig_below(&seed, SERVERS), n = 1 + rig_below(&seed, 20);

		if (r->rig.servers[server].fed + n <= slowest + 50)
			serve_rig_write(r, server, n);
		slowest = LONG_S;
		for (uint32_t i = 0; i < SERVERS; i++) {
			uint32_t fed = r->rig.servers[i].fed;

			slowest = fed < slowest ? fed : slowest;
			fastest = fed > fastest ? fed : fastest;
		}
		if (rig_below(&seed, 4) == 0)
			read_now(f, fastest + rig_below(&seed, 5));
		if (feed_due(f) && rig_below(&seed, 4) == 0)
			free(feed_says(f));
	}
}

static void test_same_as_diagnose(void **state)
{
	const struct lp_diagnose_options live = {.bounded = true, .slice_us = 2000}, once = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		char name[16];
		struct serve_rig r;
		struct feed_options o = {.dir = r.dir, .diagnose = &live};
		struct feed *f = NULL;
		struct lp_err err = {0};
		char *want, *got;

		snprintf(name, sizeof(name), "same%d", (int)seed);
		serve_rig_init(&r, name, SERVERS, LONG_S, &fault);
		assert_int_equal(feed_new(&o, &f, &err), 0);
		run_at_random(&r, f, seed * 7919);
		read_now(f, LONG_S + 1);
		assert_int_equal(feed_n_late(f), 0);
		if (feed_finish(f, &err) < 0)
			fail_msg("%s", err.text);
		got = feed_says(f);
		want = diagnosed(&r, &once);
		assert_string_equal(got, want);
		assert_non_null(strstr(got, "oss2/disk:sdb"));
		free(got);
		free(want);
		feed_free(f);
		serve_rig_release(&r);
	}
}

/* All of it at once, as a restart does: from some time on. */
static void test_restart(void **state)
{
	const struct lp_diagnose_options live = {.bounded = true};
	const struct lp_diagnose_options since = {.from_us = second(600)};
	struct serve_rig r;
	struct feed_options o = {.dir = r.dir, .diagnose = &since, .from_us = second(600)};
	struct feed *f = NULL;
	struct lp_err err = {0};
	char *want, *got;

	(void)state;
	(void)live;
	serve_rig_init(&r, "restart", SERVERS, LONG_S, &fault);
	serve_rig_write_all(&r, LONG_S);
	assert_int_equal(feed_new(&o, &f, &err), 0);
	for (uint32_t s = 600; s < LONG_S + 60; s += 60) {
		assert_true(feed_read(f, second(s), second(s), &err) >= 0);
		assert_int_equal(feed_advance_to(f, second(s), &err), 0);
	}
	assert_int_equal(feed_n_late(f), 0);
	got = feed_says(f);
	want = diagnosed(&r, &since);
	/* The last window may be another one: the watermarks differ by a few seconds. */
	assert_non_null(strstr(got, "oss2/disk:sdb"));
	assert_non_null(strstr(want, "oss2/disk:sdb"));
	free(got);
	free(want);
	feed_free(f);
	serve_rig_release(&r);
}

/* A clock that is far ahead makes no other observer late. */
static void test_clock_ahead(void **state)
{
	const struct lp_diagnose_options live = {.bounded = true};
	struct serve_rig ahead, r;
	struct feed_options o = {.dir = r.dir, .diagnose = &live};
	struct feed *f = NULL;
	struct lp_err err = {0};
	uint32_t at;

	(void)state;
	serve_rig_init(&r, "clock", SERVERS, 600, NULL);
	ahead = r;
	ahead.rig.start_s += 3600;
	assert_int_equal(feed_new(&o, &f, &err), 0);
	for (uint32_t s = 0; s < 600; s += 10) {
		for (uint32_t i = 0; i + 1 < SERVERS; i++)
			serve_rig_write(&r, i, 10);
		serve_rig_write(&ahead, SERVERS - 1, 10);
		read_now(f, s + 10);
	}
	assert_int_equal(feed_n_late(f), 0);
	assert_true(feed_watermark_us(f) > second(580));
	assert_true(feed_watermark_us(f) < second(601));
	observers_rate(feed_observers(f), FEED_LATENESS_US, second(600));
	assert_true(strmap_get(&feed_observers(f)->index, "oss1", &at));
	assert_int_equal(feed_observers(f)->items[at].state, OBSERVER_OK);
	feed_free(f);
	serve_rig_release(&r);
}

/* All servers record another ten seconds, and the feed reads on; whatever it finds out about clocks
 * makes another feed, as the live engine does it. Returns how often. */
static unsigned live_on(struct serve_rig *r, const struct feed_options *o, struct feed **f,
	uint32_t from, uint32_t to)
{
	struct lp_err err = {0};
	unsigned again = 0;

	for (uint32_t s = from; s < to; s += 10) {
		for (uint32_t i = 0; i < SERVERS; i++)
			serve_rig_write(r, i, 10);
		read_now(*f, s + 10);
		observers_rate(feed_observers(*f), FEED_LATENESS_US, second(s + 10));
		if (feed_check_arrival(*f, &err) != -EAGAIN)
			continue;
		feed_free(*f);
		*f = NULL;
		again++;
		assert_int_equal(feed_new(o, f, &err), 0);
		feed_observers(*f)->live = false;
		for (uint32_t at = 0; at <= s + 10; at += 10) {
			assert_true(feed_read(*f, second(at), second(at), &err) >= 0);
			assert_int_equal(feed_advance_to(*f, second(at), &err), 0);
		}
		observers_go_live(feed_observers(*f), second(s + 10));
	}
	return again;
}

/* A clock that is off, live, from a second on (0: always): its own server's fault is found, and the
 * verdict is that of servers whose clocks are right. */
static void assert_live_clock(const char *name, int64_t ahead_s, uint32_t set_at, unsigned again)
{
	const struct rig_fault slow = {1, 0, 500, 720, 8, 0};
	const struct lp_diagnose_options live = {.bounded = true};
	struct clocks clocks = {0};
	struct serve_rig r;
	struct feed_options o = {.dir = r.dir, .diagnose = &live, .clocks = &clocks};
	struct feed *f = NULL;
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};
	uint32_t at;

	serve_rig_init(&r, name, SERVERS, 900, &slow);
	r.rig.servers[1].ahead_us = ahead_s * 1000000;
	r.rig.servers[1].set_at = set_at;
	assert_int_equal(feed_new(&o, &f, &err), 0);
	assert_int_equal(live_on(&r, &o, &f, 0, 900), again);
	/* When it reads again, a second that arrival cannot tell. */
	assert_in_range(feed_n_late(f), 0, 10);
	assert_true(feed_watermark_us(f) > second(880));
	assert_true(feed_watermark_us(f) < second(901));
	assert_true(strmap_get(&feed_observers(f)->index, "oss1", &at));
	assert_int_equal(feed_observers(f)->items[at].state, OBSERVER_OK);
	assert_in_range(feed_observers(f)->items[at].skew_us + 10000000000,
		ahead_s * 1000000 + 9998000000, ahead_s * 1000000 + 10002000000);
	if (feed_verdict(f, &v, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(v->n_suspects, 1);
	assert_string_equal(v->suspects[0].cause, "disk-busy");
	assert_string_equal(v->components[v->suspects[0].component]->text, "oss1/disk:sda");
	/* To a second: the arrival of data is no more exact than that. */
	assert_in_range(v->suspects[0].first_us, second(490), second(510));
	assert_int_equal(v->n_notes, 1);
	lp_verdict_free(v);
	feed_free(f);
	clocks_release(&clocks);
	serve_rig_release(&r);
}

static void test_live_clocks(void **state)
{
	(void)state;
	assert_live_clock("future", 300, 0, 1);	 /* its data is from the future */
	assert_live_clock("past", -150, 0, 1);	 /* it is always of the same age */
	assert_live_clock("little", 30, 0, 1);	 /* no more than lateness */
	assert_live_clock("set", 600, 300, 0);	 /* the archive shows it */
	assert_live_clock("back", -600, 300, 0); /* the same */
}

/* An observer that samples less often than all before: the feed has to begin again. */
static void test_longer_interval(void **state)
{
	const struct lp_diagnose_options live = {.bounded = true};
	struct lp_archive_meta meta = {.observer = "slow", .interval_us = 60000000};
	struct lp_archive_writer *w = NULL;
	struct serve_rig r;
	struct feed_options o = {.dir = r.dir, .diagnose = &live};
	struct feed *f = NULL;
	struct lp_err err = {0};
	struct lp_batch *b;
	char path[TEMP_PATH_MAX + 16];

	(void)state;
	serve_rig_init(&r, "interval", SERVERS, 100, NULL);
	assert_int_equal(feed_new(&o, &f, &err), 0);
	assert_int_equal(feed_read(f, INT64_MAX, second(0), &err), 0);
	serve_rig_write_all(&r, 50);
	assert_true(feed_read(f, INT64_MAX, second(50), &err) > 0);
	snprintf(path, sizeof(path), "%s/slow.lpa", r.dir);
	assert_int_equal(lp_archive_create(path, &meta, &w, &err), 0);
	b = rig_batch(&r.rig, 0, 1);
	assert_int_equal(
		lp_archive_write(w, r.rig.servers[0].source.catalogue, b, LP_ARCHIVE_LOOSE, &err),
		0);
	lp_batch_free(b);
	sleep(2); /* until the directory is searched again */
	assert_int_equal(feed_read(f, INT64_MAX, second(51), &err), -ESTALE);
	lp_archive_abandon(w);
	feed_free(f);
	serve_rig_release(&r);
}

/* What operators and the verdict hear of servers that deliver nothing. */
struct heard {
	unsigned silent, others; /* sightings */
	unsigned absent;	 /* incidents of verdicts */
};

static void look(struct feed *f, uint32_t s, struct heard *ret)
{
	struct observers *o = feed_observers(f);
	struct sightings seen = {0};
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	read_now(f, s);
	observers_rate(o, FEED_LATENESS_US, second(s));
	if (feed_due(f) && feed_verdict(f, &v, &err) < 0)
		fail_msg("%s", err.text);
	if (v) {
		for (uint32_t i = 0; i < v->n_incidents; i++)
			ret->absent += v->incidents[i].level == LP_LEVEL_ABSENT;
		assert_int_equal(sightings_add_verdict(&seen, v, o), 0);
	}
	assert_int_equal(sightings_add_observers(&seen, o, NULL, second(s)), 0);
	for (size_t i = 0; i < seen.n; i++) {
		bool silent = !strcmp(seen.items[i].cause, "silent");

		ret->silent += silent;
		ret->others += !silent;
	}
	sightings_release(&seen);
	lp_verdict_free(v);
}

#define AWAY_FROM_S 600
#define AWAY_UNTIL_S 800
#define AWAY_END_S 1000

/* All servers record up to AWAY_END_S; server i delivers nothing from AWAY_FROM_S to back[i]. */
static void away(
	const char *name, const uint32_t back[SERVERS], struct heard *ret, uint64_t *ret_late)
{
	const struct lp_diagnose_options live = {.bounded = true};
	struct serve_rig r;
	struct feed_options o = {.dir = r.dir, .diagnose = &live};
	struct feed *f = NULL;
	struct lp_err err = {0};

	*ret = (struct heard){0};
	serve_rig_init(&r, name, SERVERS, AWAY_END_S, &none);
	assert_int_equal(feed_new(&o, &f, &err), 0);
	for (uint32_t s = 5; s <= AWAY_END_S; s += 5) {
		for (uint32_t i = 0; i < SERVERS; i++) {
			bool is_away = s > AWAY_FROM_S && s < back[i];

			serve_rig_write(&r, i, is_away ? 0 : s - r.rig.servers[i].fed);
		}
		look(f, s, ret);
	}
	*ret_late = feed_n_late(f);
	feed_free(f);
	serve_rig_release(&r);
}

/* One server was cut off: it was silent, and nothing else. Its samples of that time come too late,
 * so the engine misses them. */
static void test_cut_off(void **state)
{
	static const uint32_t back[SERVERS] = {0, 0, 0, 0, AWAY_UNTIL_S};
	struct heard heard;
	uint64_t late;

	(void)state;
	away("cut", back, &heard, &late);
	assert_true(heard.silent > 0 && late > 0);
	assert_int_equal(heard.others, 0);
}

/* The collector was away, and the servers come back one after the other: all samples are judged. */
static void test_collector_away(void **state)
{
	static const uint32_t back[SERVERS] = {
		AWAY_UNTIL_S, AWAY_UNTIL_S, AWAY_UNTIL_S, AWAY_UNTIL_S + 15, AWAY_UNTIL_S + 40};
	struct heard heard;
	uint64_t late;

	(void)state;
	away("away", back, &heard, &late);
	assert_int_equal(late, 0);
	assert_int_equal(heard.absent, 0);
	assert_int_equal(heard.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_diagnose),
		cmocka_unit_test(test_restart), cmocka_unit_test(test_clock_ahead),
		cmocka_unit_test(test_live_clocks), cmocka_unit_test(test_longer_interval),
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_collector_away)};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
