/* Fine, suspects, or unknown: through the public interface, since all of it leads there. */
#include "unit.h"

#include "temp_dir.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <math.h>

#define START 1300000000
#define STEP 15

/* When an observer was recorded, in samples, and how slow its disk is. */
struct recorded {
	const char *observer;
	int from, to;
	double times;
};

static const struct recorded four[] = {
	{"a", 0, 200, 1}, {"b", 0, 200, 1}, {"c", 0, 200, 1}, {"d", 0, 200, 1}, {0}};

static const char *make_csv(const char *name, const struct recorded *r)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("time,component,metric,value\n", f);
	for (int o = 0; r[o].observer; o++) {
		for (int i = r[o].from; i < r[o].to; i++)
			fprintf(f, "%d,%s/disk:sda,latency,%.3f\n", START + STEP * i, r[o].observer,
				r[o].times * (20 + sin(i * 7 + o * 13)));
	}
	assert_int_equal(fclose(f), 0);
	return path;
}

static const char *make_file(const char *name, const char *text)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static struct lp_verdict *judge(const struct recorded *r, const struct lp_diagnose_options *o)
{
	const struct lp_diagnose_options none = {0};
	const char *path = make_csv("data.csv", r);
	struct lp_verdict *v = NULL;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	if (lp_diagnose(ds, o ? o : &none, &v, &err) < 0)
		fail_msg("%s", err.text);
	lp_dataset_close(ds);
	return v;
}

/* What was not judged is this and nothing else; NULL: everything was. */
static void check(const struct recorded *r, const struct lp_diagnose_options *o,
	enum lp_status status, const char *unknown)
{
	struct lp_verdict *v = judge(r, o);

	assert_int_equal(v->status, status);
	assert_int_equal(v->n_unknown, unknown != NULL);
	if (unknown)
		assert_string_equal(v->unknown[0], unknown);
	lp_verdict_free(v);
}

static void test_well(void **state)
{
	const struct recorded slow[] = {
		{"a", 0, 200, 1}, {"b", 0, 200, 4}, {"c", 0, 200, 1}, {"d", 0, 200, 1}, {0}};

	(void)state;
	check(four, NULL, LP_STATUS_OK, NULL);
	check(slow, NULL, LP_STATUS_SUSPECTS, NULL);
}

/* One server with one disk and some TCP peers: connections that are alike say nothing about the
 * disk, and several disks of one server do. */
static void check_one_server(unsigned disks, enum lp_status status, const char *unknown)
{
	const char *path = temp_path("one.csv");
	FILE *f = fopen(path, "we");
	struct lp_diagnose_options none = {0};
	struct lp_verdict *v = NULL;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_non_null(f);
	fputs("time,component,metric,value\n", f);
	for (int i = 0; i < 200; i++) {
		for (unsigned d = 0; d < disks; d++)
			fprintf(f, "%d,a/disk:sd%c,await,%.3f\n", START + STEP * i, (int)('a' + d),
				20 + sin(i * 7 + (int)d * 13));
		fprintf(f, "%d,a/net:eth0,rx_bytes,%.3f\n", START + STEP * i, 2000 + sin(i));
		for (int p = 1; p <= 4; p++)
			fprintf(f, "%d,a/tcp:10.0.0.%d:2049,cwnd,%.3f\n", START + STEP * i, p,
				10 + sin(i * 5 + p * 11));
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_diagnose(ds, &none, &v, &err), 0);
	assert_int_equal(v->status, status);
	assert_int_equal(v->n_unknown, unknown != NULL);
	if (unknown)
		assert_string_equal(v->unknown[0], unknown);
	lp_verdict_free(v);
	lp_dataset_close(ds);
}

static void test_one_server(void **state)
{
	(void)state;
	check_one_server(1, LP_STATUS_UNKNOWN,
		"no disk and no network interface has the 2 peers that a comparison needs (disk 1, "
		"net 1)");
	check_one_server(2, LP_STATUS_UNKNOWN,
		"no disk and no network interface has the 2 peers that a comparison needs (disk 2, "
		"net 1)");
	check_one_server(6, LP_STATUS_OK, NULL);
	check_one_server(0, LP_STATUS_UNKNOWN,
		"no disk and no network interface has the 2 peers that a comparison needs (net 1)");
}

static void test_too_little(void **state)
{
	const struct recorded brief[] = {
		{"a", 0, 40, 1}, {"b", 0, 40, 1}, {"c", 0, 40, 1}, {"d", 0, 40, 1}, {0}};

	(void)state;
	check(four + 2, NULL, LP_STATUS_UNKNOWN,
		"no group has the 3 components that a comparison needs (disk 2)");
	check(brief, NULL, LP_STATUS_UNKNOWN,
		"too little data: 10 min, and a comparison needs 30 min (3 windows of 15 min)");
}

