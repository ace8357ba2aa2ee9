#include "explain/coverage.h"

#include "unit.h"
#include "verdict_rig.h"

/* Of every `period` slots of a server only the first `there` have data. */
static void punch(struct lp_verdict *v, const char *server, uint32_t there, uint32_t period)
{
	for (uint32_t m = 0; m < v->n_tables; m++) {
		for (uint32_t d = 0; d < RIG_DISKS; d++) {
			double *row = v->tables[m]->values + (size_t)v->row_of[m][d] * RIG_SLOTS;

			if (strncmp(v->components[d]->text, server, strlen(server)) != 0)
				continue;
			for (uint32_t i = 0; i < RIG_SLOTS; i++)
				row[i] = i % period < there ? row[i] : NAN;
		}
	}
}

static uint32_t judged(uint32_t there, uint32_t period, const char *role_of_all)
{
	struct lp_verdict *v = rig_healthy();
	uint32_t n;

	for (uint32_t m = 0; role_of_all && m < v->n_tables; m++) {
		free(v->tables[m]->metric);
		v->tables[m]->metric = strdup(role_of_all);
	}
	punch(v, "fs2/", there, period);
	assert_int_equal(patchy_judge(v), 0);
	n = v->n_unknown;
	if (n)
		assert_non_null(strstr(v->unknown[0], "fs2 has data in only"));
	lp_verdict_free(v);
	return n;
}

/* Slots per minute; away for longer is no matter of pieces. */
#define MINUTE (uint32_t)(60000000 / RIG_STEP_US)

static void test_pieces(void **state)
{
	(void)state;
	assert_int_equal(judged(1, 1, NULL), 0);
	assert_int_equal(judged(1, MINUTE > 1 ? MINUTE : 2, NULL), 1);
	assert_int_equal(judged(3, 4, NULL), 0);
	assert_int_equal(judged(MINUTE, 4 * MINUTE + 4, NULL), 0);
}

/* Latencies are missing where there was nothing to do. */
static void test_latencies(void **state)
{
	(void)state;
	assert_int_equal(judged(1, MINUTE > 1 ? MINUTE : 2, "await"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_latencies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
