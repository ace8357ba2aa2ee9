#include "base/strbuf.h"

#include "unit.h"
#include <stdlib.h>
#include <string.h>

static void test_appends(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_puts(&sb, "disk");
	strbuf_putc(&sb, ':');
	strbuf_add(&sb, "sdabc", 3);
	strbuf_printf(&sb, " %d/%s", 7, "x");
	assert_string_equal(sb.text, "disk:sda 7/x");
	assert_int_equal(sb.len, 12);
	assert_false(sb.failed);
	strbuf_release(&sb);
	assert_null(sb.text);
	assert_int_equal(sb.len, 0);
}

static void test_grows_over_many_appends(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	for (int i = 0; i < 10000; i++)
		strbuf_printf(&sb, "%04d,", i);
	assert_int_equal(sb.len, 50000);
	assert_int_equal(strlen(sb.text), 50000);
	assert_memory_equal(sb.text + 5 * 9999, "9999,", 6);
	assert_true(sb.cap > sb.len);
	strbuf_release(&sb);
}

/* The text ends exactly at, just before and just after the room there is. */
static void test_boundaries(void **state)
{
	(void)state;
	for (int len = 60; len <= 68; len++) {
		struct strbuf sb = {0};

		strbuf_printf(&sb, "%*s", len, "x");
		assert_int_equal(sb.len, len);
		assert_int_equal(strlen(sb.text), len);
		strbuf_printf(&sb, "%s", "y");
		assert_memory_equal(sb.text + len - 1, "xy", 3);
		strbuf_release(&sb);
	}
}

static void test_holds_nul_bytes(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_add(&sb, "a\0b", 3);
	strbuf_putc(&sb, '\0');
	assert_int_equal(sb.len, 4);
	assert_memory_equal(sb.text, "a\0b\0", 5);
	strbuf_release(&sb);
}

static void test_reset_keeps_the_memory(void **state)
{
	struct strbuf sb = {0};
	const char *memory;

	(void)state;
	strbuf_reset(&sb);
	assert_null(sb.text);
	strbuf_puts(&sb, "something");
	memory = sb.text;
	strbuf_reset(&sb);
	assert_int_equal(sb.len, 0);
	assert_string_equal(sb.text, "");
	strbuf_puts(&sb, "else");
	assert_ptr_equal(sb.text, memory);
	assert_string_equal(sb.text, "else");
	strbuf_release(&sb);
}

static void test_nothing_is_nothing(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_add(&sb, NULL, 0);
	strbuf_puts(&sb, "");
	strbuf_printf(&sb, "%s", "");
	assert_int_equal(sb.len, 0);
	assert_null(sb.text);
	strbuf_release(&sb);
}

static void test_take(void **state)
{
	struct strbuf sb = {0};
	char *text;

	(void)state;
	text = strbuf_take(&sb);
	assert_string_equal(text, "");
	free(text);
	strbuf_puts(&sb, "mine");
	text = strbuf_take(&sb);
	assert_string_equal(text, "mine");
	assert_null(sb.text);
	assert_int_equal(sb.cap, 0);
	strbuf_puts(&sb, "next");
	assert_string_equal(text, "mine");
	strbuf_release(&sb);
	free(text);
}

static void test_failure_is_remembered(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	strbuf_puts(&sb, "before");
	sb.failed = true; /* as a failed allocation leaves it */
	strbuf_puts(&sb, "after");
	strbuf_printf(&sb, "%d", 1);
	assert_string_equal(sb.text, "before");
	assert_null(strbuf_take(&sb));
	/* Half a text is never handed out, and the buffer is new again. */
	assert_false(sb.failed);
	strbuf_puts(&sb, "again");
	assert_string_equal(sb.text, "again");
	strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_grows_over_many_appends),
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_holds_nul_bytes),
		cmocka_unit_test(test_reset_keeps_the_memory),
		cmocka_unit_test(test_nothing_is_nothing),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_failure_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
