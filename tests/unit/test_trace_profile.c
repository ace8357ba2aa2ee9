#include "trace/profile/profile.h"

#include "unit.h"
#include <errno.h>
#include <string.h>

static const char *program(const char *comm)
{
	static char name[SAMPLER_COMM_MAX];

	profile_program_name(comm, name);
	return name;
}

/* A program is called the same on all servers, and its name is one word. */
static void test_program_names(void **state)
{
	(void)state;
	assert_string_equal(program("glusterfsd"), "glusterfsd");
	assert_string_equal(program("kworker/0:1H"), "kworker");
	assert_string_equal(program("jbd2/sda1-8"), "jbd2");
	assert_string_equal(program("my: server"), "my__server");
	assert_string_equal(program("/slash"), "/slash");
	assert_string_equal(program("\x01\xff"), "__");
	assert_string_equal(program(""), "_");
	assert_string_equal(program("sixteen_letters_"), "sixteen_letters");
}

static void test_samplers(void **state)
{
	const struct profile_config fast = {.observer = "s1", .hz = SAMPLER_HZ_MAX + 1};
	const struct profile_config other = {.observer = "s1", .sampler = "none"};
	struct profile *p = NULL;
	struct lp_err err = {0};

	(void)state;
	for (const struct sampler *const *s = samplers; *s; s++)
		assert_ptr_equal(sampler_find((*s)->name), *s);
	assert_null(sampler_find("none"));
	assert_int_equal(profile_new(&fast, &p, NULL, &err), -EINVAL);
	assert_int_equal(profile_new(&other, &p, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_names),
		cmocka_unit_test(test_samplers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
