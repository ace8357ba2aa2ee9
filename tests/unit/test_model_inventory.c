#include "model/inventory.h"

#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parse(const char *text, struct inventory *inv, struct lp_err *err)
{
	return inventory_parse(text, strlen(text), "nodes", inv, err);
}

static void test_lines(void **state)
{
	struct inventory inv = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(
		parse("# servers\noss1\n\n \toss2\t# rack 3\r\noss1\nmds.a-b_c", &inv, &err), 0);
	assert_int_equal(inv.n, 3);
	assert_string_equal(inv.observers[0], "oss1");
	assert_string_equal(inv.observers[1], "oss2");
	assert_string_equal(inv.observers[2], "mds.a-b_c");
	assert_true(inventory_has(&inv, "oss2"));
	assert_false(inventory_has(&inv, "oss"));
	inventory_release(&inv);
	assert_int_equal(inv.n, 0);
}

static void refuse(const char *text, const char *said)
{
	struct inventory inv = {0};
	struct lp_err err = {0};

	assert_int_equal(parse(text, &inv, &err), -EINVAL);
	if (strncmp(err.text, said, strlen(said)) != 0)
		fail_msg("%s", err.text);
	inventory_release(&inv);
}

static void test_errors(void **state)
{
	char longest[INVENTORY_NAME_MAX + 2];

	(void)state;
	refuse("", "nodes lists no observer");
	refuse("# oss1\n", "nodes lists no observer");
	refuse("oss1\noss2 oss3\n", "nodes:2: there is more than one word");
	refuse("\n\noss1/disk:sdb\n", "nodes:3: this names a component");
	refuse("oss\001\n", "nodes:1: there is a control character");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	refuse(longest, "nodes:1: this is too long");
}

static void test_file(void **state)
{
	char path[] = "/tmp/limpet-test-inventory-XXXXXX";
	struct inventory inv = {0};
	struct lp_err err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "oss1\n", 5), 5);
	close(fd);
	assert_int_equal(inventory_read(path, &inv, &err), 0);
	assert_int_equal(inv.n, 1);
	inventory_release(&inv);
	unlink(path);
	assert_int_equal(inventory_read(path, &inv, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
