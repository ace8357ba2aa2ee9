#include "unit.h"

#include "lab/parallel.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lab lab;
static const char *fails; /* the node that does */
static unsigned told, stop_after;

static int make_lab(void **state)
{
	struct lab_config c;

	(void)state;
	lab_config_init(&c);
	c.n_servers = 20;
	fails = NULL;
	told = 0;
	stop_after = UINT32_MAX;
	return lab_init(&lab, &c, NULL);
}

static int work(struct lab *l, struct lab_node *node, struct lp_err *err)
{
	assert_ptr_equal(l, &lab);
	snprintf(node->loop, sizeof(node->loop), "done");
	if (fails && !strcmp(node->name, fails))
		return lp_err_set(err, -EIO, "%s is broken", node->name);
	return 0;
}

static bool done(void *ctx, const struct lab_node *node, unsigned n_done, unsigned n)
{
	assert_ptr_equal(ctx, &told);
	assert_string_equal(node->loop, "done");
	assert_true(n_done > told && n_done <= n);
	told = n_done;
	return told < stop_after;
}

static void all_nodes_of_a_role_and_no_others(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(parallel_nodes(&lab, LAB_SERVER, work, done, &told, &err), 0);
	assert_int_equal(told, 20);
	for (unsigned i = 0; i < lab.n_nodes; i++)
		assert_string_equal(
			lab.nodes[i].loop, lab.nodes[i].role == LAB_SERVER ? "done" : "");
}

static void a_failure_is_told(void **state)
{
	struct lp_err err = {0};

	(void)state;
	fails = "s3";
	assert_int_equal(parallel_nodes(&lab, LAB_SERVER, work, done, &told, &err), -EIO);
	assert_string_equal(err.text, "s3 is broken");
}

static void can_be_stopped(void **state)
{
	struct lp_err err = {0};

	(void)state;
	stop_after = 1;
	assert_int_equal(parallel_nodes(&lab, LAB_SERVER, work, done, &told, &err), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_nodes_of_a_role_and_no_others, make_lab),
		cmocka_unit_test_setup(a_failure_is_told, make_lab),
		cmocka_unit_test_setup(can_be_stopped, make_lab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
