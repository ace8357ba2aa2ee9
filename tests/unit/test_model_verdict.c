#include "unit.h"

#include "model/verdict_own.h"
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
	char *c = strdup(text);

	assert_non_null(c);
	return c;
}

static void test_notes(void **state)
{
	struct lp_verdict *v = calloc(1, sizeof(*v));

	(void)state;
	assert_non_null(v);
	assert_int_equal(lp_verdict_note(v, "%d of %s", 3, "them"), 0);
	assert_int_equal(lp_verdict_note(v, "more"), 0);
	assert_int_equal(verdict_note_hint(v, "-v lists it", "%d hidden", 1), 0);
	assert_int_equal(v->n_notes, 3);
	assert_string_equal(v->notes[0], "3 of them");
	assert_string_equal(v->hints[0], "");
	assert_string_equal(v->notes[1], "more");
	assert_string_equal(v->notes[2], "1 hidden");
	assert_string_equal(v->hints[2], "-v lists it");
	lp_verdict_free(v);
}

/* Everything that can be in one goes with it; the leak checker watches. */
static void test_freed(void **state)
{
	struct lp_verdict *v = calloc(1, sizeof(*v));

	(void)state;
	assert_non_null(v);
	v->suspects = calloc(1, sizeof(*v->suspects));
	v->incidents = calloc(1, sizeof(*v->incidents));
	v->groups = calloc(1, sizeof(*v->groups));
	v->series = calloc(1, sizeof(*v->series));
	assert_true(v->suspects && v->incidents && v->groups && v->series);
	v->n_suspects = v->n_incidents = v->n_groups = v->n_series = 1;
	v->suspects[0].evidence = calloc(1, sizeof(char *));
	assert_non_null(v->suspects[0].evidence);
	v->suspects[0].evidence[0] = copy("await 4.1x its peers");
	v->suspects[0].n_evidence = 1;
	v->suspects[0].advice = copy("look");
	v->incidents[0].part = copy("controller:a");
	v->groups[0].name = copy("disk");
	v->groups[0].refused = copy("2 components");
	v->series[0].marks = calloc(1, 1);
	lp_verdict_free(v);
	lp_verdict_free(NULL);
	lp_peer_groups_free(NULL, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
