#include "base/cleanup.h"
#include "lab/plan.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static void place(const char *text, uint64_t seed, struct plan *ret)
{
	struct lp_err err = {0};

	if (plan_parse("p", text, ret, &err) < 0)
		fail_msg("%s", err.text);
	ret->lab.seed = seed;
	plan_place(ret);
}

static unsigned server(const struct plan *p, unsigned experiment, unsigned fault)
{
	const char *on = p->experiments[experiment].faults[fault].on;
	unsigned n;

	assert_int_equal(*on, 's');
	n = (unsigned)strtoul(on + 1, NULL, 10);
	assert_in_range(n, 1, p->lab.n_servers);
	return n;
}

/* Six experiments have six servers, whatever they are. */
static void all_have_their_turn(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		_cleanup_(plan_release) struct plan p = {0};
		unsigned seen = 0;

		place("servers 6\nrun ddw disk-hog,disk-busy,pause,slow-disk,cpu-hog,slow-link\n",
			seed, &p);
		for (unsigned i = 0; i < 6; i++)
			seen |= 1u << server(&p, i, 0);
		assert_int_equal(seen, 0x7e);
	}
}

/* Repetitions differ as long as there are other servers, and begin anew then. */
static void repetitions_differ(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		_cleanup_(plan_release) struct plan p = {0};

		place("servers 4\nrun ddw pause\nrepeat 8\nrun ddw disk-hog\n", seed, &p);
		for (unsigned half = 0; half < 2; half++) {
			unsigned seen = 0;

			for (unsigned i = 0; i < 4; i++)
				seen |= 1u << server(&p, 1 + 4 * half + i, 0);
			assert_int_equal(seen, 0x1e);
		}
	}
}

/* A fault is not always on the same server, also where repetitions fill whole rounds. */
static void faults_move(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	unsigned seen = 0;

	(void)state;
	place("servers 6\nrun ddw,ddr,iozonew,iozoner,postmark,mixed "
	      "disk-hog,disk-busy,pause,slow-disk,cpu-hog,slow-link\n",
		1, &p);
	for (unsigned i = 0; i < p.n_experiments; i += 6)
		seen |= 1u << server(&p, i, 0);
	assert_true(__builtin_popcount(seen) > 2);
}

static void faults_of_one_experiment_are_apart(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		_cleanup_(plan_release) struct plan p = {0};

		place("servers 3\nrepeat 20\nrun ddw disk-hog+pause@s2+cpu-hog\n", seed, &p);
		for (unsigned i = 0; i < p.n_experiments; i++) {
			assert_int_equal(server(&p, i, 1), 2);
			assert_int_equal(server(&p, i, 0) + server(&p, i, 2), 4);
			assert_int_not_equal(server(&p, i, 0), 2);
		}
	}
}

static void one_server_gets_all(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};

	(void)state;
	place("servers 1\nrepeat 3\nrun ddw disk-hog\n", 1, &p);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(server(&p, i, 0), 1);
}

static void seeds_decide(void **state)
{
	_cleanup_(plan_release) struct plan a = {0}, b = {0}, c = {0};
	const char *text = "repeat 10\nrun ddw,ddr disk-hog\n";
	unsigned same = 0;

	(void)state;
	place(text, 1, &a);
	place(text, 1, &b);
	place(text, 2, &c);
	for (unsigned i = 0; i < a.n_experiments; i++) {
		assert_int_equal(server(&a, i, 0), server(&b, i, 0));
		same += server(&a, i, 0) == server(&c, i, 0);
	}
	assert_true(same < a.n_experiments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_have_their_turn),
		cmocka_unit_test(repetitions_differ),
		cmocka_unit_test(faults_move),
		cmocka_unit_test(faults_of_one_experiment_are_apart),
		cmocka_unit_test(one_server_gets_all),
		cmocka_unit_test(seeds_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
