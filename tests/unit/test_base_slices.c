/* Work that is put aside continues where it was, and only while a caller waits for it. */
#include "base/slices.h"
#include "unit.h"

struct count {
	uint32_t upto;
	volatile uint32_t at; /* the other thread's, whenever that works */
};

static void count_up(void *arg)
{
	struct count *c = arg;

	for (c->at = 0; c->at < c->upto; c->at++)
		slices_rest();
}

/* Without any time it does one piece and rests. */
static void test_pieces(void **state)
{
	struct count c = {.upto = 5};
	struct slices *s = slices_new(count_up, &c);

	(void)state;
	assert_non_null(s);
	assert_false(slices_rests(s));
	for (uint32_t i = 0; i < c.upto; i++) {
		assert_false(slices_run(s, 0));
		assert_true(slices_rests(s));
		assert_int_equal(c.at, i);
	}
	assert_true(slices_run(s, 0));
	assert_false(slices_rests(s));
	assert_int_equal(c.at, c.upto);
	/* And again. */
	assert_false(slices_run(s, 0));
	assert_int_equal(c.at, 0);
	assert_true(slices_run(s, SLICES_WHOLE));
	assert_int_equal(c.at, c.upto);
	slices_free(s);
}

/* What the caller changes between two slices the work sees. */
static void test_change(void **state)
{
	struct count c = {.upto = 1000000};
	struct slices *s = slices_new(count_up, &c);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_false(slices_run(s, 0));
	c.upto = 3;
	assert_true(slices_run(s, SLICES_WHOLE));
	assert_int_equal(c.at, 3);
	slices_free(s);
}

/* What is left is done before it is over. */
static void test_end(void **state)
{
	struct count c = {.upto = 1000};
	struct slices *s = slices_new(count_up, &c);

	(void)state;
	assert_false(slices_run(s, 0));
	slices_free(s);
	assert_int_equal(c.at, c.upto);
	s = slices_new(count_up, &c);
	slices_free(s); /* never begun */
	slices_free(NULL);
}

/* Other threads do not rest. */
static void test_elsewhere(void **state)
{
	struct count c = {.upto = 1000};

	(void)state;
	count_up(&c);
	assert_int_equal(c.at, c.upto);
	for (uint32_t i = 0; i < 1000; i++)
		slices_rest_at(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
