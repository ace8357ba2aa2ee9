/* The live engine's thread: it follows archives that grow, while others look and speak. */
#include "serve_rig.h"

#include "base/time.h"
#include "serve/live.h"
#include <pthread.h>

#define SERVERS 5

static const struct rig_fault fault = {2, 1, 60, 600, 8, 0}, none = {0};

struct told {
	pthread_mutex_t mutex;
	unsigned opened, judged;
};

static void changed(void *ctx, enum incident_change change, json_t *incident)
{
	struct told *t = ctx;

	(void)incident;
	pthread_mutex_lock(&t->mutex);
	t->opened += change == INCIDENT_OPENED;
	pthread_mutex_unlock(&t->mutex);
}

static void judged(void *ctx, const struct snapshot *now, const struct snapshot *before)
{
	struct told *t = ctx;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	snapshot_write_changes(out, now, before);
	fclose(out);
	free(text);
	pthread_mutex_lock(&t->mutex);
	t->judged++;
	pthread_mutex_unlock(&t->mutex);
}

/* A client that asks for everything repeatedly. */
struct asker {
	struct live *live;
	bool stop;
	pthread_mutex_t mutex;
};

static void *ask(void *arg)
{
	struct asker *a = arg;
	bool stop = false;

	while (!stop) {
		struct snapshot *s = live_snapshot(a->live);
		const struct incidents_query q = {.state = "all"};
		char *text = NULL, trouble[504];
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		json_t *list = NULL;

		snapshot_write_fleet(out, s);
		snapshot_write_components(out, s, &(struct snapshot_query){.limit = 10});
		snapshot_write_hosts(out, s, live_now_us(a->live), NULL, 0);
		fclose(out);
		free(text);
		snapshot_unref(s);
		assert_int_equal(incidents_list(live_incidents(a->live), &q, &list, NULL), 0);
		json_decref(list);
		live_trouble(a->live, trouble, sizeof(trouble));
		pthread_mutex_lock(&a->mutex);
		stop = a->stop;
		pthread_mutex_unlock(&a->mutex);
	}
	return NULL;
}

static unsigned told_opened(struct told *t)
{
	unsigned n;

	pthread_mutex_lock(&t->mutex);
	n = t->opened;
	pthread_mutex_unlock(&t->mutex);
	return n;
}

static void wait_opened(struct told *t)
{
	for (unsigned i = 0; i < 600 && !told_opened(t); i++)
		usleep(50000);
	assert_true(told_opened(t) > 0);
}

static struct incidents *store_new(struct told *t)
{
	const struct incidents_options keep = {.changed = changed, .ctx = t};
	struct incidents *store = NULL;
	struct lp_err err = {0};

	if (incidents_open(temp_path("incidents.sqlite"), &keep, &store, &err) < 0)
		fail_msg("%s", err.text);
	return store;
}

/* The data is of now, so that nothing of it is old. */
static void write_growing(struct serve_rig *r, struct live *l)
{
	for (uint32_t end = 30; end <= 300; end += 30) {
		serve_rig_write_all(r, end);
		live_poke(l);
		usleep(20000);
	}
}

static void test_live(void **state)
{
	struct told told = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct asker asker = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct incidents *store = store_new(&told);
	struct serve_rig r;
	struct live_options o = {.dir = r.dir, .store = store, .judged = judged, .ctx = &told};
	struct incident_word word = {.verb = INCIDENT_ACK, .by = "ann"};
	struct snapshot *s;
	struct lp_err err = {0};
	json_t *incident = NULL;
	pthread_t thread;

	(void)state;
	serve_rig_init(&r, "live", SERVERS, 300, &fault);
	r.rig.start_s = clock_us(CLOCK_REALTIME) / US_PER_SEC - 299;
	serve_rig_write_all(&r, 1); /* an observer that never delivered is not waited for */
	if (live_start(&o, &asker.live, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pthread_create(&thread, NULL, ask, &asker), 0);
	write_growing(&r, asker.live);
	wait_opened(&told);
	assert_int_equal(
		incidents_say(store, 1, &word, live_now_us(asker.live), &incident, &err), 0);
	json_decref(incident);
	s = live_snapshot(asker.live);
	assert_non_null(s->verdict);
	assert_int_equal(s->n_servers, SERVERS);
	assert_int_equal(s->n_suspects, 1);
	snapshot_unref(s);
	pthread_mutex_lock(&asker.mutex);
	asker.stop = true;
	pthread_mutex_unlock(&asker.mutex);
	pthread_join(thread, NULL);
	live_stop(asker.live);
	incidents_close(store);
	serve_rig_release(&r);
}

/* After a restart it is the same incident, and what was said about it is known. */
static void test_restart(void **state)
{
	struct told told = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct incidents *store = store_new(&told);
	struct live_options o = {.dir = temp_path("live"), .store = store, .ctx = &told};
	struct live *l = NULL;
	struct snapshot *s;
	struct lp_err err = {0};
	json_t *incident = NULL;

	(void)state;
	if (live_start(&o, &l, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 600; i++) {
		s = live_snapshot(l);
		if (s->verdict)
			break;
		snapshot_unref(s);
		usleep(50000);
	}
	assert_int_equal(s->n_suspects, 1);
	snapshot_unref(s);
	assert_int_equal(incidents_get(store, 1, &incident, &err), 0);
	assert_true(json_is_object(json_object_get(incident, "acknowledged")));
	assert_int_equal(json_integer_value(json_object_get(incident, "openings")), 1);
	json_decref(incident);
	assert_int_equal(told_opened(&told), 0);
	live_stop(l);
	incidents_close(store);
}

static bool wait_watermark(struct live *l, int64_t us)
{
	bool reached = false;

	for (unsigned i = 0; i < 600 && !reached; i++) {
		struct snapshot *s = live_snapshot(l);

		reached = s->watermark_us >= us;
		snapshot_unref(s);
		if (!reached)
			usleep(50000);
	}
	return reached;
}

/* What the servers recorded while the collector was not running is not too late when it arrives. */
static void test_fill_in(void **state)
{
	struct told told = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct incidents *store = store_new(&told);
	struct serve_rig r;
	struct live_options o = {.dir = r.dir, .store = store, .ctx = &told};
	struct live *l = NULL;
	struct snapshot *s;
	struct lp_err err = {0};

	(void)state;
	serve_rig_init(&r, "fill", SERVERS, 300, &none);
	r.rig.start_s = clock_us(CLOCK_REALTIME) / US_PER_SEC - 299;
	serve_rig_write_all(&r, 95);
	if (live_start(&o, &l, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 600 && !live_is_ready(l); i++)
		usleep(50000);
	assert_true(live_is_ready(l));
	serve_rig_write_all(&r, 300);
	live_poke(l);
	assert_true(wait_watermark(l, (r.rig.start_s + 280) * US_PER_SEC));
	s = live_snapshot(l);
	assert_int_equal(s->n_late, 0);
	assert_int_equal(s->n_absent, 0);
	snapshot_unref(s);
	live_stop(l);
	incidents_close(store);
	serve_rig_release(&r);
}

/* Mistakes in files are reported at once. */
static void test_bad_options(void **state)
{
	struct told told = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct incidents *store = store_new(&told);
	struct live_options o = {.dir = temp_path("live"),
		.store = store,
		.topology = temp_text("bad.yaml", "components: 5\n")};
	struct live *l = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_true(live_start(&o, &l, &err) < 0);
	assert_non_null(strstr(err.text, "bad.yaml:1"));
	incidents_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_live),
		cmocka_unit_test(test_restart), cmocka_unit_test(test_fill_in),
		cmocka_unit_test(test_bad_options)};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
