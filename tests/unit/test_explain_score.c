#include "base/cleanup.h"
#include "explain/score.h"
#include "temp_dir.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Four servers with two disks each. */
#define GROUPS                                                                                     \
	"\"groups\":[{\"name\":\"disk\",\"components\":[\"a/disk:1\",\"a/disk:2\",\"b/disk:1\","   \
	"\"b/disk:2\"]},{\"name\":\"x\",\"components\":[\"c/disk:1\",\"c/disk:2\",\"d/disk:1\","   \
	"\"d/disk:2\"]}]"
#define SUSPECT(component, cause, rest)                                                            \
	"{\"component\":\"" component "\",\"cause\":\"" cause "\"" rest "}"
#define VERDICT(suspects) "{" GROUPS ",\"suspects\":[" suspects "]}"

static void truth_read(const char *text, struct score_truth *ret)
{
	struct lp_err err = {0};

	if (score_truth_read(temp_text("truth.csv", text), ret, &err) < 0)
		fail_msg("%s", err.text);
}

static struct score_case judge(const char *truth_text, const char *verdict, enum score_by by)
{
	_cleanup_(score_truth_release) struct score_truth truth = {0};
	_cleanup_(score_verdict_release) struct score_verdict v = {0};
	struct score_case c = {0};
	struct lp_err err = {0};

