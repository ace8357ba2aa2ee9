#include "unit.h"

#include "import/remote/http_config.h"
#include <errno.h>
#include <string.h>

static void check_bad(const char *text, const char *expected)
{
	struct http_config c = {0};
	struct lp_err err = {0};

	assert_true(http_config_parse(&c, text, strlen(text), "h.yml", &err) < 0);
	assert_string_equal(err.text, expected);
	http_config_release(&c);
}

static void test_bad(void **state)
{
	(void)state;
	check_bad("oauth2: {}\n",
		"h.yml:1: there is no 'oauth2' here; there are: basic_auth, authorization, "
		"bearer_token, bearer_token_file, tls_config, proxy_url, follow_redirects, "
		"enable_http2");
	check_bad("basic_auth: {password: x}\n", "h.yml:1: 'basic_auth' needs a 'username'");
	check_bad(
		"authorization: {type: Bearer}\n", "h.yml:1: 'authorization' needs 'credentials'");
	check_bad("bearer_token: a\nbasic_auth: {username: u}\n",
		"h.yml:1: a user's password and a token exclude each other");
	check_bad("tls_config:\n  cert_file: a\n",
		"h.yml:2: 'cert_file' and 'key_file' must be given together");
	check_bad("tls_config: {insecure_skip_verify: 1}\n",
		"h.yml:1: 'insecure_skip_verify' must be true or false, not '1'");
	check_bad("bearer_token_file: /nonexistent/token\n",
		"h.yml:1: cannot read /nonexistent/token: No such file or directory");
}

static void test_good(void **state)
{
	static const char text[] = "basic_auth: {username: u, password: p}\n"
				   "tls_config:\n  ca_file: ca.pem\n  cert_file: /x/cert\n"
				   "  key_file: key\n  server_name: s\n"
				   "proxy_url: http://proxy:3128\nfollow_redirects: false\n";
	struct http_config c = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(http_config_parse(&c, text, strlen(text), "/etc/limpet/h.yml", &err), 0);
	assert_string_equal(c.username, "u");
	assert_string_equal(c.password, "p");
	assert_string_equal(c.ca_file, "/etc/limpet/ca.pem");
	assert_string_equal(c.cert_file, "/x/cert");
	assert_string_equal(c.key_file, "/etc/limpet/key");
	assert_string_equal(c.proxy_url, "http://proxy:3128");
	assert_true(c.no_redirects);
	assert_false(c.insecure);
	http_config_release(&c);
	assert_null(c.username);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
