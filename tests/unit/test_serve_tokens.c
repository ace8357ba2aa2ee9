#include "serve/tokens.h"

#include "temp_dir.h"
#include <errno.h>
#include <sys/stat.h>

static void test_enroll(void **state)
{
	char path[TEMP_PATH_MAX], first[TOKEN_TEXT_MAX], second[TOKEN_TEXT_MAX], name[64];
	const char *dir = temp_dir_path;
	struct tokens *t = NULL;
	struct stat st;
	bool replaced;

	(void)state;
	assert_int_equal(tokens_open(dir, NULL, &t, NULL), 0);
	assert_int_equal(tokens_count(t, TOKEN_SERVER), 0);
	assert_int_equal(token_enroll(dir, TOKEN_SERVER, "oss3", first, &replaced, NULL), 0);
	assert_false(replaced);
	assert_true(tokens_find(t, TOKEN_SERVER, first, name, sizeof(name)));
	assert_string_equal(name, "oss3");
	assert_false(tokens_find(t, TOKEN_OPERATOR, first, name, sizeof(name)));
	assert_false(tokens_find(t, TOKEN_SERVER, "", name, sizeof(name)));
	snprintf(path, sizeof(path), "%s/" TOKENS_FILE, dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	assert_int_equal(token_enroll(dir, TOKEN_SERVER, "oss3", second, &replaced, NULL), 0);
	assert_true(replaced);
	assert_string_not_equal(first, second);
	assert_false(tokens_find(t, TOKEN_SERVER, first, name, sizeof(name)));
	assert_true(tokens_find(t, TOKEN_SERVER, second, name, sizeof(name)));
	assert_int_equal(tokens_count(t, TOKEN_SERVER), 1);

	assert_int_equal(token_revoke(dir, TOKEN_SERVER, "oss3", NULL), 0);
	assert_false(tokens_find(t, TOKEN_SERVER, second, name, sizeof(name)));
	assert_int_equal(token_revoke(dir, TOKEN_SERVER, "oss3", NULL), -ENOENT);
	tokens_close(t);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(token_name_is_good("oss3.example"));
	assert_false(token_name_is_good(""));
	assert_false(token_name_is_good("../x"));
	assert_false(token_name_is_good("a/b"));
	assert_false(token_name_is_good("a b"));
	assert_false(token_name_is_good(".hidden"));
	assert_false(token_name_is_good("a\nb"));
}

static void test_parse(void **state)
{
	static const char good[] =
		"# by hand\nserver a "
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "
		"2026-01-01T00:00:00Z\n\n";
	static const char *const bad[] = {"server a 01 2026-01-01T00:00:00Z\n",
		("guest a 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "
		 "2026-01-01\n"),
		"server\n", "server a b c d e\n"};
	struct token_list l = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(token_list_parse(&l, good, &err), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.items[0].name, "a");
	assert_int_equal(l.items[0].hash[0], 0x01);
	token_list_release(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(token_list_parse(&l, bad[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "line 1"));
		token_list_release(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_enroll, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test(test_names), cmocka_unit_test(test_parse)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
