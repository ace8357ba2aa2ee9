/* Regions in this very program. */
#include "unit.h"

#include "trace/stack/places.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) int looked_for(int x);
__attribute__((noinline)) int looked_for(int x)
{
	return x * 3 + (int)getpid(); /* this line is looked for */
}
enum { LINE = __LINE__ - 2 };

static int base_of(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uintptr_t *)ctx = info->dlpi_addr;
	return 1;
}

static uint64_t address(void)
{
	uintptr_t base = 0;

	dl_iterate_phdr(base_of, &base);
	return (uint64_t)((uintptr_t)looked_for - base);
}

static struct stack_config config(struct stack_place *places, size_t n)
{
	return (struct stack_config){.name = (char *)"s.yaml", .regions = places, .n_regions = n};
}

/* "4000-4010", in hexadecimal. */
static void range_read(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	char *end;

	*ret_first = strtoull(text, &end, 16);
	assert_int_equal(*end, '-');
	*ret_last = strtoull(end + 1, NULL, 16);
}

static void test_found(void **state)
{
	char file[] = "test_trace_places.c";
	struct stack_place places[] = {{PLACE_MARK, (char *)"mark", NULL, 0, 0, 1},
		{PLACE_FUNCTION, (char *)"looked_for()", (char *)"looked_for", 0, 0, 2},
		{PLACE_LINES, (char *)"lines", file, LINE, LINE, 3}};
	struct stack_config c = config(places, 3);
	char self[] = "/proc/self/exe", *command[] = {(char *)"/bin/sh", self, NULL};
	struct strbuf sb = {0};
	struct lp_err err = {0};
	uint64_t first, last;
	const char *at;

	(void)state;
	if (places_find(&c, command, &sb, &err) < 0)
		fail_msg("%s", err.text);
	at = strstr(sb.text, "|looked_for()|");
	assert_non_null(at);
	range_read(at + strlen("|looked_for()|"), &first, &last);
	assert_int_equal(first, address());
	assert_true(last > first);
	at = strstr(sb.text, "|lines|");
	assert_non_null(at);
	range_read(at + strlen("|lines|"), &first, &last);
	assert_true(first >= address() && last > first);
	assert_true(looked_for(1) != 0);
	strbuf_release(&sb);
}

static void expect(struct stack_config *c, char *const *command, const char *says)
{
	struct strbuf sb = {0};
	struct lp_err err = {0};

	assert_int_equal(places_find(c, command, &sb, &err), -ENOENT);
	assert_non_null(strstr(err.text, says));
	strbuf_release(&sb);
}

static void test_missing(void **state)
{
	struct stack_place function = {
		PLACE_FUNCTION, (char *)"nowhere()", (char *)"nowhere", 0, 0, 2};
	struct stack_place lines = {PLACE_LINES, (char *)"no.c:3", (char *)"no.c", 3, 3, 4};
	struct stack_config c = config(&function, 1);
	char self[] = "/proc/self/exe", *command[] = {self, NULL};
	char *none[] = {(char *)"/nowhere/at/all", NULL};

	(void)state;
	expect(&c, command, "s.yaml:2: there is no function 'nowhere' in /");
	c = config(&lines, 1);
	expect(&c, command, "s.yaml:4: there is no code of 'no.c:3' in /");
	expect(&c, none, "s.yaml:4: limpet looks for 'no.c:3' in the program, but the command has");
	c.application = (char *)"flash";
	expect(&c, command, "but the command has no program called flash");
}

/* Marks need no program. */
static void test_marks(void **state)
{
	struct stack_place mark = {PLACE_MARK, (char *)"mark", NULL, 0, 0, 1};
	struct stack_config c = config(&mark, 1);
	char *none[] = {NULL};
	struct strbuf sb = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(places_find(&c, none, &sb, &err), 0);
	assert_int_equal(sb.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_found),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_marks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
