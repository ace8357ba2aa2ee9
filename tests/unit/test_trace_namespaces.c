/* Processes in namespaces of their own, in a directory that looks like /proc. */
#include "temp_dir.h"
#include "trace/namespaces.h"

/* A process of the namespaces of two files, with its id there. */
static void process_make(
	const char *pid, const char *pid_space, const char *mounts, const char *status)
{
	char name[64];

	temp_mkdir(pid);
	snprintf(name, sizeof(name), "%s/ns", pid);
	temp_mkdir(name);
	snprintf(name, sizeof(name), "%s/root", pid);
	temp_mkdir(name);
	snprintf(name, sizeof(name), "%s/ns/pid", pid);
	assert_int_equal(link(temp_path(pid_space), temp_path(name)), 0);
	snprintf(name, sizeof(name), "%s/ns/mnt", pid);
	assert_int_equal(link(temp_path(mounts), temp_path(name)), 0);
	snprintf(name, sizeof(name), "%s/status", pid);
	temp_text(name, status);
}

static int spaces_setup(void **state)
{
	if (temp_dir_setup(state) < 0)
		return -1;
	temp_text("here", "");
	temp_text("there", "");
	process_make("self", "here", "here", "Name:\tlimpet\nNSpid:\t900\n");
	process_make("7", "here", "here", "Name:\tkthread\nNSpid:\t7\n");
	process_make("812", "there", "there", "Name:\tserver\nNSpid:\t812\t7\nNSpgid:\t812\t7\n");
	return 0;
}

static void test_ids(void **state)
{
	uint64_t here = 0, there = 0;

	(void)state;
	assert_true(namespaces_pid_space(temp_dir_path, 0, &here));
	assert_true(namespaces_pid_space(temp_dir_path, 812, &there));
	assert_int_not_equal(here, there);
	assert_false(namespaces_pid_space(temp_dir_path, 813, &there));
	assert_int_equal(namespaces_inner_pid(temp_dir_path, 812), 7);
	assert_int_equal(namespaces_inner_pid(temp_dir_path, 7), 7);
	assert_int_equal(namespaces_inner_pid(temp_dir_path, 813), 813);
	assert_int_equal(namespaces_outer_pid(temp_dir_path, there, 7), 812);
	assert_int_equal(namespaces_outer_pid(temp_dir_path, here, 7), 7);
	assert_int_equal(namespaces_outer_pid(temp_dir_path, there, 8), 0);
	assert_int_equal(namespaces_outer_pid("/nowhere", there, 7), 0);
}

static void test_files(void **state)
{
	(void)state;
	assert_true(namespaces_other_files(temp_dir_path, 812));
	/* It has a root directory of its own. */
	assert_true(namespaces_other_files(temp_dir_path, 7));
	assert_false(namespaces_other_files("/proc", getpid()));
	assert_false(namespaces_other_files(temp_dir_path, 813));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ids, spaces_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_files, spaces_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
