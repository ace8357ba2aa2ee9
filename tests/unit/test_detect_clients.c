#include "unit.h"

#include "detect/group/verdict_tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of one sample. */
static struct lp_table *table(const char *metric, const char *const *names, const double *values)
{
	struct lp_table *t = calloc(1, sizeof(*t));
	uint32_t n = 0;

	assert_non_null(t);
	while (names[n])
		n++;
	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup(""),
		.step_us = 1,
		.n_slots = 1,
		.n_components = n,
		.components = calloc(n, sizeof(struct lp_identity *)),
		.values = calloc(n, sizeof(double))};
	assert_true(t->components && t->values);
	for (uint32_t i = 0; i < n; i++) {
		t->components[i] = lp_identity_parse(names[i]);
		t->values[i] = values[i];
	}
	return t;
}

static const char *const processes[] = {"c1/sys:dd", "s1/sys:glusterfsd", "c2/sys:glusterfs",
	"s2/sys:glusterfsd", "x/sys:mysqld", NULL};

/* c1, c2 and s2 ask s1; s1 and s2 serve; x has nothing to do with them. */
static void check(const char *metric, bool requests_known, bool dropped)
{
	static const char *const peers[] = {"c1/peer:10.0.0.1:24007", "c2/peer:10.0.0.1:24007",
		"s2/peer:10.0.0.1:24007", "x/peer:10.9.9.9:3306", NULL};
	struct lp_table *tables[3] = {table(metric, processes, (double[]){1, 2, 3, 4, 5}),
		table("ncread", peers, (double[]){1, 1, 1, 1}),
		table(requests_known ? "nsreads" : "other", processes,
			(double[]){0, 50, NAN, 50, 0})};
	struct hosts hosts = {0};
	struct lp_err err = {0};

	assert_int_equal(hosts_add(&hosts, "s1", "10.0.0.1"), 0);
	assert_int_equal(hosts_add(&hosts, "c1", "10.0.1.1"), 0);
	assert_int_equal(clients_drop(tables, 3, &hosts, &err), 0);
	assert_int_equal(tables[0]->n_components, dropped ? 3 : 5);
	if (dropped) {
		assert_string_equal(tables[0]->components[0]->text, "s1/sys:glusterfsd");
		assert_string_equal(tables[0]->components[1]->text, "s2/sys:glusterfsd");
		assert_string_equal(tables[0]->components[2]->text, "x/sys:mysqld");
		assert_true(tables[0]->values[0] == 2 && tables[0]->values[1] == 4 &&
			tables[0]->values[2] == 5);
	}
	assert_int_equal(tables[1]->n_components, 4);
	assert_int_equal(tables[2]->n_components, 5);
	for (int i = 0; i < 3; i++)
		lp_table_free(tables[i]);
	hosts_release(&hosts);
}

static void test_drop(void **state)
{
	(void)state;
	check("dread", true, true);
	check("dwrite", true, true);
	/* The requests read are unknown, or it is about something else. */
	check("dread", false, false);
	check("nsread", true, false);
	check("await", true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
