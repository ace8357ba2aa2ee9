#include "model/metric_name.h"

#include "unit.h"

static void expect(enum lp_role role, const char *const *names)
{
	for (; *names; names++) {
		if (metric_name_role(*names) != role)
			fail_msg("%s has role %d, not %d", *names, (int)metric_name_role(*names),
				(int)role);
	}
}

static void test_times_of_requests(void **state)
{
	static const char *const names[] = {"latency", "Latency", "read_latency_ms", "latency_p99",
		"await", "r_await", "rtt", "srtt", "rtt_us", "lat", "avg_lat", "avgLat", "rlat",
		"clat_mean", "lat-read", "response_time", "svc_time", "serviceTime", "svctime",
		"iotime", "wait", "avg_wait", "avgwait", "wait_ms", "rd_ms", "mean_us",
		"fsync_usec", "duration", "duration_s", "elapsed", "delay", "time_per_io", NULL};

	(void)state;
	expect(LP_ROLE_LATENCY, names);
}

static void test_work(void **state)
{
	static const char *const names[] = {"throughput", "read_throughput", "thrpt", "bandwidth",
		"iops", "IOPS", "read_iops", "rd_bytes", "rxbyt2", "kbytes_s", "ops", "read_ops",
		"ops_total", NULL};

	(void)state;
	expect(LP_ROLE_WORK, names);
}

static void test_trouble_and_busy(void **state)
{
	static const char *const trouble[] = {"errors", "crc_errors", "rx_errs", "err_count",
		"retransmits", "drops", "rxDropped", "failures", "timeouts", "retries", NULL};
	static const char *const busy[] = {"util", "disk_utilization", "busy_time", "svctm",
		"queue_depth", "queue_time", "iowait", "cpu_iowait", NULL};

	(void)state;
	expect(LP_ROLE_TROUBLE, trouble);
	expect(LP_ROLE_BUSY, busy);
}

/* Letters within another word mean nothing. */
static void test_nothing(void **state)
{
	static const char *const names[] = {"cpu_usage", "mem_used", "disk_used_pct", "pool_usage",
		"used_bytes", "free_bytes", "capacity_bytes", "bytes_available", "request_size",
		"cpu_user", "cpu_us", "us", "ms", "rx_msgs", "uptime", "uptime_s", "timestamp",
		"starttime", "smarttemp", "runtime", "lifetime_writes", "utime", "boot_time",
		"power_on_time", "last_seen_time", "io_time_pct", "latitude", "flat", "platform",
		"temperature", "x", "", NULL};

	(void)state;
	expect(LP_ROLE_OTHER, names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_of_requests),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_trouble_and_busy),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
