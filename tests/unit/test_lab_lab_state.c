#include "unit.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/lab_state.h"
#include "lab/owned.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static char dir[64];
static struct lab lab;

static int make_lab(void **state)
{
	struct lab_config c;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/limpet-test-XXXXXX");
	if (!mkdtemp(dir) || setenv("LIMPET_LAB_DIR", dir, 1) < 0)
		return -1;
	lab_config_init(&c);
	snprintf(c.name, sizeof(c.name), "one");
	c.n_servers = 2;
	c.seed = 77;
	c.cpu_percent = 0;
	return lab_init(&lab, &c, NULL) < 0 ? -1 : mkdir(lab.dir, 0700);
}

static int remove_lab(void **state)
{
	char path[LAB_PATH_MAX];

	(void)state;
	unlink(lab_path(&lab, path, "lab.json"));
	unlink(lab_path(&lab, path, "owned"));
	rmdir(lab.dir);
	return rmdir(dir);
}

static void what_is_saved_is_loaded(void **state)
{
	struct lp_err err = {0};
	struct lab got;

	(void)state;
	snprintf(lab.nodes[1].loop, sizeof(lab.nodes[1].loop), "/dev/loop7");
	snprintf(lab.nodes[0].cgroup, sizeof(lab.nodes[0].cgroup), "/sys/fs/cgroup/x");
	assert_int_equal(lab_prefix_set(&lab.config, dir, &err), 0);
	lab.complete = true;
	assert_int_equal(lab_state_save(&lab, &err), 0);
	assert_int_equal(lab_load("one", &got, &err), 0);
	assert_memory_equal(&got, &lab, sizeof(lab));
}

static void no_lab_is_not_a_damaged_lab(void **state)
{
	char path[LAB_PATH_MAX];
	struct lp_err err = {0};
	struct lab got;

	(void)state;
	assert_int_equal(lab_load("two", &got, &err), -ENOENT);
	assert_int_equal(lab_load("..", &got, &err), -EINVAL);
	unlink(lab_path(&lab, path, "lab.json"));
	assert_int_equal(lab_load("one", &got, &err), -EINVAL);
	assert_non_null(strstr(err.text, "damaged"));
}

/* The text of a good file, for the caller to break. */
static char *good_text(void)
{
	char path[LAB_PATH_MAX], *text = NULL;
	struct lp_err err = {0};
	size_t size;

	assert_int_equal(lab_state_save(&lab, &err), 0);
	assert_int_equal(
		file_slurp(lab_path(&lab, path, "lab.json"), 1 << 20, &text, &size, &err), 0);
	return text;
}

static void every_truncation_is_refused(void **state)
{
	_cleanup_free_ char *text = good_text();
	struct lp_err err = {0};
	struct lab got;

	(void)state;
	for (size_t len = strlen(text) - 1; len-- > 0;) {
		text[len] = '\0';
		assert_int_equal(lab_state_parse(text, &got, &err), -EINVAL);
	}
}

static void values_out_of_range_are_refused(void **state)
{
	static const char *const cases[][2] = {
		{"\"servers\": 2", "\"servers\": -1"},
		{"\"servers\": 2", "\"servers\": 99999999999"},
		{"\"servers\": 2", "\"servers\": 1"}, /* s2 is none of it then */
		{"\"name\": \"one\"", "\"name\": \"../..\""},
		{"\"name\": \"one\"", "\"name\": 5"},
		{"\"fs\": \"gluster\"", "\"fs\": \"no\""},
		{"\"link_kbit\": 100000", "\"link_kbit\": -5"},
		{"\"disk_bytes\": 1610612736", "\"disk_bytes\": -1"},
		{"\"name\": \"s1\"", "\"name\": \"zz\""},
		{"/sys/fs/cgroup/x", "/sys/fs/cgroup/x y"},
	};
	struct lp_err err = {0};
	struct lab got;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ char *text = good_text(), *bad = NULL;
		char *at = strstr(text, cases[i][0]);

		assert_non_null(at);
		assert_true(asprintf(&bad, "%.*s%s%s", (int)(at - text), text, cases[i][1],
				    at + strlen(cases[i][0])) > 0);
		assert_int_equal(lab_state_parse(bad, &got, &err), -EINVAL);
	}
}

static unsigned n_seen;

static int see(const char *what, struct lp_err *err)
{
	n_seen++;
	return strcmp(what, "/b") ? 0 : lp_err_set(err, -EBUSY, "busy");
}

static void only_what_was_noted_is_ours(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_false(owned_has("one", "netns", "limpet-one-s1"));
	assert_int_equal(owned_note(&lab, "netns", "limpet-one-s1", &err), 0);
	assert_int_equal(owned_note(&lab, "cgroup", "/a", &err), 0);
	assert_int_equal(owned_note(&lab, "cgroup", "/b", &err), 0);
	assert_int_equal(owned_note(&lab, "cgroup", "/c", &err), 0);
	assert_true(owned_has("one", "netns", "limpet-one-s1"));
	assert_false(owned_has("one", "netns", "limpet-one-s"));
	assert_false(owned_has("one", "net", "ns limpet-one-s1"));
	assert_false(owned_has("one", "cgroup", "limpet-one-s1"));
	assert_false(owned_has("two", "netns", "limpet-one-s1"));
	assert_int_equal(owned_each("one", "cgroup", see, &err), -EBUSY);
	assert_int_equal(n_seen, 3);
	assert_int_equal(owned_each("two", "cgroup", see, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_loaded),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(no_lab_is_not_a_damaged_lab),
		cmocka_unit_test(only_what_was_noted_is_ours),
	};

	return cmocka_run_group_tests(tests, make_lab, remove_lab);
}
