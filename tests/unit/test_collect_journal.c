#include "collect/journal.h"
#include "unit.h"

#include "model/catalogue.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct lp_column columns[] = {{"n", "x", LP_COUNTER, 64}};
static const struct lp_schema disk = {"disk", columns, 1}, net = {"net", columns, 1};

static void add_schema(struct journal *j, const struct lp_schema *s)
{
	assert_int_equal(journal_reserve_schema(j), 0);
	journal_add_schema(j, s);
}

static void apply(struct journal *j, struct lp_catalogue *c)
{
	struct lp_err err = {0};

	if (journal_apply(j, c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(j->n, 0);
	assert_int_equal(j->n_schemas, 0);
}

static void test_changes(void **state)
{
	struct lp_catalogue *c = lp_catalogue_new();
	struct journal j = {0};
	uint32_t id;

	(void)state;
	add_schema(&j, &disk);
	assert_int_equal(journal_add(&j, 0, 0, "h", "sda", "stable=x\n"), 0);
	assert_int_equal(journal_add(&j, 1, 0, "h", "sdb", ""), 0);
	apply(&j, c);
	assert_int_equal(c->n_components, 2);
	assert_string_equal(c->components[0].labels, "stable=x\n");
	/* Its name goes to another id, and the id to another kind. */
	assert_int_equal(journal_add(&j, 0, 1, "h", "eth0", ""), 0);
	add_schema(&j, &net);
	assert_int_equal(journal_add(&j, 2, 0, "h", "sda", ""), 0);
	apply(&j, c);
	assert_int_equal(catalogue_find(c, 0, "h", "sda", &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(catalogue_find(c, 1, "h", "eth0", &id), 0);
	assert_int_equal(id, 0);
	assert_string_equal(c->schemas[c->components[0].schema].kind, "net");
	/* Nobody. */
	assert_int_equal(journal_add(&j, 1, 0, NULL, NULL, NULL), 0);
	apply(&j, c);
	assert_null(c->components[1].name);
	assert_int_equal(catalogue_find(c, 0, "h", "sdb", &id), -ENOENT);
	journal_release(&j);
	lp_catalogue_free(c);
}

/* Of an id only the last change counts, also if it came and went. */
static void test_last_change(void **state)
{
	struct lp_catalogue *c = lp_catalogue_new();
	struct journal j = {0};
	char name[32];

	(void)state;
	add_schema(&j, &disk);
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "sd%u", i);
		assert_int_equal(journal_add(&j, i % 3, 0, "h", name, ""), 0);
	}
	assert_int_equal(journal_add(&j, 0, 0, NULL, NULL, NULL), 0);
	assert_int_equal(j.n, 3);
	apply(&j, c);
	assert_int_equal(c->n_components, 3);
	assert_null(c->components[0].name);
	assert_string_equal(c->components[1].name, "sd4999");
	assert_string_equal(c->components[2].name, "sd4997");
	journal_release(&j);
	lp_catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_last_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
