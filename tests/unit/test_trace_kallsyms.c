#include "trace/symbols/kallsyms.h"

#include "unit.h"

static void test_parse(void **state)
{
	char text[] = "ffffffff81000000 T _stext\n"
		      "ffffffff81000100 t do_work\n"
		      "ffffffff81000200 D some_data\n"
		      "ffffffff81000300 W weak_one\n"
		      "rubbish\n"
		      "ffffffffc0000000 t ext4_write\t[ext4]\n"
		      "ffffffffc0100000 t bpf_prog_1234_limpet\t[bpf]";
	struct kallsyms k = {0};
	const char *image = "-";

	(void)state;
	assert_int_equal(kallsyms_parse(&k, text), 0);
	assert_string_equal(kallsyms_find(&k, 0xffffffff81000142, &image), "do_work");
	assert_string_equal(image, "kernel");
	/* What is no code does not end a function. */
	assert_string_equal(kallsyms_find(&k, 0xffffffff81000210, &image), "do_work");
	assert_string_equal(kallsyms_find(&k, 0xffffffffc0000010, &image), "ext4_write");
	assert_string_equal(image, "ext4.ko");
	assert_string_equal(kallsyms_find(&k, 0xffffffffc0100000, &image), "bpf_prog_1234_limpet");
	assert_string_equal(image, "bpf");
	assert_null(kallsyms_find(&k, 0xffffffffc0200000, &image));
	assert_null(kallsyms_find(&k, 0x1000, &image));
	kallsyms_release(&k);
}

/* A kernel that hides addresses shows all of them as 0. */
static void test_hidden(void **state)
{
	char text[] = "0000000000000000 T _stext\n0000000000000000 t do_work\n";
	struct kallsyms k = {0};
	const char *image;

	(void)state;
	assert_int_equal(kallsyms_parse(&k, text), 0);
	assert_null(kallsyms_find(&k, 0xffffffff81000142, &image));
	kallsyms_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
