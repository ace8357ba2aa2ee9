#include "trace/symbols/demangle.h"

#include "unit.h"
#include <string.h>

static const char *plain(const char *name)
{
	static char buf[64];

	demangle(name, buf, sizeof(buf));
	return buf;
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(plain("posix_readv"), "posix_readv");
	assert_string_equal(plain("_start"), "_start");
	assert_string_equal(plain("_Z"), "_Z");
	assert_string_equal(plain(""), "");
}

/* Where there is no libiberty names stay as they are. */
static void test_cplusplus(void **state)
{
	(void)state;
	if (!strcmp(plain("_ZN3osd5writeEi"), "_ZN3osd5writeEi"))
		skip();
	assert_string_equal(plain("_ZN3osd5writeEi"), "osd::write(int)");
	assert_string_equal(plain("_RNvCs1234_7mycrate4main"), "mycrate::main");
}

static void test_long(void **state)
{
	char name[2000];

	(void)state;
	memset(name, 'x', sizeof(name));
	memcpy(name, "_Z", 2);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strlen(plain(name)), 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cplusplus),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
