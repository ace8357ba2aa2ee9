#include "trace/symbols/proc_maps.h"

#include "unit.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void test_parse(void **state)
{
	char text[] = "00400000-00401000 r--p 00000000 fd:01 77    /usr/bin/x\n"
		      "00401000-00403000 r-xp 00001000 fd:01 77    /usr/bin/x\n"
		      "00500000-00501000 r-xp 00000000 00:00 0 \n"
		      "rubbish\n"
		      "00600000-00601000 r-xp\n"
		      "00700000-00600000 r-xp 00000000 00:00 0 /backwards\n"
		      "7f00-7f10 --xp 00000000 fd:01 78 /a name with blanks (deleted)\n"
		      "7ffff000-7ffff800 r-xp 00000000 00:00 0    [vdso]";
	struct proc_maps m = {0};

	(void)state;
	assert_int_equal(proc_maps_parse(&m, text), 0);
	assert_int_equal(m.n, 4);
	assert_null(proc_maps_find(&m, 0x400500));
	assert_string_equal(proc_maps_find(&m, 0x401000)->path, "/usr/bin/x");
	assert_int_equal(proc_maps_find(&m, 0x402fff)->offset, 0x1000);
	assert_int_equal(proc_maps_find(&m, 0x402fff)->inode, 77);
	assert_null(proc_maps_find(&m, 0x403000));
	assert_string_equal(proc_maps_find(&m, 0x500000)->path, "");
	assert_string_equal(proc_maps_find(&m, 0x7f05)->path, "/a name with blanks");
	assert_string_equal(proc_maps_find(&m, 0x7ffff7ff)->path, "[vdso]");
	proc_maps_release(&m);
}

/* What is mapped later replaces what was there. */
static void test_add(void **state)
{
	struct proc_maps m = {0};

	(void)state;
	assert_int_equal(proc_maps_add(&m, 0x1000, 0x2000, 0, 1, "/a"), 0);
	assert_int_equal(proc_maps_add(&m, 0x3000, 0x4000, 0, 2, "/b"), 0);
	assert_int_equal(proc_maps_add(&m, 0x5000, 0x6000, 0, 3, "/c"), 0);
	assert_int_equal(proc_maps_add(&m, 0x1800, 0x3800, 0, 4, "/d"), 0);
	assert_int_equal(m.n, 2);
	assert_null(proc_maps_find(&m, 0x1000));
	assert_string_equal(proc_maps_find(&m, 0x1800)->path, "/d");
	assert_string_equal(proc_maps_find(&m, 0x37ff)->path, "/d");
	assert_string_equal(proc_maps_find(&m, 0x5000)->path, "/c");
	proc_maps_release(&m);
}

static void test_own(void **state)
{
	struct proc_maps m;

	(void)state;
	assert_int_equal(proc_maps_read("/proc", getpid(), &m), 0);
	assert_non_null(strstr(
		proc_maps_find(&m, (uint64_t)(uintptr_t)test_own)->path, "test_trace_proc_maps"));
	proc_maps_release(&m);
	assert_int_equal(proc_maps_read("/nowhere", 1, &m), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
