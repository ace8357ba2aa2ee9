#include "collect/lustre_stats.h"
#include "unit.h"
#include <limpet/batch.h>
#include <stdio.h>
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
	/* More I/Os than fit into 32 bits, after some months. */
	assert_int_equal(lustre_parse_brw_times("I/O time (1/1000s)   ios % cum % | ios\n"
						"4:  5000000000 9 9   |  1 0 0\n8: 1 0 0 | 0 0 0\n",
				 &ios, &ms),
		2);
	assert_int_equal(ios, INT64_C(5000000002));
	assert_int_equal(ms, INT64_C(15000000009));
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
	/* Since 2.13 in quotes. */
	lustre_parse_import("    state: FULL\n       failover_nids: [ \"10.0.0.1@tcp\" ]\n"
			    "       nids_stats:\n          \"10.0.0.1@tcp\": { connects: 7 }\n"
			    "       current_connection: \"10.0.0.2@tcp\"\n",
		&import);
	assert_string_equal(import.nid, "10.0.0.2@tcp");
	lustre_parse_import("    state: NEW\n       current_connection: \"<none>\"\n", &import);
	assert_string_equal(import.nid, "");
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

/* The first job of `text`. */
static struct lustre_job job_of(const char *text)
{
	struct lustre_job j;

	assert_true(lustre_parse_job(&text, &j));
	return j;
}

/* Since 2.15 unusual characters are in hexadecimal. */
static void test_job_names(void **state)
{
	static const char *const names[][2] = {
		{"\"my\\x20job\\x5C.1\"", "my job\\.1"},
		{"\"a\\x0Ab\\x7F\"", "a\\x0Ab\\x7F"}, /* control characters stay as they are */
		{"\"a\\x2\"", "a\\x2"},
		{"\"a\\xzz\"", "a\\xzz"},
		{"\"user:4711\"", "user:4711"},
		{"\"\"", "-"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "- job_id:          %s\n", names[i][0]);
		assert_string_equal(job_of(text).name, names[i][1]);
	}
}

static void test_job_lines(void **state)
{
	struct lustre_job j;

	(void)state;
	/* 2.15: bytes and times, with squares and a histogram. */
	j = job_of("- job_id: a\n  read_bytes: { samples: 4, unit: bytes, min: 1, max: 9, sum: 20, "
		   "sumsq: 999, hist: { 4: 1, 8: 3 } }\n"
		   "  read: { samples: 4, unit: usecs, min: 1, max: 9, sum: 77, sumsq: 999 }\n");
	assert_int_equal(j.values[LUSTRE_JOB_RD_BYTES], 20);
	assert_int_equal(j.values[LUSTRE_JOB_OPS], 4);
	/* 2.4: the same name is that of bytes. */
	j = job_of("- job_id: a\n  read: { samples: 2, unit: bytes, min: 1, max: 9, sum: 10 }\n"
		   "  write: { samples: 1, unit: bytes, min: 5, max: 5, sum: 5 }\n");
	assert_int_equal(j.values[LUSTRE_JOB_RD_BYTES], 10);
	assert_int_equal(j.values[LUSTRE_JOB_WR_BYTES], 5);
	assert_int_equal(j.values[LUSTRE_JOB_OPS], 3);
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
		cmocka_unit_test(test_job_names),
		cmocka_unit_test(test_job_lines),
		cmocka_unit_test(test_lnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
