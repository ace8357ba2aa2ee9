#include "unit.h"

#include "temp_dir.h"
#include "trace/probes/probe_places.h"
#include "trace/symbols/elf_image.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* To be found by its name. */
__attribute__((noinline, used)) static int probe_me_here(int x)
{
	__asm__ volatile("");
	return x;
}

static void test_own(void **state)
{
	const char *const by_name[] = {"probe_me_*"},
			  *const by_image[] = {"test_trace_probe_places:probe_me_here"};
	const char *const nothing[] = {"libc.so.6:probe_me_here"};
	struct probe_places p = {0};
	struct lp_err err = {0};

	(void)state;
	if (!elf_image_supported())
		skip();
	assert_int_equal(probe_me_here(1), 1);
	assert_int_equal(probe_places_find(&p, "/proc", getpid(), by_name, 1, false, &err), 0);
	assert_int_equal(p.n, 1);
	assert_non_null(strstr(p.items[0].name, ":test_trace_probe_places:probe_me_here"));
	assert_int_equal(p.items[0].pid, getpid());
	assert_true(p.items[0].offset > 0);
	assert_int_equal(probe_places_find(&p, "/proc", getpid(), by_image, 1, false, &err), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.items[0].offset, p.items[1].offset);
	assert_int_equal(probe_places_find(&p, "/proc", getpid(), nothing, 1, false, &err), 0);
	assert_int_equal(p.n, 2);
	probe_places_release(&p);
	assert_int_equal(probe_places_find(&p, "/proc", INT_MAX, by_name, 1, false, &err), -ESRCH);
}

static void test_room(void **state)
{
	const char *const all[] = {"*"};
	struct probe_places p = {0};
	struct lp_err err = {0};

	(void)state;
	if (!elf_image_supported())
		skip();
	assert_int_equal(probe_places_find(&p, "/proc", getpid(), all, 1, false, &err), 0);
	assert_int_equal(p.n, PROBE_PLACES_MAX);
	assert_true(p.left_out > 0);
	probe_places_release(&p);
}

static void test_kernel(void **state)
{
	const char *path = temp_text("kallsyms",
		"ffffffff81000000 T vfs_read\n"
		"ffffffff81000100 t vfs_write\n"
		"ffffffff81000200 T ext4_sync\t[ext4]\n"
		"ffffffff81000300 D vfs_data\n");
	const char *const patterns[] = {"vfs_*", "ext4.ko:*"};
	struct probe_places p = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(probe_places_find_kernel(&p, path, patterns, 2, &err), 0);
	assert_int_equal(p.n, 3);
	assert_string_equal(p.items[0].name, "kernel:kernel:vfs_read");
	assert_string_equal(p.items[0].function, "vfs_read");
	assert_string_equal(p.items[2].name, "kernel:ext4.ko:ext4_sync");
	assert_null(p.items[0].path);
	probe_places_release(&p);
	assert_int_equal(
		probe_places_find_kernel(&p, temp_path("nowhere"), patterns, 2, &err), -ENOENT);
}

static void test_best(void **state)
{
	static const struct {
		unsigned at;
		bool cheap;
		uint8_t code[6];
	} cases[] = {
		{0, true, {0x55, 0x48, 0x89, 0xe5}},		 /* push %rbp */
		{0, true, {0x41, 0x57, 0x41, 0x56}},		 /* push %r15 */
		{4, true, {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48}}, /* endbr64; push */
		{4, false, {0xf3, 0x0f, 0x1e, 0xfa, 0x8b, 0x07}},
		{0, false, {0x48, 0x83, 0xec, 0x18}}, /* sub $24,%rsp */
		{0, false, {0x89, 0xf8, 0xc3}},
		{0, true, {0x0f, 0x1f, 0x44, 0x00, 0x00}}, /* a place for a tracer */
	};
	bool cheap;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(probe_place_best(cases[i].code, 6, &cheap), cases[i].at);
		assert_int_equal(cheap, cases[i].cheap);
	}
	assert_int_equal(probe_place_best(cases[2].code, 4, &cheap), 4);
	assert_false(cheap);
	assert_int_equal(probe_place_best(cases[0].code, 0, &cheap), 0);
	assert_false(cheap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_own), cmocka_unit_test(test_room),
		cmocka_unit_test(test_kernel), cmocka_unit_test(test_best)};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
