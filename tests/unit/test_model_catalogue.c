#include "model/catalogue.h"

#include "base/array.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct lp_column disk_columns[] = {
	{"rd_ios", "requests", LP_COUNTER, 64},
	{"wr_ios", "requests", LP_COUNTER, 64},
	{"in_flight", "requests", LP_GAUGE, 0},
};
static const struct lp_schema disk = {"disk", disk_columns, ARRAY_SIZE(disk_columns)};

static int setup(void **state)
{
	*state = lp_catalogue_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lp_catalogue_free(*state);
	return 0;
}

static uint32_t add_schema(struct lp_catalogue *c, const struct lp_schema *s)
{
	struct lp_err err = {0};
	uint32_t id = UINT32_MAX;

	assert_int_equal(lp_catalogue_add_schema(c, s, &id, &err), 0);
	return id;
}

static uint32_t add(struct lp_catalogue *c, uint32_t schema, const char *observer, const char *name,
	const char *labels)
{
	struct lp_err err = {0};
	uint32_t id = UINT32_MAX;

	assert_int_equal(
		lp_catalogue_add_component(c, schema, observer, name, labels, &id, &err), 0);
	return id;
}

static void test_schema_is_copied(void **state)
{
	struct lp_catalogue *c = *state;
	char kind[] = "net", name[] = "rx", unit[] = "bytes";
	struct lp_column column = {name, unit, LP_COUNTER, 32};
	struct lp_schema s = {kind, &column, 1};
	uint32_t id = add_schema(c, &s);

	memset(kind, '?', 3);
	memset(name, '?', 2);
	memset(unit, '?', 5);
	column.bits = 64;
	assert_string_equal(c->schemas[id].kind, "net");
	assert_string_equal(c->schemas[id].columns[0].name, "rx");
	assert_string_equal(c->schemas[id].columns[0].unit, "bytes");
	assert_int_equal(c->schemas[id].columns[0].bits, 32);
}

static void test_equal_schemas_are_one(void **state)
{
	struct lp_catalogue *c = *state;
	uint32_t first = add_schema(c, &disk);

	assert_int_equal(add_schema(c, &disk), first);
	assert_int_equal(c->n_schemas, 1);
}

static void test_any_difference_is_a_new_schema(void **state)
{
	struct lp_catalogue *c = *state;
	struct lp_column columns[ARRAY_SIZE(disk_columns)];
	struct lp_schema s = {"disk", columns, ARRAY_SIZE(columns)};

	add_schema(c, &disk);
	memcpy(columns, disk_columns, sizeof(columns));
	columns[1].name = "wr_merges";
	assert_int_equal(add_schema(c, &s), 1);
	columns[1] = disk_columns[1];
	columns[1].unit = "things";
	assert_int_equal(add_schema(c, &s), 2);
	columns[1] = disk_columns[1];
	columns[1].bits = 32;
	assert_int_equal(add_schema(c, &s), 3);
	columns[1] = disk_columns[1];
	columns[1].type = LP_GAUGE;
	assert_int_equal(add_schema(c, &s), 4);
	columns[1] = disk_columns[1];
	s.n_columns = 2;
	assert_int_equal(add_schema(c, &s), 5);
	s.n_columns = 3;
	s.kind = "part";
	assert_int_equal(add_schema(c, &s), 6);
	s.kind = "disk";
	assert_int_equal(add_schema(c, &s), 0);
}

static void test_schema_without_columns(void **state)
{
	struct lp_schema s = {"empty", NULL, 0};

	assert_int_equal(add_schema(*state, &s), 0);
	assert_int_equal(add_schema(*state, &s), 0);
}

static void test_too_many_columns(void **state)
{
	struct lp_catalogue *c = *state;
	struct lp_column columns[LP_COLUMNS_MAX + 1];
	struct lp_schema s = {"wide", columns, ARRAY_SIZE(columns)};
	struct lp_err err = {0};
	uint32_t id = 7;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		columns[i] = disk_columns[0];
	assert_int_equal(lp_catalogue_add_schema(c, &s, &id, &err), -E2BIG);
	assert_string_equal(err.text, "a wide has 257 columns, more than the 256 that fit");
	assert_int_equal(id, 7);
	assert_int_equal(c->n_schemas, 0);
	s.n_columns = LP_COLUMNS_MAX;
	assert_int_equal(add_schema(c, &s), 0);
}

static void test_components_by_name(void **state)
{
	struct lp_catalogue *c = *state;
	uint32_t schema = add_schema(c, &disk);
	char buf[64];

	assert_int_equal(add(c, schema, "oss3", "sda", NULL), 0);
	assert_int_equal(add(c, schema, "oss3", "sdb", NULL), 1);
	assert_int_equal(add(c, schema, "oss4", "sda", NULL), 2);
	assert_int_equal(add(c, schema, "oss3", "sdb", NULL), 1);
	assert_int_equal(c->n_components, 3);
	assert_int_equal(lp_component_name(c, 2, buf, sizeof(buf)), 13);
	assert_string_equal(buf, "oss4/disk:sda");
	assert_int_equal(lp_component_name(c, 2, buf, 6), 13);
	assert_string_equal(buf, "oss4/");
}

static void test_slashes_do_not_confuse(void **state)
{
	struct lp_catalogue *c = *state;
	uint32_t schema = add_schema(c, &disk);

	assert_int_equal(add(c, schema, "a", "b/c", NULL), 0);
	assert_int_equal(add(c, schema, "a/b", "c", NULL), 1);
	assert_int_equal(add(c, schema, "", "a/b/c", NULL), 2);
	assert_int_equal(add(c, schema, "a", "b/c", NULL), 0);
}

