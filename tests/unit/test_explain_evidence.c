#include "explain_rig.h"

#include "explain/evidence.h"

static void make_disks(struct rig *r)
{
	rig_init(r, 46);
	rig_disks(r, 12);
	rig_metric(r, "disk", "await");
	rig_metric(r, "disk", "wr_sec");
}

/* Does the suspect have this sentence? */
static bool says(const struct lp_suspect *s, const char *sentence)
{
	for (uint32_t i = 0; i < s->n_evidence; i++) {
		if (!strcmp(s->evidence[i], sentence))
			return true;
	}
	for (uint32_t i = 0; i < s->n_evidence; i++)
		print_error("%s\n", s->evidence[i]);
	return false;
}

static void test_latency(void **state)
{
	const struct lp_suspect *s;
	struct rig r;

	(void)state;
	make_disks(&r);
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 41, 10, 9, 45)->load_ratio = 0.98;
	rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 41, 10, 9, 45)->load_ratio = 0.3;
	rig_find(&r, "oss5/disk:sdb", "await", LP_MARK_ABOVE, 1234, 0, 9, 45)->load_ratio = 2.25;
	rig_explain(&r);
	s = rig_suspect(&r, "oss3/disk:sdb");
	assert_int_equal(s->n_evidence, 2);
	assert_string_equal(s->evidence[0],
		"await 4.1x its peers (41.0 ms against 10.0 ms) in 37 of 46 windows");
	assert_string_equal(s->evidence[1], "throughput is like its peers' (0.98x)");
	assert_non_null(strstr(s->advice, "smartctl"));
	assert_true(
		says(rig_suspect(&r, "oss4/disk:sdb"), "throughput is below its peers' (0.30x)"));
	s = rig_suspect(&r, "oss5/disk:sdb");
	assert_true(says(s, "await 1.23 s where its peers have 0 in 37 of 46 windows"));
	assert_true(says(s, "throughput is above its peers' (2.2x)"));
	rig_release(&r);
}

static void test_absence(void **state)
{
	struct rig r;

	(void)state;
	make_disks(&r);
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABSENT, NAN, 10, 10, 45);
	rig_find(&r, "oss4/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 9e3, 10, 20);
	rig_explain(&r);
	assert_true(says(rig_suspect(&r, "oss3/disk:sdb"),
		"no data in 36 of 46 windows, since 2011-05-09T00:09:00Z, while 11 of 11 peers "
		"have some"));
	assert_true(says(rig_suspect(&r, "oss4/disk:sdb"),
		"no work (wr_sec 0) in 11 of 46 windows, from 2011-05-09T00:09:00Z to "
		"2011-05-09T00:21:00Z, while 11 of 11 peers work"));
	rig_release(&r);
}

/* Findings that do not make a culprit are listed all the same, after those that do. */
static void test_others_follow(void **state)
{
	const struct lp_suspect *s;
	struct lp_finding *f;
	struct rig r;

	(void)state;
	make_disks(&r);
	rig_find(&r, "oss3/disk:sdb", "wr_sec", LP_MARK_BELOW, 400, 8000, 0, 45)->culprit = false;
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 10.2, 10, 9, 45);
	f = rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 20, 10, 9, 45);
	f->explained_by_load = true;
	f->load_ratio = 2.1;
	rig_explain(&r);
	s = rig_suspect(&r, "oss3/disk:sdb");
	assert_int_equal(s->n_findings, 1);
	assert_int_equal(s->n_evidence, 2);
	assert_string_equal(s->evidence[0],
		"await is distributed differently from its peers (median 1.0x) in 37 of 46 "
		"windows");
	assert_string_equal(s->evidence[1],
		"wr_sec 0.05x its peers (205 kB/s against 4.10 MB/s) in 46 of 46 windows");
	assert_int_equal(r.v->n_asymmetries, 1);
	assert_string_equal(r.v->asymmetries[0].evidence[0],
		"await 2.0x its peers (20.0 ms against 10.0 ms) in 37 of 46 windows, as its load "
		"(2.1x) explains");
	rig_release(&r);
}

/* Its load explains nothing where it has none that its peers have not; their idleness may. */
static void test_idle_peers(void **state)
{
	const struct lp_suspect *s;
	struct lp_finding *f;
	struct rig r;

	(void)state;
	make_disks(&r);
	f = rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 20, 10, 9, 45);
	f->explained_by_idle = true;
	f->load_ratio = 0.97;
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 0);
	assert_int_equal(r.v->n_asymmetries, 1);
	s = &r.v->asymmetries[0];
	assert_string_equal(s->cause, "less-idle");
	assert_string_equal(s->evidence[0],
		"await 2.0x its peers (20.0 ms against 10.0 ms) in 37 of 46 windows; its peers are "
		"idle now and then, and as fast when they work");
	assert_string_equal(s->evidence[1], "throughput is like its peers' (0.97x)");
	rig_release(&r);
}

/* A component whose median is like that of the peers does not work harder. */
static void test_no_harder(void **state)
{
	struct rig r;

	(void)state;
	make_disks(&r);
	rig_find(&r, "oss4/disk:sdb", "wr_sec", LP_MARK_ABOVE, 8100, 8000, 9, 45)->culprit = false;
	rig_explain(&r);
	assert_string_equal(r.v->asymmetries[0].cause, "unknown");
	rig_release(&r);
}

static void test_windows(void **state)
{
	struct strbuf sb = {0};
	struct lp_finding *f;
	struct rig r;

	(void)state;
	make_disks(&r);
	f = rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 20, 10, 9, 45);
	f->n_aside = 2;
	evidence_add_windows(&sb, r.v, f);
	assert_string_equal(sb.text, "37 of 46 windows (the other way in 2 of them)");
	strbuf_reset(&sb);
	f->n_aside = 0;
	r.v->series[f->series].method = "series"; /* which looks at every sample */
	evidence_add_windows(&sb, r.v, f);
	assert_string_equal(sb.text, "37 of 46 samples");
	strbuf_release(&sb);
	rig_release(&r);
}

static void test_summary(void **state)
{
	struct rig r;

	(void)state;
	make_disks(&r);
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 41, 10, 9, 45);
	rig_explain(&r);
	assert_int_equal(r.v->n_incidents, 1);
	assert_string_equal(r.v->incidents[0].summary,
		"oss3/disk:sdb is slow without more work to explain it: await 4.1x its peers (41.0 "
		"ms against 10.0 ms) in 37 of 46 windows, since 2011-05-09T00:08:00Z");
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_absence),
		cmocka_unit_test(test_others_follow),
		cmocka_unit_test(test_idle_peers),
		cmocka_unit_test(test_no_harder),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
