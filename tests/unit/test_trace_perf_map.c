#include "trace/symbols/perf_map.h"

#include "temp_dir.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *at(const struct symbol_table *t, uint64_t address)
{
	const struct symbol *s = symbol_table_find(t, address);

	return s ? symbol_name(t, s) : "-";
}

static void test_parse(void **state)
{
	char text[] = "7f0010 20 LazyCompile:*sort array.js:7\n"
		      "no numbers\n"
		      "7f0030 0 of no size\n"
		      "ffffffffffffffff 2 beyond the end\n"
		      "7f0040 10 first\n"
		      "7f0040 10 second\n"
		      "7f0050 10";
	struct symbol_table t = {0};

	(void)state;
	assert_int_equal(perf_map_parse(text, &t), 0);
	assert_string_equal(at(&t, 0x7f002f), "LazyCompile:*sort array.js:7");
	assert_string_equal(at(&t, 0x7f0030), "-");
	/* Code was compiled anew to the same place. */
	assert_string_equal(at(&t, 0x7f0041), "second");
	assert_int_equal(t.n, 2);
	symbol_table_release(&t);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_dir(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* The map of a process in a container has the name of its id there. */
static void test_read(void **state)
{
	char dir[] = "/tmp/limpet-perf-map-XXXXXX", link_path[64];
	struct symbol_table t = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	make_dir(dir, "812");
	make_dir(dir, "812/root");
	make_dir(dir, "812/root/tmp");
	put(dir, "812/status", "Name:\tjava\nNSpid:\t812\t7\n");
	assert_int_equal(perf_map_read(dir, 812, &t), -ENOENT);
	put(dir, "812/root/tmp/perf-7.map", "1000 10 compiled\n");
	assert_int_equal(perf_map_read(dir, 812, &t), 0);
	assert_string_equal(at(&t, 0x1008), "compiled");
	symbol_table_release(&t);
	/* Links are not followed. */
	snprintf(link_path, sizeof(link_path), "%s/812/root/tmp/perf-7.map", dir);
	assert_int_equal(unlink(link_path), 0);
	assert_int_equal(symlink("/etc/passwd", link_path), 0);
	assert_int_equal(perf_map_read(dir, 812, &t), -ELOOP);
	assert_int_equal(perf_map_read(dir, 813, &t), -ENOENT);
	assert_int_equal(nftw(dir, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
