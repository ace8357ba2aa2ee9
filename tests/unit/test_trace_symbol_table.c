#include "trace/symbols/symbol_table.h"

#include "unit.h"
#include <string.h>

static void add(struct symbol_table *t, uint64_t start, uint64_t size, const char *name)
{
	assert_int_equal(symbol_table_add(t, start, size, name, strlen(name), 0), 0);
}

static const char *at(const struct symbol_table *t, uint64_t address)
{
	const struct symbol *s = symbol_table_find(t, address);

	return s ? symbol_name(t, s) : "-";
}

static void test_find(void **state)
{
	struct symbol_table t = {0};

	(void)state;
	assert_string_equal(at(&t, 5), "-");
	add(&t, 0x200, 0x10, "second");
	add(&t, 0x100, 0x20, "first");
	add(&t, 0x300, 0, "open_end");
	add(&t, 0x400, 8, "last");
	symbol_table_finish(&t);
	assert_string_equal(at(&t, 0xff), "-");
	assert_string_equal(at(&t, 0x100), "first");
	assert_string_equal(at(&t, 0x11f), "first");
	assert_string_equal(at(&t, 0x120), "-");
	assert_string_equal(at(&t, 0x205), "second");
	assert_string_equal(at(&t, 0x3ff), "open_end");
	assert_string_equal(at(&t, 0x407), "last");
	assert_string_equal(at(&t, 0x408), "-");
	assert_string_equal(at(&t, UINT64_MAX), "-");
	symbol_table_release(&t);
}

/* Of several names of one address it is always the same one, in whatever order they come. */
static void test_aliases(void **state)
{
	const char *const names[] = {"__memcpy", "memcpy", "memmove", "_memcpy"};

	(void)state;
	for (size_t first = 0; first < 4; first++) {
		struct symbol_table t = {0};

		for (size_t i = 0; i < 4; i++)
			add(&t, 0x10, 4, names[(first + i) % 4]);
		add(&t, 0x10, 0, "aaa_without_size");
		symbol_table_finish(&t);
		assert_int_equal(t.n, 1);
		assert_string_equal(at(&t, 0x13), "memcpy");
		symbol_table_release(&t);
	}
}

/* A function may have another one inside; behind that it goes on. */
static void test_nested(void **state)
{
	struct symbol_table t = {0};

	(void)state;
	add(&t, 0x100, 0x100, "outer");
	add(&t, 0x140, 0x10, "inner");
	symbol_table_finish(&t);
	assert_string_equal(at(&t, 0x145), "inner");
	assert_string_equal(at(&t, 0x150), "outer");
	symbol_table_release(&t);
}

static void test_names(void **state)
{
	char longer[2 * SYMBOL_NAME_MAX];
	struct symbol_table t = {0};

	(void)state;
	memset(longer, 'x', sizeof(longer));
	assert_int_equal(symbol_table_add(&t, 1, 1, longer, sizeof(longer), 0), 0);
	assert_int_equal(symbol_table_add(&t, 2, 1, "", 0, 0), 0); /* none */
	symbol_table_finish(&t);
	assert_int_equal(t.n, 1);
	assert_int_equal(strlen(at(&t, 1)), SYMBOL_NAME_MAX);
	symbol_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
