#include "unit.h"

#include <limpet/identity.h>
#include <string.h>

static void check(const struct lp_identity *id, const char *observer, const char *kind,
	const char *name, const char *text)
{
	assert_non_null(id);
	assert_string_equal(id->observer, observer);
	assert_string_equal(id->kind, kind);
	assert_string_equal(id->name, name);
	assert_string_equal(id->text, text);
}

static void test_new(void **state)
{
	struct lp_identity *id = lp_identity_new("oss3", "disk", "sdb", "stable=wwn-1\nmodel=x");
	char buf[16];

	(void)state;
	check(id, "oss3", "disk", "sdb", "oss3/disk:sdb");
	assert_string_equal(id->labels, "stable=wwn-1\nmodel=x");
	assert_true(lp_identity_label(id, "model", buf, sizeof(buf)));
	assert_string_equal(buf, "x");
	assert_false(lp_identity_label(id, "serial", buf, sizeof(buf)));
	lp_identity_unref(id);
	id = lp_identity_new("a/b", "c:d", "", NULL);
	check(id, "a/b", "c:d", "", "a/b/c:d:"); /* fields are what they are, whatever is in them */
	assert_string_equal(id->labels, "");
	lp_identity_unref(id);
}

static void check_parse(const char *text, const char *observer, const char *kind, const char *name)
{
	struct lp_identity *id = lp_identity_parse(text);

	check(id, observer, kind, name, text);
	lp_identity_unref(id);
}

static void test_parse(void **state)
{
	(void)state;
	check_parse("oss3/disk:sdb", "oss3", "disk", "sdb");
	check_parse("node1:9100/disk:cciss/c0:d0", "node1:9100", "disk", "cciss/c0:d0");
	check_parse("c1/tcp:[fe80::1]:in", "c1", "tcp", "[fe80::1]:in");
	check_parse("/:", "", "", "");
	check_parse("a/b", "a", "b", "b");
	check_parse("disk:sdb", "", "disk", "sdb");
	check_parse("plain", "", "plain", "plain");
	check_parse("", "", "", "");
}

static void test_shared(void **state)
{
	struct lp_identity *id = lp_identity_parse("a/disk:1"), *other = lp_identity_ref(id);

	(void)state;
	assert_ptr_equal(id, other);
	lp_identity_unref(id);
	check(other, "a", "disk", "1", "a/disk:1"); /* the sanitizer would tell */
	lp_identity_unref(other);
	assert_null(lp_identity_ref(NULL));
	lp_identity_unref(NULL);
	lp_identities_free(NULL, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