	truth_read(truth_text, &truth);
	if (score_verdict_parse(verdict, strlen(verdict), "v", &v, &err) < 0 ||
		score_judge(&truth, &v, "runs/one.json", by, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

/* Judge and compare: "IiDd" stand for ITP, IFP, DTP, DFP. */
static void judged(const char *truth, const char *verdict, enum score_by by, const char *rates,
	unsigned tp, unsigned fp, unsigned fn, unsigned tn)
{
	_cleanup_(score_case_release) struct score_case c = judge(truth, verdict, by);
	char got[5] = {c.itp ? 'I' : '-', c.ifp ? 'i' : '-', c.dtp ? 'D' : '-', c.dfp ? 'd' : '-'};

	assert_string_equal(got, rates);
	assert_int_equal(c.units.tp, tp);
	assert_int_equal(c.units.fp, fp);
	assert_int_equal(c.units.fn, fn);
	assert_int_equal(c.units.tn, tn);
}

#define HEAD "verdict,component,cause,start,end\n"
#define ONE HEAD "one,a/disk:1,disk-hog,,\n"

static void test_one_fault(void **state)
{
	(void)state;
	judged(ONE, VERDICT(SUSPECT("a/disk:1", "disk-hog", "")), SCORE_BY_COMPONENT, "I-D-", 1, 0,
		0, 7);
	judged(ONE, VERDICT(SUSPECT("a/disk:1", "disk-busy", "")), SCORE_BY_COMPONENT, "I--d", 1, 0,
		0, 7);
	judged(ONE, VERDICT(""), SCORE_BY_COMPONENT, "----", 0, 0, 1, 7);
	judged(ONE, VERDICT(SUSPECT("b/disk:1", "disk-hog", "")), SCORE_BY_COMPONENT, "-i-d", 0, 1,
		1, 6);
	/* Right, and another one as well: all four. */
	judged(ONE,
		VERDICT(SUSPECT("b/disk:1", "disk-busy", "") "," SUSPECT(
			"a/disk:1", "disk-hog", "")),
		SCORE_BY_COMPONENT, "IiDd", 1, 1, 0, 6);
	/* One component twice: the higher rank says the cause. */
	judged(ONE, VERDICT(SUSPECT("a/disk:1", "disk-hog", "") "," SUSPECT("a/disk:1", "x", "")),
		SCORE_BY_COMPONENT, "I-D-", 1, 0, 0, 7);
}

/* Warnings and absent components do not indict, unless absence is the fault. */
static void test_told_apart(void **state)
{
	static const char verdict[] = "{" GROUPS ",\"suspects\":[],\"warnings\":[" SUSPECT(
		"a/disk:1", "disk-busy", "") "," SUSPECT("b/disk:1", "disk-busy",
		"") "],\"absent\":[" SUSPECT("c/disk:1", "lost-path", "") "]}";
	struct score_case c = judge(ONE, verdict, SCORE_BY_COMPONENT);

	(void)state;
	assert_int_equal(c.units.warned, 1);
	assert_int_equal(c.units.false_warned, 1);
	assert_int_equal(c.units.absent, 1);
	score_case_release(&c);
	judged(ONE, verdict, SCORE_BY_COMPONENT, "----", 0, 0, 1, 7);
	judged(HEAD "one,c/disk:1,lost-path,,\n", verdict, SCORE_BY_COMPONENT, "I-D-", 1, 0, 0, 7);
	judged(HEAD "one,c/disk:1,disk-busy,,\n", verdict, SCORE_BY_COMPONENT, "----", 0, 0, 1, 7);
	judged(HEAD "one,c/disk:1,,,\n", verdict, SCORE_BY_COMPONENT, "----", 0, 0, 1, 7);
}

static void test_no_fault(void **state)
{
	(void)state;
	judged(HEAD "one,,,,\n", VERDICT(""), SCORE_BY_COMPONENT, "----", 0, 0, 0, 8);
	judged(HEAD "one.json,,,,\n", VERDICT(SUSPECT("a/disk:1", "disk-hog", "")),
		SCORE_BY_COMPONENT, "-i-d", 0, 1, 0, 7);
	judged(HEAD "one.json,,,,\n", VERDICT(SUSPECT("a/disk:1", "disk-hog", "")),
		SCORE_BY_OBSERVER, "-i-d", 0, 1, 0, 3);
}

static void test_observers(void **state)
{
	(void)state;
	judged(ONE, VERDICT(SUSPECT("a/disk:2", "disk-hog", "")), SCORE_BY_OBSERVER, "I-D-", 1, 0,
		0, 3);
	judged(HEAD "one,a,disk-hog,,\n", VERDICT(SUSPECT("a/disk:2", "disk-hog", "")),
		SCORE_BY_OBSERVER, "I-D-", 1, 0, 0, 3);
	/* Of a server that is faulty as a whole, each component is. */
	judged(HEAD "one,a,disk-hog,,\n", VERDICT(SUSPECT("a/disk:2", "disk-hog", "")),
		SCORE_BY_COMPONENT, "----", 1, 0, 1, 6);
	judged(HEAD "one,?/disk:1,disk-hog,,\n", VERDICT(SUSPECT("a/disk:1", "disk-hog", "")),
		SCORE_BY_COMPONENT, "----", 1, 0, 3, 4);
	/* It was not measured: it could not be found, and was not. */
	judged(HEAD "one,z,disk-hog,,\n", VERDICT(""), SCORE_BY_OBSERVER, "----", 0, 0, 1, 4);
}

static void test_two_faults(void **state)
{
	static const char truth[] =
		HEAD "one,a,disk-hog,,\none,b,packet-loss,,\ntwo,c,disk-hog,,\n*,,,,\n";
	_cleanup_(score_case_release) struct score_case c =
		judge(truth, VERDICT(""), SCORE_BY_OBSERVER);

	(void)state;
	assert_string_equal(c.label, "disk-hog+packet-loss");
	judged(truth, VERDICT(SUSPECT("a/disk:1", "disk-hog", "")), SCORE_BY_OBSERVER, "----", 1, 0,
		1, 2);
	judged(truth,
		VERDICT(SUSPECT("a/disk:1", "disk-hog", "") "," SUSPECT(
			"b/disk:2", "packet-loss", "")),
		SCORE_BY_OBSERVER, "I-D-", 2, 0, 0, 2);
	judged(truth,
		VERDICT(SUSPECT("a/disk:1", "disk-hog", "") "," SUSPECT(
			"b/disk:2", "disk-hog", "")),
		SCORE_BY_OBSERVER, "I--d", 2, 0, 0, 2);
}

static void test_diagnosis(void **state)
{
	static const char truth[] = "extra,verdict,component,cause,diagnosis\n"
				    ",one,a,write-network-hog,network-hog|network-busy\n";
	static const char any[] = "verdict,component\none,a\n";

	(void)state;
	judged(truth, VERDICT(SUSPECT("a/disk:1", "network-hog", "")), SCORE_BY_OBSERVER, "I-D-", 1,
		0, 0, 3);
	judged(truth, VERDICT(SUSPECT("a/disk:1", "network-busy", "")), SCORE_BY_OBSERVER, "I-D-",
		1, 0, 0, 3);
	judged(truth, VERDICT(SUSPECT("a/disk:1", "network", "")), SCORE_BY_OBSERVER, "I--d", 1, 0,
		0, 3);
	judged(any, VERDICT(SUSPECT("a/disk:1", "network", "")), SCORE_BY_OBSERVER, "I-D-", 1, 0, 0,
		3);
}

#define TIMED HEAD "one,a/disk:1,disk-hog,2024-03-01T12:00:00Z,2024-03-01T13:00:00Z\n"
#define TIMES(first, last, more)                                                                   \
	",\"first\":\"2024-03-01T" first "Z\",\"last\":\"2024-03-01T" last "Z\"" more

static void test_times(void **state)
{
	_cleanup_(score_case_release) struct score_case late = judge(TIMED,
		VERDICT(SUSPECT("a/disk:1", "disk-hog",
			TIMES("12:01:00", "13:30:00", ",\"indicted\":\"2024-03-01T12:01:30Z\""))),
		SCORE_BY_COMPONENT);
	_cleanup_(score_case_release) struct score_case no_indicted = judge(TIMED,
		VERDICT(SUSPECT("a/disk:1", "disk-hog", TIMES("12:01:00", "13:30:00", ""))),
		SCORE_BY_COMPONENT);

	(void)state;
	assert_int_equal(late.n_delays, 1);
	assert_true(late.delays_s[0] == 90);
	assert_int_equal(no_indicted.n_delays, 1);
	assert_true(no_indicted.delays_s[0] == 60);
	/* It touches the fault by a moment. */
	judged(TIMED, VERDICT(SUSPECT("a/disk:1", "disk-hog", TIMES("11:00:00", "12:00:00", ""))),
		SCORE_BY_COMPONENT, "I-D-", 1, 0, 0, 7);
	judged(TIMED, VERDICT(SUSPECT("a/disk:1", "disk-hog", TIMES("13:00:00", "13:10:00", ""))),
		SCORE_BY_COMPONENT, "I-D-", 1, 0, 0, 7);
	/* Before or after it: missed, and a false alarm. */
	judged(TIMED, VERDICT(SUSPECT("a/disk:1", "disk-hog", TIMES("11:00:00", "11:59:59", ""))),
		SCORE_BY_COMPONENT, "-i-d", 0, 1, 1, 7);
	judged(TIMED, VERDICT(SUSPECT("a/disk:1", "disk-hog", TIMES("13:00:01", "13:10:00", ""))),
		SCORE_BY_COMPONENT, "-i-d", 0, 1, 1, 7);
}

static void truth_bad(const char *text, const char *want)
{
	struct score_truth t = {0};
	struct lp_err err = {0};

	assert_int_equal(score_truth_read(temp_text("truth.csv", text), &t, &err), -EBADMSG);
	assert_int_equal(t.n, 0);
	if (!strstr(err.text, want))
		fail_msg("'%s' is not in '%s'", want, err.text);
}

static void time_bad(const char *text, const char *want)
{
	struct score_truth t = {0};
	struct lp_err err = {0};

	assert_true(score_truth_read(temp_text("truth.csv", text), &t, &err) < 0);
	if (!strstr(err.text, want))
		fail_msg("'%s' is not in '%s'", want, err.text);
}

static void test_bad_truth(void **state)
{
	struct score_truth t = {0};
	struct lp_err err = {0};

	(void)state;
	truth_bad("", "truth.csv: the file is empty");
	truth_bad("a,b\n", "truth.csv:1: the first line must name the columns");
	truth_bad("verdict,component,verdict\n", "truth.csv:1: two columns 'verdict'");
	truth_bad(HEAD ",a,b,,\n", "truth.csv:2: the row names no verdict");
	truth_bad(HEAD "v,a,b,2024-03-02,2024-03-01\n", "truth.csv:2: the fault ends before");
	truth_bad(HEAD "\"v,a,b,,\n", "truth.csv:2: ");
	time_bad(HEAD "v,a,b,soon,\n", "truth.csv:2: start: ");
	assert_true(score_truth_read(temp_path("nowhere.csv"), &t, &err) < 0);
	truth_read(HEAD "v,a\n", &t); /* fields that are missing are empty */
	assert_int_equal(t.n, 1);
	assert_string_equal(t.faults[0].cause, "");
	assert_true(t.faults[0].start_us == INT64_MIN);
	score_truth_release(&t);
}

static void test_not_in_truth(void **state)
{
	_cleanup_(score_truth_release) struct score_truth truth = {0};
	struct score_verdict v = {0};
	struct score_case c = {0};
	struct lp_err err = {0};

	(void)state;
	truth_read(HEAD "two,a,b,,\n", &truth);
	assert_int_equal(
		score_judge(&truth, &v, "runs/one.json", SCORE_BY_COMPONENT, &c, &err), -ENOENT);
	assert_non_null(strstr(err.text, "runs/one.json: the truth has no row for it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_fault),
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_no_fault),
		cmocka_unit_test(test_observers),
		cmocka_unit_test(test_two_faults),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_bad_truth),
		cmocka_unit_test(test_not_in_truth),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
