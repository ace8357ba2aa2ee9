#include "unit.h"

#include "serve/push_places.h"
#include "temp_dir.h"
#include <errno.h>
#include <stdio.h>

static void test_kept(void **state)
{
	struct push_places p = {0}, again = {0};
	struct lp_err err = {0};
	const char *dir = temp_dir_path;

	(void)state;
	assert_int_equal(push_places_load(&p, dir, &err), 0);
	assert_int_equal(push_places_begin(&p, "a.lpa"), INT64_MIN);
	p.begun_us = 5;
	assert_int_equal(push_places_take(&p, "a.lpa", 200), 0);
	assert_int_equal(push_places_take(&p, "old.lpa", 20), 0);
	push_places_arrived(&p);
	assert_int_equal(push_places_take(&p, "a.lpa", 300), 0);
	assert_int_equal(push_places_take(&p, "b.lpa", 250), 0);
	/* Data that is being sent has not arrived, and old files are not kept. */
	assert_int_equal(push_places_save(&p, dir, 100, &err), 0);
	assert_int_equal(push_places_load(&again, dir, &err), 1);
	assert_int_equal(push_places_begin(&again, "a.lpa"), 200);
	assert_int_equal(push_places_begin(&again, "b.lpa"), INT64_MIN);
	assert_int_equal(push_places_begin(&again, "old.lpa"), INT64_MIN);
	assert_int_equal(again.begun_us, 5);
	/* Where it began does not change while it goes on. */
	assert_int_equal(push_places_take(&again, "a.lpa", 300), 0);
	push_places_arrived(&again);
	assert_int_equal(push_places_begin(&again, "a.lpa"), 200);
	push_places_release(&again);
	push_places_release(&p);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"sent_us\": 3}", "{\"sent_us\": {\"oss3\": \"x\"}}"};
	const char *dir = temp_dir_path;
	char path[TEMP_PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/" PUSH_PLACES_FILE, dir);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct push_places p = {0};
		struct lp_err err = {0};
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(texts[i], f);
		fclose(f);
		assert_int_equal(push_places_load(&p, dir, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "is damaged: remove it"));
		push_places_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
