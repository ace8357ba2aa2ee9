#include "collect/parse_sys.h"
#include "unit.h"

static void test_numbers(void **state)
{
	int64_t v = 7;

	(void)state;
	assert_int_equal(parse_number("42000\n", &v), 1);
	assert_int_equal(v, 42000);
	assert_int_equal(parse_number(" -5000\n", &v), 1);
	assert_int_equal(v, -5000);
	assert_int_equal(parse_number("N/A (no PMA)\n", &v), 0);
	assert_int_equal(parse_number("- 5", &v), 0);
	assert_int_equal(parse_number("99999999999999999999", &v), 0);
	assert_int_equal(v, -5000);
	assert_int_equal(parse_hex("0x1F\n", &v), 1);
	assert_int_equal(v, 31);
	assert_int_equal(parse_hex("0x\n", &v), 0);
	assert_int_equal(parse_hex("ffffffffffffffff", &v), 0);
}

static void test_links(void **state)
{
	int64_t rate = 0, lanes = 0, v = -1;

	(void)state;
	assert_int_equal(parse_ib_rate("100 Gb/sec (4X EDR)\n", &rate, &lanes), 2);
	assert_int_equal(rate, 100000);
	assert_int_equal(lanes, 4);
	assert_int_equal(parse_ib_rate("2.5 Gb/sec\n", &rate, &lanes), 1);
	assert_int_equal(rate, 2500);
	assert_int_equal(parse_ib_rate("unknown", &rate, &lanes), 0);
	assert_int_equal(parse_ib_state("4: ACTIVE\n", &v), 1);
	assert_int_equal(v, 1);
	assert_int_equal(parse_ib_state("1: DOWN\n", &v), 1);
	assert_int_equal(v, 0);
	assert_int_equal(parse_pcie_speed("8.0 GT/s PCIe\n", &v), 1);
	assert_int_equal(v, 8000);
	assert_int_equal(parse_pcie_speed("2.5 GT/s\n", &v), 1);
	assert_int_equal(v, 2500);
	assert_int_equal(parse_pcie_speed("Unknown speed", &v), 0);
	assert_int_equal(parse_sata_speed("6.0 Gbps\n", &v), 1);
	assert_int_equal(v, 6000);
	assert_int_equal(parse_sata_speed("<unknown>\n", &v), 0);
}

static void test_md(void **state)
{
	int64_t v = -1;

	(void)state;
	assert_int_equal(parse_md_action("recover\n", &v), 1);
	assert_int_equal(v, MD_RECOVER);
	assert_int_equal(parse_md_action("dance\n", &v), 0);
	assert_int_equal(parse_md_completed("2000 / 8000\n", &v), 1);
	assert_int_equal(v, 250);
	assert_int_equal(parse_md_completed("none\n", &v), 0);
	assert_int_equal(parse_md_completed("9 / 8\n", &v), 0);
	assert_int_equal(parse_md_completed("0 / 0\n", &v), 0);
	parse_md_state("active-idle\n", &v);
	assert_int_equal(v, 1);
	parse_md_state("inactive\n", &v);
	assert_int_equal(v, 0);
}

static void test_kstats(void **state)
{
	static const char *const names[] = {"reads", "nread"};
	int64_t io[KSTAT_IO_N] = {0}, v[2] = {0};
	char name[PARSE_NAME_MAX + 1];

	(void)state;
	assert_int_equal(
		parse_kstat_io("7 3 0x00\nnread nwritten reads writes\n1 2 3 4 5 6 7 8 9\n", io),
		KSTAT_IO_N);
	assert_int_equal(io[KSTAT_WR_OPS], 4);
	assert_int_equal(io[KSTAT_RUN_NS], 9);
	assert_int_equal(parse_kstat_io("7 3\nother\n1 2\n", io), 0);
	assert_int_equal(parse_kstat("h\nreads 4 12\nreadsmore 4 9\nnread 4 34\n", names, 2, v), 2);
	assert_int_equal(v[0], 12);
	assert_int_equal(v[1], 34);
	assert_true(parse_kstat_dataset("x\ndataset_name   7    tank/home\n", name));
	assert_string_equal(name, "tank/home");
	assert_true(parse_kstat_dataset("dataset_name   7    tank/my data \nwrites 4 1\n", name));
	assert_string_equal(name, "tank/my data");
	assert_false(parse_kstat_dataset("dataset_name 7\n", name));
	assert_false(parse_kstat_dataset("", name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_md),
		cmocka_unit_test(test_kstats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
