#include "base/array.h"
#include "import/csv_series.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct csv_layout layout;
static struct lp_catalogue *catalogue;
static struct csv_series series;

static struct csv_field field(const char *text)
{
	return (struct csv_field){.text = (char *)text, .len = strlen(text)};
}

/* A series whose component is the only column; wide with metrics "a" and "b" or long. */
static void begin(bool wide, const struct lp_select *select)
{
	struct csv_field names[] = {field("component")};
	struct lp_err err = {0};
	struct csv_header h;

	layout = (struct csv_layout){.wide = wide};
	assert_int_equal(csv_header_init(&h, names, 1), 0);
	assert_int_equal(
		csv_template_compile(&layout.component, "{component}", "x.csv", &h, &err), 0);
	csv_header_release(&h);
	if (wide) {
		layout.values = calloc(2, sizeof(*layout.values));
		assert_non_null(layout.values);
		layout.values[layout.n_values++].metric = strdup("a");
		layout.values[layout.n_values++].metric = strdup("b");
	}
	catalogue = lp_catalogue_new();
	assert_non_null(catalogue);
	assert_int_equal(csv_series_init(&series, catalogue, select, &layout, &err), 0);
}

static void end(void)
{
	csv_series_release(&series);
	lp_catalogue_free(catalogue);
	csv_layout_release(&layout);
}

static int add(const char *name, uint32_t *ret)
{
	struct csv_field row = field(name);
	struct lp_err err = {0};
	int r = csv_series_component(&series, &row, ret, &err);

	assert_int_equal(err.code, r);
	return r;
}

static int column(uint32_t component, const char *metric, uint16_t *ret)
{
	struct csv_field f = field(metric);
	struct lp_err err = {0};

	return csv_series_column(&series, component, &f, ret, &err);
}

static void test_names(void **state)
{
	static const char *const bad[] = {"", "sda", "a/b", "a:b", "/disk:x", "a/:x",
		"a/disk:", "a:b/c", "a/b/disk:x", "a/disk:x\n", "a/disk:\x7f"};
	char text[CSV_NAME_MAX + 2] = "a/disk:";
	uint32_t n;

	(void)state;
	begin(false, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(add(bad[i], &n), -EBADMSG);
		assert_int_equal(add(bad[i], &n), -EBADMSG); /* it does not get better */
	}
	assert_int_equal(add("a/disk:x", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(add("a/disk:/dev/x:1", &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(add("a/disk:x", &n), 0);
	assert_int_equal(n, 0);
	memset(text + 7, 'x', sizeof(text) - 8);
	assert_int_equal(add(text, &n), -EBADMSG);
	text[CSV_NAME_MAX] = '\0';
	assert_int_equal(add(text, &n), 0);
	end();
}

static void test_wide_is_published_at_once(void **state)
{
	const struct lp_component *c;
	uint32_t n;

	(void)state;
	begin(true, NULL);
	assert_int_equal(add("a/disk:/dev/x:1", &n), 0);
	assert_int_equal(catalogue->n_schemas, 1);
	assert_string_equal(catalogue->schemas[0].kind, "disk");
	assert_int_equal(catalogue->schemas[0].n_columns, 2);
	assert_string_equal(catalogue->schemas[0].columns[1].name, "b");
	c = &catalogue->components[series.components[n].id];
	assert_string_equal(c->observer, "a");
	assert_string_equal(c->name, "/dev/x:1");
	end();
}

static void test_long_columns_grow(void **state)
{
	struct lp_err err = {0};
	uint32_t disk, net, id;
	uint16_t c;

	(void)state;
	begin(false, NULL);
	assert_int_equal(add("a/disk:x", &disk), 0);
	assert_int_equal(add("a/net:e", &net), 0);
	assert_int_equal(column(disk, "await", &c), 0);
	assert_int_equal(c, 0);
	assert_int_equal(column(net, "rx", &c), 0);
	assert_int_equal(c, 0);
	assert_int_equal(csv_series_resolve(&series, disk, &err), 0);
	id = series.components[disk].id;
	assert_int_equal(column(disk, "tps", &c), 0);
	assert_int_equal(c, 1);
	assert_int_equal(column(disk, "await", &c), 0);
	assert_int_equal(c, 0);
	assert_int_equal(csv_series_resolve(&series, disk, &err), 0);
	assert_int_not_equal(series.components[disk].id, id);
	assert_int_equal(catalogue->schemas[series.components[disk].schema].n_columns, 2);
	assert_int_equal(csv_series_resolve(&series, disk, &err), 0);
	assert_int_equal(catalogue->n_components, 2);
	end();
}

static void test_limits(void **state)
{
	uint32_t n, first;
	uint16_t c;
	char text[32];

	(void)state;
	begin(false, NULL);
	assert_int_equal(add("a/0:x", &first), 0);
	for (int i = 0; i < LP_COLUMNS_MAX; i++) {
		sprintf(text, "m%d", i);
		assert_int_equal(column(first, text, &c), 0);
		assert_int_equal(c, i);
	}
	assert_int_equal(column(first, "one more", &c), -E2BIG);
	assert_int_equal(column(first, "m7", &c), 0);
	assert_int_equal(c, 7);
	for (int i = 1; i < CSV_KINDS_MAX; i++) {
		sprintf(text, "a/%d:x", i);
		assert_int_equal(add(text, &n), 0);
	}
	assert_int_equal(add("a/more:x", &n), -E2BIG);
	assert_int_equal(add("a/0:y", &n), 0); /* of a known kind */
	assert_int_equal(column(n, "m9", &c), 0);
	assert_int_equal(c, 9);
	end();
}

static bool no_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)c;
	(void)id;
	++*(int *)ctx;
	return false;
}

static void test_selection_is_asked_once(void **state)
{
	int asked = 0;
	struct lp_select select = {.component = no_component, .ctx = &asked};
	struct lp_err err = {0};
	uint32_t n;

	(void)state;
	begin(true, &select);
	assert_int_equal(add("a/disk:x", &n), 0);
	assert_int_equal(add("a/disk:x", &n), 0);
	assert_int_equal(csv_series_resolve(&series, n, &err), 0);
	assert_false(series.components[n].wanted);
	assert_int_equal(asked, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_wide_is_published_at_once),
		cmocka_unit_test(test_long_columns_grow),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_selection_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
