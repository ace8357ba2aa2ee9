#include "serve/ingest_tail.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void expect(struct tails *t, const char *file, uint64_t offset, const char *want)
{
	char got[32] = "";
	size_t n = tails_peek(t, file, offset, got, sizeof(got) - 1);

	assert_int_equal(n, strlen(want));
	assert_string_equal(got, want);
}

static void test_keep(void **state)
{
	struct tails *t = tails_new();
	char two[2];

	(void)state;
	assert_non_null(t);
	expect(t, "a", 0, "");
	tails_keep(t, "a", 100, "hello", 5);
	tails_keep(t, "b", 7, "world", 5);
	expect(t, "a", 99, "");
	expect(t, "a", 100, "hello");
	expect(t, "a", 103, "lo");
	expect(t, "a", 105, "");
	expect(t, "a", UINT64_MAX, "");
	expect(t, "b", 7, "world");
	assert_int_equal(tails_peek(t, "a", 101, two, 2), 2);
	assert_memory_equal(two, "el", 2);
	/* It is sent again, with more. */
	tails_keep(t, "a", 100, "hello again", 11);
	expect(t, "a", 105, " again");
	tails_drop(t, "a");
	tails_drop(t, "c");
	expect(t, "a", 100, "");
	expect(t, "b", 7, "world");
	tails_drop(t, "b");
	expect(t, "b", 7, "");
	tails_keep(t, "b", 1, "x", 1);
	expect(t, "b", 1, "x");
	tails_free(t);
	tails_free(NULL);
}

/* There is a limit; what is dropped makes room again. */
static void test_limit(void **state)
{
	const size_t size = TAILS_BYTES_MAX / 4;
	struct tails *t = tails_new();
	char *bytes = calloc(1, size), byte;
	char name[2] = "a";

	(void)state;
	assert_true(t && bytes);
	for (; name[0] <= 'e'; name[0]++)
		tails_keep(t, name, 0, bytes, size);
	assert_int_equal(tails_peek(t, "d", size - 1, &byte, 1), 1);
	assert_int_equal(tails_peek(t, "e", 0, &byte, 1), 0);
	tails_keep(t, "d", 0, bytes, size); /* takes the place of its own */
	assert_int_equal(tails_peek(t, "d", 0, &byte, 1), 1);
	tails_drop(t, "a");
	tails_keep(t, "e", 0, bytes, size);
	assert_int_equal(tails_peek(t, "e", 0, &byte, 1), 1);
	free(bytes);
	tails_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep), cmocka_unit_test(test_limit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
