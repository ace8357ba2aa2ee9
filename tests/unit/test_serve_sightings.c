/* What a verdict says of servers that deliver nothing, or did later, is left to their delivery. */
#include "unit.h"

#include "serve/sightings.h"
#include <limpet/verdict.h>

#define SECOND INT64_C(1000000)
#define NOW (INT64_C(1300000000) * SECOND)

/* The number of sightings of a disk of oss1 that had disappeared for these seconds. */
static size_t seen(struct observers *o, int64_t from_s, int64_t until_s)
{
	struct lp_identity *disk = lp_identity_new("oss1", "disk", "sda", NULL);
	struct lp_identity *components[] = {disk};
	uint32_t first = 0;
	struct lp_incident incident = {.part = "oss1/disk:sda",
		.cause = "lost-path",
		.components = &first,
		.n_components = 1,
		.level = LP_LEVEL_ABSENT,
		.first_us = NOW + from_s * SECOND,
		.last_us = NOW + until_s * SECOND};
	const struct lp_verdict v = {.components = components,
		.n_components = 1,
		.incidents = &incident,
		.n_incidents = 1};
	struct sightings s = {0};
	size_t n;

	assert_int_equal(sightings_add_verdict(&s, &v, o), 0);
	n = s.n;
	sightings_release(&s);
	lp_identity_unref(disk);
	return n;
}

static void test_absent(void **state)
{
	struct observers o = {.live = true};
	uint32_t at;

	(void)state;
	assert_int_equal(observers_get(&o, "oss1", &at), 0);
	assert_int_equal(seen(&o, 100, 300), 1);
	/* Its samples of that time came too late. */
	observers_heard_late(&o, at, NOW + 80 * SECOND, NOW + 290 * SECOND, NOW + 310 * SECOND);
	assert_int_equal(seen(&o, 100, 300), 0);
	/* The disk is absent for longer. */
	assert_int_equal(seen(&o, 100, 600), 1);
	assert_int_equal(seen(&o, -300, 300), 1);
	assert_int_equal(seen(&o, 1000, 1200), 1);
	o.items[at].state = OBSERVER_SILENT;
	assert_int_equal(seen(&o, 1000, 1200), 0);
	observers_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