static void test_changed_columns_make_a_new_component(void **state)
{
	struct lp_catalogue *c = *state;
	struct lp_schema shorter = {"disk", disk_columns, 2};
	uint32_t old = add(c, add_schema(c, &shorter), "oss3", "sda", NULL);
	uint32_t new_id = add(c, add_schema(c, &disk), "oss3", "sda", NULL);

	assert_int_not_equal(old, new_id);
	assert_string_equal(c->components[old].name, c->components[new_id].name);
	assert_int_equal(c->schemas[c->components[old].schema].n_columns, 2);
	assert_int_equal(c->schemas[c->components[new_id].schema].n_columns, 3);
}

static void test_later_labels_win(void **state)
{
	struct lp_catalogue *c = *state;
	uint32_t schema = add_schema(c, &disk);
	uint32_t id = add(c, schema, "oss3", "sda", NULL);

	assert_string_equal(c->components[id].labels, "");
	add(c, schema, "oss3", "sda", "stable=wwn-1");
	assert_string_equal(c->components[id].labels, "stable=wwn-1");
	add(c, schema, "oss3", "sda", NULL);
	assert_string_equal(c->components[id].labels, "stable=wwn-1");
	add(c, schema, "oss3", "sda", "");
	assert_string_equal(c->components[id].labels, "");
}

static void test_label_lookup(void **state)
{
	struct lp_component c = {.labels = "stable=wwn-0x5000\nmodel=A=B\nempty=\nlast=z"};
	char buf[32];

	(void)state;
	assert_true(lp_component_label(&c, "stable", buf, sizeof(buf)));
	assert_string_equal(buf, "wwn-0x5000");
	assert_true(lp_component_label(&c, "model", buf, sizeof(buf)));
	assert_string_equal(buf, "A=B");
	assert_true(lp_component_label(&c, "empty", buf, sizeof(buf)));
	assert_string_equal(buf, "");
	assert_true(lp_component_label(&c, "last", buf, sizeof(buf)));
	assert_string_equal(buf, "z");
	assert_true(lp_component_label(&c, "stable", buf, 4));
	assert_string_equal(buf, "wwn");
	assert_false(lp_component_label(&c, "stab", buf, sizeof(buf)));
	assert_false(lp_component_label(&c, "A", buf, sizeof(buf)));
	c.labels = "";
	assert_false(lp_component_label(&c, "stable", buf, sizeof(buf)));
}

static void test_column_lookup(void **state)
{
	(void)state;
	assert_int_equal(lp_schema_column(&disk, "rd_ios"), 0);
	assert_int_equal(lp_schema_column(&disk, "in_flight"), 2);
	assert_int_equal(lp_schema_column(&disk, "rd"), -1);
	assert_int_equal(lp_schema_column(&disk, ""), -1);
}

static void test_ids_never_change(void **state)
{
	struct lp_catalogue *c = *state;
	uint32_t schema = add_schema(c, &disk);
	char name[16];

	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "sd%u", i);
		assert_int_equal(add(c, schema, "oss3", name, "x=1"), i);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "sd%u", i);
		assert_int_equal(add(c, schema, "oss3", name, NULL), i);
		assert_string_equal(c->components[i].name, name);
	}
}

/* In a recorder's catalogue an id goes from one component to the next. */
static void test_places(void **state)
{
	struct lp_catalogue *c = *state, *copy;
	uint32_t schema = add_schema(c, &disk), id;
	uint64_t changes;
	struct lp_err err = {0};

	assert_int_equal(catalogue_place(c, 0, schema, "h", "a", "x=1\n", &err), 0);
	assert_int_equal(catalogue_place(c, 1, schema, "h", "b", "", &err), 0);
	assert_int_equal(c->n_components, 2);
	assert_int_equal(catalogue_find(c, schema, "h", "a", &id), 0);
	assert_int_equal(id, 0);
	changes = c->changes;
	assert_int_equal(catalogue_vacate(c, 0), 0);
	assert_true(c->changes > changes);
	assert_int_equal(catalogue_vacate(c, 0), 0); /* again: nothing */
	assert_null(c->components[0].name);
	assert_int_equal(catalogue_find(c, schema, "h", "a", &id), -ENOENT);
	copy = lp_catalogue_copy(c);
	assert_non_null(copy);
	assert_null(copy->components[0].name);
	assert_string_equal(copy->components[1].name, "b");
	lp_catalogue_free(copy);
	/* The name of 1 goes to 0, and 1 gets another one: both are found. */
	assert_int_equal(catalogue_place(c, 0, schema, "h", "b", "", &err), 0);
	assert_int_equal(catalogue_place(c, 1, schema, "h", "c", "", &err), 0);
	assert_int_equal(catalogue_find(c, schema, "h", "b", &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(catalogue_find(c, schema, "h", "c", &id), 0);
	assert_int_equal(id, 1);
	/* The same with other labels. */
	assert_int_equal(catalogue_place(c, 1, schema, "h", "c", "x=2\n", &err), 0);
	assert_int_equal(add(c, schema, "h", "c", NULL), 1);
	assert_string_equal(c->components[1].labels, "x=2\n");
	assert_int_equal(c->n_components, 2);
}

static void test_free_of_nothing(void **state)
{
	(void)state;
	lp_catalogue_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_schema_is_copied),
		TEST(test_equal_schemas_are_one),
		TEST(test_any_difference_is_a_new_schema),
		TEST(test_schema_without_columns),
		TEST(test_too_many_columns),
		TEST(test_components_by_name),
		TEST(test_slashes_do_not_confuse),
		TEST(test_changed_columns_make_a_new_component),
		TEST(test_later_labels_win),
		TEST(test_label_lookup),
		TEST(test_column_lookup),
		TEST(test_ids_never_change),
		TEST(test_places),
		TEST(test_free_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
