#include "unit.h"

#include "trace/stack/server_rows.h"
#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)

/* What a row of that name has. */
struct wanted {
	const char *name;
	int64_t n, ns;
	uint32_t rows; /* of any name */
};

static void look(void *ctx, const char *name, const int64_t *values)
{
	struct wanted *w = ctx;

	w->rows++;
	if (strcmp(name, w->name) != 0)
		return;
	w->n = values[lp_schema_column(server_rows_schema(), "answer_n")];
	w->ns = values[lp_schema_column(server_rows_schema(), "answer_ns")];
}

static struct wanted row(const struct named_rows *rows, const char *name)
{
	struct wanted w = {.name = name};

	named_rows_each(rows, look, &w);
	return w;
}

static void add(
	struct named_rows *rows, const char *layer, uint8_t op, const char *object, int64_t ms)
{
	const struct span s = {.op = op,
		.start_ns = 5 * MS,
		.end_ns = (5 + ms) * MS,
		.layer = layer,
		.function = "",
		.object = object};

	assert_int_equal(server_rows_add(rows, &s), 0);
}

/* Each server has a row; only its data counts, and only as its client sees it. */
static void test_rows(void **state)
{
	struct named_rows *rows = server_rows_new("c1");
	struct wanted w;

	(void)state;
	assert_non_null(rows);
	add(rows, "network", SPAN_READ, "10.0.0.1:3334", 7);
	add(rows, "network", SPAN_WRITE, "10.0.0.1:3334", 5);
	add(rows, "network", SPAN_READ, "10.0.0.2:3334", 20);
	add(rows, "network", SPAN_META, "10.0.0.1:3334", 1);
	add(rows, "network", SPAN_SYNC, "10.0.0.3:3334", 90);
	add(rows, "network", SPAN_READ, "", 90);
	add(rows, "server", SPAN_READ, "10.0.9.1:40001", 90);
	add(rows, "block", SPAN_READ, "sdb", 90);
	w = row(rows, "10.0.0.1:3334");
	assert_int_equal(w.rows, 2);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.ns, 12 * MS);
	w = row(rows, "10.0.0.2:3334");
	assert_int_equal(w.n, 1);
	assert_int_equal(w.ns, 20 * MS);
	named_rows_free(rows);
}

static void test_many(void **state)
{
	struct named_rows *rows = server_rows_new("c1");
	char name[32];

	(void)state;
	assert_non_null(rows);
	for (unsigned i = 0; i < SERVER_ROWS_MAX + 500; i++) {
		snprintf(name, sizeof(name), "10.0.%u.%u:3334", i / 250, i % 250);
		add(rows, "network", SPAN_READ, name, 1);
	}
	assert_int_equal(row(rows, "other").rows, SERVER_ROWS_MAX + 1);
	assert_int_equal(row(rows, "other").n, 500);
	assert_int_equal(row(rows, "other").ns, 500 * MS);
	named_rows_free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
