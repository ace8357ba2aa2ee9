#include "collect/parse.h"
#include "unit.h"
#include <string.h>

static enum parse_result disk(const char *text, struct disk_line *line)
{
	const char *p = text;
	enum parse_result r = parse_diskstats_line(&p, line);

	assert_string_equal(p, strchr(text, '\n') ? strchr(text, '\n') + 1 : "");
	return r;
}

static void test_diskstats_layouts(void **state)
{
	struct disk_line line;

	(void)state;
	assert_int_equal(disk("   8   16 sdb 1 2 3 4 5 6 7 8 9 10 11\nnext", &line), PARSE_OK);
	assert_int_equal(line.major, 8);
	assert_int_equal(line.minor, 16);
	assert_int_equal(line.len, 3);
	assert_memory_equal(line.name, "sdb", 3);
	for (int i = 0; i <= DISK_RQ_TICKS; i++)
		assert_int_equal(line.values[i], i + 1);
	assert_true(line.values[DISK_DC_IOS] == LP_MISSING);
	assert_int_equal(disk("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", &line), PARSE_OK);
	assert_int_equal(line.values[DISK_DC_TICKS], 15);
	assert_true(line.values[DISK_FL_IOS] == LP_MISSING);
	assert_int_equal(
		disk("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", &line), PARSE_OK);
	assert_int_equal(line.values[DISK_FL_TICKS], 17);
	assert_int_equal(
		disk("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x\n", &line), PARSE_OK);
	assert_int_equal(line.values[DISK_FL_TICKS], 17);
}

static void test_diskstats_skips_old_partitions(void **state)
{
	struct disk_line line;

	(void)state;
	assert_int_equal(disk("   8    1 sda1 100 200 300 400\n", &line), PARSE_SKIP);
	assert_int_equal(disk("\n", &line), PARSE_SKIP);
	assert_int_equal(disk("   \r\n", &line), PARSE_SKIP);
}

static const char long_name[] =
	"8 0 a234567890b234567890c234567890d234567890e234567890f234567890g234 "
	"1 2 3 4 5 6 7 8 9 10 11\n";

static void test_diskstats_refuses(void **state)
{
	static const char *const bad[] = {
		"sda 1 2 3 4 5 6 7 8 9 10 11\n",
		"8 0\n",
		"8 0 sda 1 2 3\n",
		"8 0 sda 1 2 3 4 5 6 7 8 9 10\n",
		"8 0 sda 1 2 3 4 5 6 7 8 9 10 11x\n",
		"8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 x 14 15\n",
		"4294967296 0 sda 1 2 3 4 5 6 7 8 9 10 11\n",
		long_name,
	};
	struct disk_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(disk(bad[i], &line), PARSE_BAD);
}

static void test_diskstats_odd_numbers(void **state)
{
	struct disk_line line;

	(void)state;
	/* Requests in flight below zero, in both of the ways in which kernels printed them. */
	assert_int_equal(disk("8 0 sda 1 2 3 4 5 6 7 8 -1 10 11\n", &line), PARSE_OK);
	assert_true(line.values[DISK_IN_FLIGHT] == LP_MISSING);
	assert_int_equal(line.values[DISK_RQ_TICKS], 11);
	assert_int_equal(disk("8 0 sda 1 2 3 4 5 6 7 8 4294967295 10 11\n", &line), PARSE_OK);
	assert_true(line.values[DISK_IN_FLIGHT] == LP_MISSING);
	assert_int_equal(
		disk("8 0 sda 18446744073709551615 2 3 4 5 6 7 8 9 10 11\n", &line), PARSE_OK);
	assert_true((uint64_t)line.values[DISK_RD_IOS] == UINT64_MAX);
	assert_int_equal(
		disk("8 0 sda 99999999999999999999999 2 3 4 5 6 7 8 9 10 11\n", &line), PARSE_OK);
	assert_true((uint64_t)line.values[DISK_RD_IOS] == UINT64_MAX);
	assert_int_equal(line.values[DISK_RD_MERGES], 2);
}

static void assert_net(const char *text, const char *name, int64_t rx_bytes)
{
	struct net_line line;

	assert_int_equal(parse_netdev_line(&text, &line), PARSE_OK);
	assert_int_equal(line.len, strlen(name));
	assert_memory_equal(line.name, name, line.len);
	assert_int_equal(line.values[NET_RX_BYTES], rx_bytes);
	for (int i = 1; i < NET_N_COLUMNS; i++)
		assert_int_equal(line.values[i], i);
}

