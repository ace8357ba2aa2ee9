/* Incidents open, change and end, and nothing flaps. */
#include "serve_rig.h"

#include "base/time.h"
#include "serve/backtest.h"

#define T0 INT64_C(1300000000000000)
#define MINUTE (60 * US_PER_SEC)

/* Reported changes. */
struct told {
	unsigned n[INCIDENT_SAID + 1];
};

static void note(void *ctx, enum incident_change change, json_t *incident)
{
	struct told *t = ctx;

	assert_true(json_integer_value(json_object_get(incident, "id")) > 0);
	t->n[change]++;
}

static struct incidents *store_new(const struct incidents_options *o)
{
	struct incidents *s = NULL;
	struct lp_err err = {0};

	if (incidents_open(NULL, o, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* A sighting of some components, "a b". */
static void see(struct sightings *s, const char *part, const char *cause, const char *level,
	const char *components, int64_t last_us)
{
	static struct sighting items[8];
	struct sighting *x = &items[s->n];
	char *copy = strdup(components), *save = NULL;
	json_t *names = json_array();

	*x = (struct sighting){.part = strdup(part),
		.cause = strdup(cause),
		.what = strdup(part),
		.observer = strdup("oss1"),
		.level = level,
		.ratio = 8,
		.severity = 5,
		.confidence = 0.9,
		.first_us = T0,
		.last_us = last_us,
		.details = json_object()};
	x->components = calloc(8, sizeof(*x->components));
	for (char *c = strtok_r(copy, " ", &save); c; c = strtok_r(NULL, " ", &save)) {
		x->components[x->n_components++] = strdup(c);
		json_array_append_new(names, json_string(c));
	}
	json_object_set_new(x->details, "components", names);
	free(copy);
	s->items = realloc(s->items, (s->n + 1) * sizeof(*s->items));
	s->items[s->n++] = *x;
}

/* Update the incidents with the problems in `s` at a minute. */
static void update(struct incidents *store, struct sightings *s, int64_t minute)
{
	struct lp_err err = {0};

	if (incidents_update(store, s, T0 + minute * MINUTE, T0 + minute * MINUTE, &err) < 0)
		fail_msg("%s", err.text);
	sightings_release(s);
}

static json_t *list(struct incidents *store, const char *state)
{
	const struct incidents_query q = {.state = state};
	struct lp_err err = {0};
	json_t *all = NULL, *array;

	assert_int_equal(incidents_list(store, &q, &all, &err), 0);
	array = json_incref(json_object_get(all, "incidents"));
	json_decref(all);
	return array;
}

static const char *text_of(const json_t *array, size_t i, const char *key)
{
	const char *text = json_string_value(json_object_get(json_array_get(array, i), key));

	return text ? text : "";
}

static void test_life(void **state)
{
	struct told told = {0};
	const struct incidents_options o = {.changed = note, .ctx = &told};
	struct incidents *store = store_new(&o);
	struct sightings s = {0};
	json_t *open, *ended;

	(void)state;
	see(&s, "oss1/disk:sda", "disk-busy", "critical", "oss1/disk:sda", T0);
	update(store, &s, 0);
	assert_int_equal(told.n[INCIDENT_OPENED], 0); /* seen once is not enough */
	see(&s, "oss1/disk:sda", "disk-busy", "critical", "oss1/disk:sda", T0 + MINUTE);
	update(store, &s, 1);
	assert_int_equal(told.n[INCIDENT_OPENED], 1);
	update(store, &s, 5);
	assert_int_equal(told.n[INCIDENT_ENDED], 0); /* not seen for 4 minutes */
	update(store, &s, 11);
	assert_int_equal(told.n[INCIDENT_ENDED], 1);
	open = list(store, "open");
	ended = list(store, "ended");
	assert_int_equal(json_array_size(open), 0);
	assert_int_equal(json_array_size(ended), 1);
	assert_string_equal(text_of(ended, 0, "state"), "ended");
	json_decref(open);
	json_decref(ended);
	/* Back within the hour: the same incident. */
	for (int64_t m = 20; m < 22; m++) {
		see(&s, "oss1/disk:sda", "disk-busy", "critical", "oss1/disk:sda", T0 + m * MINUTE);
		update(store, &s, m);
	}
	open = list(store, "all");
	assert_int_equal(json_array_size(open), 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(open, 0), "openings")), 2);
	json_decref(open);
	assert_int_equal(told.n[INCIDENT_REOPENED], 1);
	incidents_close(store);
}

/* Two disks turn out to be a controller: one incident stays, the other becomes part of it. */
static void test_coalesce(void **state)
{
	struct told told = {0};
	const struct incidents_options o = {.changed = note, .ctx = &told, .at_once = true};
	struct incidents *store = store_new(&o);
	struct sightings s = {0};
	json_t *open, *ended;

	(void)state;
	see(&s, "a", "disk-busy", "critical", "a", T0);
	see(&s, "b", "disk-busy", "critical", "b", T0);
	update(store, &s, 0);
	assert_int_equal(told.n[INCIDENT_OPENED], 2);
	see(&s, "controller:c1", "disk-busy", "critical", "a b c", T0 + MINUTE);
	update(store, &s, 1);
	open = list(store, "open");
	ended = list(store, "ended");
	assert_int_equal(json_array_size(open), 1);
	assert_string_equal(text_of(open, 0, "part"), "controller:c1");
	assert_int_equal(json_array_size(ended), 1);
	assert_int_equal(json_array_size(json_object_get(json_array_get(ended, 0), "comments")), 1);
	json_decref(open);
	json_decref(ended);
	/* A part of it alone is nothing new. */
	see(&s, "controller:c1", "disk-busy", "critical", "a b c", T0 + 2 * MINUTE);
	see(&s, "b", "disk-busy", "critical", "b", T0 + 2 * MINUTE);
	update(store, &s, 2);
	assert_int_equal(told.n[INCIDENT_OPENED], 2);
	incidents_close(store);
}

/* A cause that is now this and now that does not make two incidents, nor changes all the time. */
static void test_causes(void **state)
{
	struct told told = {0};
	const struct incidents_options o = {.changed = note, .ctx = &told};
	struct incidents *store = store_new(&o);
	struct sightings s = {0};
	json_t *open;

	(void)state;
	for (int64_t m = 0; m < 20; m++) {
		see(&s, "a", m % 2 ? "disk-busy" : "disk-hog", "warning", "a", T0 + m * MINUTE);
		update(store, &s, m);
	}
	assert_int_equal(told.n[INCIDENT_OPENED], 1);
	assert_int_equal(told.n[INCIDENT_CHANGED], 0);
	for (int64_t m = 20; m < 24; m++) {
		see(&s, "a", "packet-loss", "critical", "a", T0 + m * MINUTE);
		update(store, &s, m);
	}
	assert_int_equal(told.n[INCIDENT_CHANGED], 2); /* the level, then the cause */
	open = list(store, "open");
	assert_string_equal(text_of(open, 0, "cause"), "packet-loss");
	assert_string_equal(text_of(open, 0, "level"), "critical");
	json_decref(open);
	incidents_close(store);
}

/* Trouble that was over before it was seen is history, noted once. */
static void test_past(void **state)
{
	struct told told = {0};
	const struct incidents_options o = {.changed = note, .ctx = &told};
	struct incidents *store = store_new(&o);
	struct sightings s = {0};
	json_t *ended;

	(void)state;
	for (int64_t m = 60; m < 63; m++) {
		see(&s, "a", "disk-busy", "critical", "a", T0 + 5 * MINUTE);
		s.items[0].ended = true;
		update(store, &s, m);
	}
	ended = list(store, "ended");
	assert_int_equal(json_array_size(ended), 1);
	assert_int_equal(told.n[INCIDENT_OPENED], 0);
	json_decref(ended);
	incidents_close(store);
}

/* Openings of a disk that is slow every other minute for 40 minutes. */
static unsigned openings(const struct serve_rig *r, const struct incidents_options *o)
{
	const struct lp_diagnose_options how = {.bounded = true};
	const struct backtest_options bt = {.diagnose = &how};
	struct lp_dataset *ds = serve_rig_dataset(r);
	struct incidents *store = store_new(o);
	int64_t first, last;
	struct lp_err err = {0};
	json_t *all;
	unsigned n = 0;

	if (backtest_run(ds, &bt, store, &first, &last, &err) < 0)
		fail_msg("%s", err.text);
	all = list(store, "all");
	for (size_t i = 0; i < json_array_size(all); i++) {
		assert_string_equal(text_of(all, i, "part"), "oss2/disk:sdb");
		n += (unsigned)json_integer_value(
			json_object_get(json_array_get(all, i), "openings"));
	}
	json_decref(all);
	incidents_close(store);
	lp_dataset_close(ds);
	return n;
}

static void test_every_other_minute(void **state)
{
	static const struct rig_fault fault = {2, 1, 1200, 3600, 8, 60};
	const struct incidents_options usual = {0}, jumpy = {.hold_us = 1, .at_once = true};
	struct serve_rig r;
	unsigned n, without;

	(void)state;
	serve_rig_init(&r, "minutes", 6, 4500, &fault);
	serve_rig_write_all(&r, 4500);
	n = openings(&r, &usual);
	without = openings(&r, &jumpy);
	print_message("# slow every other minute for 40 minutes: %u opening%s; without hysteresis "
		      "%u\n",
		n, n == 1 ? "" : "s", without);
	assert_int_equal(n, 1);
	assert_true(without > n);
	serve_rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_life),
		cmocka_unit_test(test_coalesce), cmocka_unit_test(test_causes),
		cmocka_unit_test(test_past), cmocka_unit_test(test_every_other_minute)};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
