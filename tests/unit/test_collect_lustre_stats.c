#include "collect/lustre_stats.h"
#include "unit.h"
#include <limpet/batch.h>
#include <string.h>

enum { OPS, BYTES, US, N };

static const struct lustre_line lines[] = {
	{"read_bytes", "bytes", OPS, BYTES},
	{"read", "usec", -1, US},
	{"write", "usec", -1, US},
	{NULL, NULL, 0, 0},
};

static unsigned stats(const char *text, int64_t values[N])
{
	for (int i = 0; i < N; i++)
		values[i] = LP_MISSING;
	return lustre_parse_stats(text, lines, values);
}

static void test_stats(void **state)
{
	int64_t v[N];

	(void)state;
	assert_int_equal(stats("snapshot_time 1.5 secs.usecs\n"
			       "read_bytes  7 samples [bytes] 4096 1048576 9000\n"
			       "read  7 samples [usec] 1 2 30\nwrite 2 samples [usecs] 1 2 4 99\n",
				 v),
		4);
	assert_int_equal(v[OPS], 7);
	assert_int_equal(v[BYTES], 9000);
	assert_int_equal(v[US], 34); /* both lines fill it */
}

static void test_stats_that_are_none(void **state)
{
	int64_t v[N];

	(void)state;
	assert_int_equal(stats("", v), 0);
	assert_int_equal(
		stats("read_bytes\nread_bytes x\nread_bytes 7 apples [bytes] 1 2 3", v), 0);
	assert_int_equal(stats("read 7 samples [reqs] 1 2 3", v), 0); /* another unit */
	/* Without a sum only the number of samples is known. */
	assert_int_equal(stats("read_bytes 7 samples [bytes]\n", v), 1);
	assert_int_equal(v[OPS], 7);
	assert_int_equal(v[BYTES], LP_MISSING);
}

static void test_brw(void **state)
{
	int64_t ios = 0, ms = 0;

	(void)state;
	assert_int_equal(lustre_parse_brw_times("x\nI/O time (1/1000s)   ios % cum % | ios\n"
						"4:   10  5  5   |   10  5  5\n"
						"1K:   1  5  5   |    0  5  5\n\n"
						"disk I/O size\n4: 99 1 1 | 99 1 1\n",
				 &ios, &ms),
		2);
	assert_int_equal(ios, 21);
	assert_int_equal(ms, 20 * 3 + 768);
	assert_int_equal(lustre_parse_brw_times("nothing of this", &ios, &ms), 0);
	assert_int_equal(lustre_parse_brw_times("I/O time (1/1000s)\n\n", &ios, &ms), 2);
	assert_int_equal(ios, 0);
}

static void test_client(void **state)
{
	struct lustre_import import;
	struct lustre_rpc rpc;

	(void)state;
	assert_int_equal(lustre_parse_rpc_stats("read RPCs in flight:  3\n"
						"pages per rpc   rpcs | rpcs\n"
						"1:  4 5 5  |  6 7 7\n256: 1 5 5 | 2 7 7\n",
				 &rpc),
		3);
	assert_int_equal(rpc.read_in_flight, 3);
	assert_int_equal(rpc.write_in_flight, LP_MISSING);
	assert_int_equal(rpc.reads, 5);
	assert_int_equal(rpc.writes, 8);
	assert_int_equal(lustre_parse_import("import:\n    target: a-OST0000_UUID\n"
					     "    state: DISCONN\n       timeouts: 2\n",
				 &import),
		3);
	assert_false(import.full);
	assert_string_equal(import.target, "a-OST0000_UUID");
	assert_int_equal(import.timeouts, 2);
	assert_int_equal(import.attempts, LP_MISSING);
	assert_int_equal(lustre_parse_import("timeouts: 2\n", &import), 0); /* no state */
}

static void test_recovery(void **state)
{
	int64_t v = -1;

	(void)state;
	assert_int_equal(lustre_parse_recovery("status: RECOVERING\n", &v), 1);
	assert_int_equal(v, 1);
	assert_int_equal(lustre_parse_recovery("x\nstatus: COMPLETE\n", &v), 1);
	assert_int_equal(v, 0);
	assert_int_equal(lustre_parse_recovery("", &v), 0);
}

static void test_jobs(void **state)
{
	const char *p = "job_stats:\n- job_id:   \"my job.1 \"\n  read_bytes: { samples: 2, unit: "
			"bytes, sum: 8192 }\n  setattr: { samples: 5, unit: reqs }\n"
			"- job_id:\n- job_id: b\n  write_bytes: { samples: 1, sum: 7 }\n";
	struct lustre_job j;

	(void)state;
	assert_true(lustre_parse_job(&p, &j));
	assert_string_equal(j.name, "my job.1");
	assert_int_equal(j.values[LUSTRE_JOB_RD_BYTES], 8192);
	assert_int_equal(j.values[LUSTRE_JOB_OPS], 7);
	assert_true(lustre_parse_job(&p, &j));
	assert_string_equal(j.name, "-");
	assert_true(lustre_parse_job(&p, &j));
	assert_string_equal(j.name, "b");
	assert_int_equal(j.values[LUSTRE_JOB_WR_BYTES], 7);
	assert_false(lustre_parse_job(&p, &j));
}

static void test_lnet(void **state)
{
	const char *p = "10.0.0.1@tcp 1 2 3\nnid status max tx min\n0@lo up 0 0 0\n"
			"10.0.0.1@tcp down 8 -3 -40\n10.0.0.2@tcp up 8\n";
	struct lnet_heading h = {0};
	int64_t v[LNET_N];
	const char *name;
	size_t len;

	(void)state;
	assert_int_equal(lnet_parse_ni(&p, &h, &name, &len, v), PARSE_BAD); /* no heading yet */
	assert_int_equal(lnet_parse_ni(&p, &h, &name, &len, v), PARSE_SKIP);
	assert_int_equal(lnet_parse_ni(&p, &h, &name, &len, v), PARSE_SKIP);
	assert_int_equal(lnet_parse_ni(&p, &h, &name, &len, v), PARSE_OK);
	assert_int_equal(len, strlen("10.0.0.1@tcp"));
	assert_int_equal(v[LNET_UP], 0);
	assert_int_equal(v[LNET_CREDITS], -3);
	assert_int_equal(v[LNET_SENT], LP_MISSING);
	assert_int_equal(lnet_parse_ni(&p, &h, &name, &len, v), PARSE_BAD); /* too short */
	assert_int_equal(lnet_parse_stats("1 2 3 4 5 6 7 8 9 10 11\n", v), 5);
	assert_int_equal(v[LNET_DROPPED], 7);
	assert_int_equal(v[LNET_RX_BYTES], 9);
	assert_int_equal(lnet_parse_stats("1 2 3\n", v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_stats_that_are_none),
		cmocka_unit_test(test_brw),
		cmocka_unit_test(test_client),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_lnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