static void test_netdev_names(void **state)
{
	(void)state;
	assert_net("  eth0:     100 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", "eth0", 100);
	assert_net("  eth0:12345678 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", "eth0", 12345678);
	assert_net("eth0:1: 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", "eth0:1", 7);
	assert_net("eth0:1:7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0:1", 7);
	assert_net("wg-a.b@c|d: 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "wg-a.b@c|d", 7);
}

static void test_netdev_headings_and_rubbish(void **state)
{
	const char *text = "Inter-|   Receive      |  Transmit\n"
			   " face |bytes    packets|bytes\n"
			   "\n"
			   "no colon here\n"
			   ": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
			   "..: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
			   "a/b: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
			   "a b: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
			   "eth0: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n";
	struct net_line line;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(parse_netdev_line(&text, &line), PARSE_SKIP);
	for (int i = 0; i < 6; i++)
		assert_int_equal(parse_netdev_line(&text, &line), PARSE_BAD);
	assert_string_equal(text, "");
}

static void values_clear(int64_t values[HOST_N_COLUMNS])
{
	for (int i = 0; i < HOST_N_COLUMNS; i++)
		values[i] = LP_MISSING;
}

static void test_stat(void **state)
{
	int64_t v[HOST_N_COLUMNS];

	(void)state;
	values_clear(v);
	assert_int_equal(parse_stat("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2\ncpu1 3 4\n"
				    "intr 99 1 2 3\nctxt 1234\nbtime 5\nprocesses 6\n"
				    "procs_running 2\nprocs_blocked 1\nsoftirq 1 2\n",
				 v),
		12);
	for (int i = 0; i < 8; i++)
		assert_int_equal(v[HOST_CPU_USER + i], i + 1);
	assert_int_equal(v[HOST_CTXT], 1234);
	assert_int_equal(v[HOST_PROCS_RUNNING], 2);
	assert_int_equal(v[HOST_PROCS_BLOCKED], 1);
	assert_int_equal(v[HOST_N_CPUS], 2);
	values_clear(v);
	assert_int_equal(parse_stat("cpu  1 2 3 4\n", v), 4);
	assert_true(v[HOST_CPU_IOWAIT] == LP_MISSING && v[HOST_N_CPUS] == LP_MISSING);
	assert_int_equal(parse_stat("", v), 0);
}

static void test_meminfo(void **state)
{
	int64_t v[HOST_N_COLUMNS];

	(void)state;
	values_clear(v);
	assert_int_equal(parse_meminfo("MemTotal:   100 kB\nMemFree: 50 kB\nCached: 7 kB\n"
				       "SwapCached: 9 kB\nDirty: x kB\nWritebackTmp: 3 kB\n"
				       "MemTotal: 200 kB\nSwapFree: 1",
				 v),
		4);
	assert_int_equal(v[HOST_MEM_TOTAL_KB], 100);
	assert_int_equal(v[HOST_MEM_FREE_KB], 50);
	assert_int_equal(v[HOST_MEM_CACHED_KB], 7);
	assert_int_equal(v[HOST_SWAP_FREE_KB], 1);
	assert_true(v[HOST_MEM_AVAILABLE_KB] == LP_MISSING && v[HOST_MEM_DIRTY_KB] == LP_MISSING &&
		v[HOST_MEM_WRITEBACK_KB] == LP_MISSING);
}

static void test_loadavg(void **state)
{
	int64_t v[HOST_N_COLUMNS];

	(void)state;
	values_clear(v);
	assert_int_equal(parse_loadavg("0.07 12.50 128.00 3/456 789\n", v), 3);
	assert_int_equal(v[HOST_LOAD1_X100], 7);
	assert_int_equal(v[HOST_LOAD5_X100], 1250);
	assert_int_equal(v[HOST_LOAD15_X100], 12800);
	values_clear(v);
	assert_int_equal(parse_loadavg("1.00 2.5", v), 1);
	assert_true(v[HOST_LOAD5_X100] == LP_MISSING);
}

static void test_pressure(void **state)
{
	int64_t some = LP_MISSING, full = LP_MISSING;

	(void)state;
	assert_int_equal(parse_pressure("some avg10=0.00 avg60=1.00 avg300=0.00 total=123\n"
					"full avg10=0.00 avg60=0.00 avg300=0.00 total=45\n",
				 &some, &full),
		2);
	assert_int_equal(some, 123);
	assert_int_equal(full, 45);
	assert_int_equal(parse_pressure("some avg10=0.00 total=6\n", &some, NULL), 1);
	assert_int_equal(some, 6);
	assert_int_equal(parse_pressure("some avg10=0.00\nfull total=\n", &some, &full), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diskstats_layouts),
		cmocka_unit_test(test_diskstats_skips_old_partitions),
		cmocka_unit_test(test_diskstats_refuses),
		cmocka_unit_test(test_diskstats_odd_numbers),
		cmocka_unit_test(test_netdev_names),
		cmocka_unit_test(test_netdev_headings_and_rubbish),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_meminfo),
		cmocka_unit_test(test_loadavg),
		cmocka_unit_test(test_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
