#include "serve/credential.h"

#include "temp_dir.h"

static void test_find(void **state)
{
	char path[TEMP_PATH_MAX], small[4];

	(void)state;
	unsetenv("CREDENTIALS_DIRECTORY");
	assert_false(credential_find("x", path, sizeof(path)));
	setenv("CREDENTIALS_DIRECTORY", temp_dir_path, 1);
	assert_false(credential_find("x", path, sizeof(path)));
	temp_text("empty", "none\n");
	assert_false(credential_find("empty", path, sizeof(path)));
	temp_text("x", "secret");
	assert_true(credential_find("x", path, sizeof(path)));
	assert_string_equal(path, temp_path("x"));
	assert_false(credential_find("x", small, sizeof(small)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, temp_dir_setup, temp_dir_teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
