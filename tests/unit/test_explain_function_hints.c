#include "explain/function_hints.h"

#include "unit.h"
#include <string.h>

static void expect(const char *name, const char *want)
{
	const char *got = function_hint(name);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void test_hints(void **state)
{
	(void)state;
	expect("glusterfsd:posix.so:posix_readv", "storage");
	expect("pvfs2-server:pvfs2-server:dbpf_bstream_rw_list", "storage");
	expect("kworker:kernel:tcp_sendmsg_locked", "the network");
	expect("a:kernel:_raw_spin_lock_irqsave", "locks");
	expect("a:libc.so.6:pthread_mutex_lock", "locks");
	expect("a:libc.so.6:memcpy_avx", "computation");
	/* The function says nothing, but its image does. */
	expect("a:xfs.ko:frobnicate", "storage");
	expect("a:a:frobnicate", NULL);
	expect("frobnicate", NULL);
	expect("a:tcp_sendmsg", "the network");
	expect("", NULL);
}

static void test_long_image(void **state)
{
	char name[300] = "a:";

	(void)state;
	memset(name + 2, 'x', 200);
	memcpy(name + 202, ":f", 3);
	expect(name, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_long_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
