#include "unit.h"

#include "lab/fs.h"
#include "lab/fs_orangefs.h"
#include "lab/tool.h"
#include "lab_rig.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *config(unsigned n_servers)
{
	struct lab lab;
	struct strbuf sb = {0};
	lab_rig(&lab);
	lab.config.n_servers = n_servers;
	orangefs_config(&lab, &sb);
	return strbuf_take(&sb);
}

static void every_server_has_its_place(void **state)
{
	char *text = config(2);
	(void)state;
	assert_non_null(strstr(text, "\tAlias s1 tcp://10.91.1.1:3334\n"));
	assert_non_null(strstr(text, "\tAlias s2 tcp://10.91.1.2:3334\n"));
	assert_non_null(strstr(text, "\tDataStorageSpace /run/limpet/rig/s1/brick/data\n"));
	assert_non_null(strstr(text, "\tMetadataStorageSpace /run/limpet/rig/s2/brick/meta\n"));
	assert_non_null(strstr(text, "\t\tTroveMethod directio\n"));
	assert_non_null(strstr(text, "\tFlowBufferSizeBytes 262144\n"));
	assert_null(strstr(text, "c1"));
	free(text);
}

/* What is opened is closed, in order. */
static void sections_nest(void **state)
{
	char *text = config(2), *rest = NULL, open[8][24];
	unsigned depth = 0;
	(void)state;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char name[24];
		line += strspn(line, "\t");
		if (sscanf(line, "</%22[A-Za-z]>", name) == 1) {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], name);
		} else if (sscanf(line, "<%22[A-Za-z]>", name) == 1) {
			assert_true(depth < 8);
			memcpy(open[depth++], name, sizeof(name));
		} else {
			assert_true(depth > 0);
		}
	}
	assert_int_equal(depth, 0);
	free(text);
}

static void handles_are_shared_out_once(void **state)
{
	char *text = config(2);
	uint64_t next = 3;
	unsigned n = 0;
	(void)state;
	for (const char *at = text; (at = strstr(at, "Range s")); at++, n++) {
		const char *blank = strchr(at + 6, ' ');
		char *dash, *rest;
		uint64_t begin = strtoull(blank, &dash, 10), end;
		assert_int_equal(*dash, '-');
		end = strtoull(dash + 1, &rest, 10);
		assert_int_equal(*rest, '\n');
		assert_true(begin == next && end > begin);
		next = end + 1;
	}
	assert_int_equal(n, 4);
	assert_true(next <= (uint64_t)INT64_MAX);
	free(text);
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* Clients ask it first, and it makes the root directory. */
static void the_first_server_has_the_root(void **state)
{
	char *text = config(2);
	uint64_t root = number_after(text, "\tRootHandle ");
	(void)state;
	assert_true(root >= number_after(text, "\t\tRange s1 "));
	assert_true(root < number_after(text, "\t\tRange s2 "));
	free(text);
}

/* As long as the lab waits for it: giving up costs 30 s. */
static void servers_are_tried_again_for_half_a_minute(void **state)
{
	char *text = config(2);
	(void)state;
	assert_true(number_after(text, "\tClientRetryLimit ") *
			number_after(text, "\tClientRetryDelayMilliSecs ") >=
		30000);
	free(text);
}

static void it_says_where_it_comes_from_if_it_is_not_there(void **state)
{
	struct lp_err err = {0};
	const struct fs *fs = fs_find("orangefs");
	(void)state;
	if (tool_exists("pvfs2-server") && tool_exists("pvfs2fuse")) {
		assert_int_equal(fs->check(&(struct lab_config){0}, &err), 0);
	} else {
		assert_int_equal(fs->check(&(struct lab_config){0}, &err), -ENOENT);
		assert_non_null(strstr(err.text, "not installed"));
		assert_non_null(strstr(err.text, "orangefs"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_server_has_its_place),
		cmocka_unit_test(sections_nest),
		cmocka_unit_test(handles_are_shared_out_once),
		cmocka_unit_test(the_first_server_has_the_root),
		cmocka_unit_test(servers_are_tried_again_for_half_a_minute),
		cmocka_unit_test(it_says_where_it_comes_from_if_it_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
