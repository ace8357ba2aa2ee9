#include "unit.h"

#include "lab/lab.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/limpet-test-XXXXXX");
	return mkdtemp(dir) && setenv("LIMPET_LAB_DIR", dir, 1) == 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void names_and_addresses(void **state)
{
	char path[LAB_PATH_MAX], want[LAB_PATH_MAX];
	struct lp_err err = {0};
	struct lab_config c;
	struct lab lab;

	(void)state;
	lab_config_init(&c);
	assert_int_equal(lab_init(&lab, &c, &err), 0);
	assert_int_equal(lab.n_nodes, 13);
	assert_false(lab.complete);
	assert_string_equal(lab_server(&lab, 5)->name, "s6");
	assert_string_equal(lab_server(&lab, 5)->netns, "limpet-lab-s6");
	assert_string_equal(lab_server(&lab, 5)->address, "10.91.1.6");
	assert_string_equal(lab_client(&lab, 0)->address, "10.91.2.1");
	assert_string_equal(lab_node(&lab, "x1")->address, "10.91.3.1");
	assert_int_equal(lab_node(&lab, "x1")->role, LAB_OTHER);
	assert_null(lab_server(&lab, 6));
	assert_null(lab_client(&lab, 6));
	assert_null(lab_node(&lab, "s7"));
	snprintf(want, sizeof(want), "%s/lab/run/s1-disk.pid", dir);
	assert_string_equal(lab_path(&lab, path, "run/%s-disk.pid", "s1"), want);
}

static void as_many_nodes_as_there_is_room_for(void **state)
{
	struct lp_err err = {0};
	struct lab_config c;
	struct lab lab;

	(void)state;
	lab_config_init(&c);
	c.n_servers = 32;
	c.n_clients = 31;
	assert_int_equal(lab_init(&lab, &c, &err), 0);
	assert_int_equal(lab.n_nodes, LAB_NODES_MAX);
	assert_null(lab_add_node(&lab, LAB_SERVER, 33));
	c.n_clients = 32;
	assert_int_equal(lab_init(&lab, &c, &err), -EINVAL);
	c.n_clients = UINT32_MAX;
	assert_int_equal(lab_init(&lab, &c, &err), -EINVAL);
	c.n_clients = 0;
	assert_int_equal(lab_init(&lab, &c, &err), -EINVAL);
}

static void bad_names_are_refused(void **state)
{
	static const char *const names[] = {
		"", ".", "..", "a/b", "a b", "a-b", "a.b", "abcdefghijklmnopqrstuvwx"};
	struct lp_err err = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(lab_name_check(names[i], &err), -EINVAL);
	assert_int_equal(lab_name_check("Lab2", &err), 0);
	assert_int_equal(lab_name_check("abcdefghijklmnopqrstuvw", &err), 0);
}

static void directories_of_the_users_choice(void **state)
{
	char root[LAB_DIR_MAX], text[128];
	struct lp_err err = {0};

	(void)state;
	snprintf(text, sizeof(text), "%s//./", dir);
	setenv("LIMPET_LAB_DIR", text, 1);
	assert_int_equal(lab_root(root, &err), 0);
	assert_string_equal(root, dir);
	setenv("LIMPET_LAB_DIR", "relative", 1);
	assert_int_equal(lab_root(root, &err), -EINVAL);
	setenv("LIMPET_LAB_DIR", "/a b", 1);
	assert_int_equal(lab_root(root, &err), -EINVAL);
	setenv("LIMPET_LAB_DIR", "/no/such/directory", 1);
	assert_int_equal(lab_root(root, &err), -ENOENT);
	unsetenv("LIMPET_LAB_DIR");
	assert_int_equal(lab_root(root, &err), 0);
	assert_string_equal(root, LAB_DEFAULT_ROOT);
	setenv("LIMPET_LAB_DIR", dir, 1);
}

#define SEEN_MAX 32

static int see(const char *name, void *ctx, struct lp_err *err)
{
	size_t len = strlen(ctx);

	snprintf((char *)ctx + len, SEEN_MAX - len, "%s", name);
	return lp_err_set(err, -EBUSY, "%s is busy", name);
}

static void lists_labs(void **state)
{
	static const char *const entries[] = {"two", "one", "no-lab", "x.lock"};
	struct lp_err err = {0};
	char path[128], seen[SEEN_MAX] = "", **names;
	unsigned n;

	(void)state;
	assert_int_equal(lab_list(&names, &n, &err), 0);
	assert_int_equal(n, 0);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	assert_int_equal(lab_list(&names, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "one");
	assert_string_equal(names[1], "two");
	free(names[0]);
	free(names[1]);
	free(names);
	assert_int_equal(lab_each(see, seen, &n, &err), -EBUSY);
	assert_int_equal(n, 2);
	assert_string_equal(seen, "onetwo");
	assert_string_equal(err.text, "one is busy");
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_addresses),
		cmocka_unit_test(as_many_nodes_as_there_is_room_for),
		cmocka_unit_test(bad_names_are_refused),
		cmocka_unit_test(directories_of_the_users_choice),
		cmocka_unit_test(lists_labs),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
