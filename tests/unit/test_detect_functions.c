#include "detect/group/verdict_tables.h"

#include "identity_rig.h"
#include "profile_rig.h"

static const struct profile small = {.metric = "samples",
	.unit = "1/s",
	.n_observers = 3,
	.n_functions = 20,
	.n_slots = 10,
	.step_us = 1000000,
	.total = 100,
	.noise = 0.3};

static void test_joined(void **state)
{
	(void)state;
	assert_true(functions_joined(identity_of("oss3/functions:all")));
	assert_false(functions_joined(identity_of("oss3/function:all")));
	assert_false(functions_joined(identity_of("oss3/functions:all:x")));
	assert_false(functions_joined(identity_of("oss3/disk:sdb")));
	assert_false(functions_joined(identity_of("oss3")));
}

/* Rows of totals come after the existing ones; other tables do not change. */
static void test_join(void **state)
{
	struct lp_table *t = profile_make(&small), *disks = profile_make(&small);
	struct lp_table *tables[] = {t, disks};
	struct lp_err err = {0};

	(void)state;
	for (uint32_t i = 0; i < disks->n_components; i++) {
		free(disks->components[i]);
		disks->components[i] = identity_printf("oss%u/disk:sda", i);
	}
	profile_lose(&small, t, 1, 4, 5);
	assert_int_equal(functions_join(tables, 2, &err), 0);
	assert_int_equal(disks->n_components, 60);
	assert_int_equal(t->n_components, 63);
	assert_string_equal(t->components[59]->text, "oss2/function:f19");
	for (uint32_t i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "oss%u/functions:all", i);
		assert_string_equal(t->components[60 + i]->text, name);
		for (uint32_t s = 0; s < t->n_slots; s++) {
			double sum = 0;

			for (uint32_t f = 0; f < 20; f++)
				sum += profile_row(t, f * 3 + i)[s];
			assert_true(vectors_close(profile_row(t, 60 + i)[s], sum));
			assert_int_equal(isnan(sum), i == 1 && s == 4);
		}
	}
	lp_table_free(t);
	lp_table_free(disks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
