#include "serve/credential.h"

#include "temp_dir.h"
#include <errno.h>

static void test_find(void **state)
{
	static const char *const shorts[] = {"a", "abcd", "some", "nones", "none!\n", "abc\n"};
	char path[TEMP_PATH_MAX], small[4];

	(void)state;
	unsetenv("CREDENTIALS_DIRECTORY");
	assert_false(credential_find("x", path, sizeof(path)));
	setenv("CREDENTIALS_DIRECTORY", temp_dir_path, 1);
	assert_false(credential_find("x", path, sizeof(path)));
	temp_text("empty", "none\n");
	assert_false(credential_find("empty", path, sizeof(path)));
	temp_text("empty", "none");
	assert_false(credential_find("empty", path, sizeof(path)));
	temp_text("empty", "\n");
	assert_false(credential_find("empty", path, sizeof(path)));
	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		temp_text("short", shorts[i]);
		assert_true(credential_find("short", path, sizeof(path)));
	}
	temp_text("x", "secret");
	assert_true(credential_find("x", path, sizeof(path)));
	assert_string_equal(path, temp_path("x"));
	assert_false(credential_find("x", small, sizeof(small)));
}

static void test_read(void **state)
{
	static const char *const texts[] = {"secret", "secret\n", "secret\r\n", "secret # mine\n"};
	struct lp_err err = {0};
	char *secret = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		temp_text("token", texts[i]);
		assert_int_equal(credential_read(temp_path("token"), &secret, &err), 0);
		assert_string_equal(secret, "secret");
		credential_erase(&secret);
		assert_null(secret);
	}
	credential_erase(&secret);
	assert_int_equal(credential_read(temp_path("missing"), &secret, &err), -ENOENT);
	assert_non_null(strstr(err.text, "missing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_read, temp_dir_setup, temp_dir_teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
