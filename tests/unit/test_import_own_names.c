#include "unit.h"

#include "base/hash.h"
#include "collect/collector.h"
#include "import/remote/mapping.h"
#include <string.h>

static const struct mapping_column *find(
	const struct mapping *m, const char *kind, const char *name)
{
	for (size_t i = 0; i < m->n_groups; i++) {
		for (size_t c = 0; c < m->groups[i].n_columns; c++) {
			if (!strcmp(m->groups[i].kind, kind) &&
				!strcmp(m->groups[i].columns[c].column, name))
				return &m->groups[i].columns[c];
		}
	}
	return NULL;
}

static void check(const struct mapping *m, const char *kind, const char *name, const char *metric,
	double scale)
{
	const struct mapping_column *c = find(m, kind, name);

	assert_non_null(c);
	assert_string_equal(c->metric, metric);
	assert_true(c->scale == scale);
	assert_string_equal(c->own.name, name);
}

static void test_names(void **state)
{
	struct mapping m = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(mapping_load_own(&m, &err), 0);
	check(&m, "disk", "rd_sec", "limpet_disk_read_bytes_total", 1.0 / 512);
	check(&m, "disk", "in_flight", "limpet_disk_io_now", 1);
	check(&m, "host", "cpu_user", "limpet_cpu_seconds_total", 100);
	check(&m, "ost", "rd_bytes", "limpet_ost_rd_bytes_total", 1);
	assert_int_equal(find(&m, "host", "cpu_user")->where.n, 1);
	assert_string_equal(find(&m, "host", "cpu_user")->where.items[0].text, "user");
	mapping_release(&m);
}

/* Every column of every collector has a name, and no two have the same. */
static void test_all(void **state)
{
	struct mapping m = {0};
	struct strmap seen = {0};
	struct strbuf key = {0};
	struct lp_err err = {0};
	uint32_t ignored;

	(void)state;
	assert_int_equal(mapping_load_own(&m, &err), 0);
	for (const struct collector *const *c = collectors; *c; c++) {
		for (uint32_t i = 0; i < (*c)->schema->n_columns; i++)
			assert_non_null(
				find(&m, (*c)->schema->kind, (*c)->schema->columns[i].name));
	}
	for (size_t i = 0; i < m.n_groups; i++) {
		assert_string_equal(m.groups[i].prefix, "limpet_");
		for (size_t c = 0; c < m.groups[i].n_columns; c++) {
			const struct mapping_column *column = &m.groups[i].columns[c];

			assert_int_equal(strncmp(column->metric, "limpet_", 7), 0);
			strbuf_reset(&key);
			strbuf_puts(&key, column->metric);
			for (size_t w = 0; w < column->where.n; w++)
				strbuf_printf(&key, " %s", column->where.items[w].text);
			assert_false(strmap_get(&seen, key.text, &ignored));
			assert_int_equal(strmap_put(&seen, key.text, 0), 0);
		}
	}
	strmap_release(&seen);
	strbuf_release(&key);
	mapping_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