static void test_nothing_there(void **state)
{
	static const char *const nobody[] = {"x*/*"}, *const metric[] = {"await"};
	const struct recorded idle[] = {
		{"a", 0, 200, 0}, {"b", 0, 200, 0}, {"c", 0, 200, 0}, {"d", 0, 200, 0}, {0}};

	(void)state;
	check(four, &(struct lp_diagnose_options){.to_us = 1}, LP_STATUS_UNKNOWN,
		"there is nothing to compare in that time (up to "
		"1970-01-01T00:00:00Z)");
	check(four,
		&(struct lp_diagnose_options){
			.from_us = INT64_C(4000000000000000), .to_us = INT64_C(4000000060000000)},
		LP_STATUS_UNKNOWN,
		"there is nothing to compare in that time (from 2096-10-02T07:06:40Z "
		"to "
		"2096-10-02T07:07:40Z)");
	check(four, &(struct lp_diagnose_options){.components = nobody, .n_components = 1},
		LP_STATUS_UNKNOWN, "no component matches 'x*/*'");
	check(four, &(struct lp_diagnose_options){.metrics = metric, .n_metrics = 1},
		LP_STATUS_UNKNOWN, "no component has a metric 'await'");
	check(idle, NULL, LP_STATUS_UNKNOWN, "all values are the same: there was no activity");
}

static void test_apart(void **state)
{
	const struct recorded apart[] = {
		{"a", 0, 200, 1}, {"b", 300, 500, 1}, {"c", 600, 800, 1}, {0}};
	const struct recorded late[] = {
		{"a", 0, 200, 1}, {"b", 0, 200, 1}, {"c", 0, 200, 1}, {"d", 300, 500, 1}, {0}};
	/* An observer that was recorded before the others is not missing when they come. */
	const struct recorded early[] = {
		{"a", 300, 500, 1}, {"b", 300, 500, 1}, {"c", 300, 500, 1}, {"d", 0, 200, 1}, {0}};
	/* One that was recorded together with them, and then no more, is. */
	const struct recorded lost[] = {
		{"a", 0, 500, 1}, {"b", 0, 500, 1}, {"c", 0, 500, 1}, {"d", 0, 200, 1}, {0}};

	(void)state;
	check(apart, NULL, LP_STATUS_UNKNOWN,
		"the recordings of 3 peers do not overlap long enough to be compared "
		"(a 2011-03-13T07:06:30Z to 2011-03-13T07:56:30Z, b 2011-03-13T08:21:30Z to "
		"2011-03-13T09:11:30Z, c 2011-03-13T09:36:30Z to 2011-03-13T10:26:30Z)");
	check(late, NULL, LP_STATUS_UNKNOWN,
		"1 observer was compared with no other, as none was recorded at the same time "
		"(d 2011-03-13T08:21:30Z to 2011-03-13T09:11:30Z)");
	check(early, NULL, LP_STATUS_UNKNOWN,
		"1 observer was compared with no other, as none was recorded at the same time "
		"(d 2011-03-13T07:06:30Z to 2011-03-13T07:56:30Z)");
	check(lost, NULL, LP_STATUS_ABSENT, NULL);
}

static void test_expected(void **state)
{
	static const char *const some[] = {"[a-d]/*"};
	struct lp_diagnose_options all = {.expect = make_file("all", "d\nc\nb\na\n")};
	struct lp_diagnose_options more = {.expect = make_file("more", "a\nb\nc\nd\ne\nf\n")};
	struct lp_diagnose_options topology = {
		.topology = make_file("site.yaml", "version: 1\nobservers: [a, b, z]\n")};
	struct lp_verdict *v;

	(void)state;
	check(four, &all, LP_STATUS_OK, NULL);
	check(four, &more, LP_STATUS_UNKNOWN,
		"no data from e, f (of 6 observers that must be there)");
	more.components = some;
	more.n_components = 1;
	check(four, &more, LP_STATUS_OK, NULL); /* e and f are not required */
	v = judge(four, &topology);
	assert_int_equal(v->status, LP_STATUS_UNKNOWN);
	assert_string_equal(v->unknown[0], "no data from z (of 3 observers that must be there)");
	assert_string_equal(v->notes[v->n_notes - 1], "the inventory does not list c, d");
	lp_verdict_free(v);
}

/* A suspect is a suspect, whatever else is missing. */
static void test_both(void **state)
{
	const struct recorded slow[] = {
		{"a", 0, 200, 1}, {"b", 0, 200, 4}, {"c", 0, 200, 1}, {"d", 0, 200, 1}, {0}};
	struct lp_diagnose_options more = {.expect = make_file("more", "a\ne\n")};

	(void)state;
	check(slow, &more, LP_STATUS_SUSPECTS,
		"no data from e (of 2 observers that must be there)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_well),
		cmocka_unit_test(test_one_server),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_both),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
