#include "intrepid_rig.h"

#include "explain/localise.h"

static void test_surprise(void **state)
{
	(void)state;
	/* Affected as the others are: no surprise. */
	assert_float_equal(localise_surprise(5, 10, 50, 100), 0, 1e-9);
	assert_float_equal(localise_surprise(0, 10, 5, 100), 0, 1e-9);
	assert_float_equal(localise_surprise(1, 10, 50, 100), 0, 1e-9);
	assert_float_equal(localise_surprise(10, 10, 0, 0), 0, 1e-9);
	/* All of it and nothing else: as surprising as can be. */
	assert_float_equal(localise_surprise(2, 2, 0, 2), 4 * log(2), 1e-9);
	for (int a = 2; a < 20; a++) {
		assert_true(
			localise_surprise(a, 20, 1, 500) > localise_surprise(a - 1, 20, 1, 500));
		assert_true(localise_surprise(a, 20, 1, 500) > localise_surprise(a, 20, 2, 500));
		assert_true(localise_surprise(a, 20, 1, 500) > localise_surprise(a, 30, 1, 490));
	}
}

/* A topology file that does not mention the observer: it is a part nevertheless. */
static void test_parts(void **state)
{
	struct explain_context ctx;
	struct parts p;
	struct rig r;
	bool observer = false, controller = false;

	(void)state;
	intrepid_init(&r);
	assert_int_equal(context_init(&ctx, r.v, r.topology, NULL, NULL), 0);
	assert_int_equal(parts_init(&p, &ctx, NULL), 0);
	for (uint32_t i = p.first_of[0]; i < p.first_of[1]; i++) {
		observer |= !strcmp(p.names[p.of[i]], "observer:fs0");
		controller |= !strcmp(p.names[p.of[i]], "controller:ddn0a");
		assert_true(parts_has(&p, 0, p.of[i]));
	}
	assert_true(observer && controller);
	for (uint32_t i = 0; i < p.n; i++) {
		assert_true(p.first_member[i + 1] > p.first_member[i]);
		for (uint32_t k = p.first_member[i]; k < p.first_member[i + 1]; k++)
			assert_true(parts_has(&p, p.members[k], i));
	}
	parts_release(&p);
	context_release(&ctx);
	rig_release(&r);
}

/* Of random subsets of a part, the part (or one as large) is found, or nothing; never another. */
static void test_random_subsets(void **state)
{
	struct explain_context ctx;
	struct parts p;
	struct rig r;

	(void)state;
	srand(7);
	intrepid_init(&r);
	assert_int_equal(context_init(&ctx, r.v, r.topology, NULL, NULL), 0);
	assert_int_equal(parts_init(&p, &ctx, NULL), 0);
	for (int round = 0; round < 300; round++) {
		uint32_t affected[LUNS], n = 0, array = (uint32_t)rand() % ARRAYS;
		struct location at;
		char expected[32];

		for (uint32_t lun = 0; lun < LUNS; lun++) {
			if (rand() % 72 < 2 + round % 70)
				affected[n++] = array * LUNS + lun;
		}
		if (n < 20)
			continue;
		at = localise(&p, &ctx, affected, n);
		assert_int_not_equal(at.part, UINT32_MAX);
		snprintf(expected, sizeof(expected), "array:ddn%u", array);
		assert_string_equal(p.names[at.part], expected);
		assert_int_equal(at.n_members, LUNS);
		assert_int_equal(at.n_affected, n);
	}
	parts_release(&p);
	context_release(&ctx);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_surprise),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_random_subsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
