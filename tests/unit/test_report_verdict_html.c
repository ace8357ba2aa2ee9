#include "report/verdict_html.h"

#include "printed.h"
#include "report/verdict_html_parts.h"
#include "verdict_rig.h"
#include <float.h>

static char *print(const struct lp_verdict *v, const struct verdict_html_options *opt)
{
	struct printed p;

	assert_int_equal(verdict_write_html(printed_begin(&p), v, opt), 0);
	return printed_end(&p);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s", part);
}

static void test_page(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, NULL);

	(void)state;
	assert_has(text,
		"<h1>fs2: disk sdd is slow, 4.1x its peers. 2 more incidents, 1 acknowledged. "
		"Muted, and still out of step: fs1/disk:sdh.</h1>");
	assert_has(text, "default-src 'none'; style-src 'sha256-");
	assert_has(text, "<li>await 4.1x its peers (41 ms against 10 ms)</li>");
	assert_int_equal(count(text, "<article"), 3);
	assert_int_equal(count(text, "<figure"), 4); /* the lost path has two metrics */
	/* Rows that were ever off and twelve of the others; a group, and the axis. */
	assert_int_equal(count(text, "data-level"), 5 + 12);
	assert_int_equal(count(text, "class=\"rows\""), 1);
	assert_has(text, "more, all normal</p>");
	assert_has(text, ">onset 03:52:30</text>");
	assert_int_equal(count(text, "<img"), 0);
	assert_int_equal(count(text, "\"nan") + count(text, " nan") + count(text, "lnan"), 0);
	free(text);
	lp_verdict_free(v);
}

/* Put a value of a kind at every n-th place of all tables. */
static char *print_with(double value, uint32_t every)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	for (uint32_t t = 0; t < v->n_tables; t++) {
		const struct lp_table *table = v->tables[t];
		size_t n = (size_t)table->n_components * table->n_slots;

		for (size_t i = 0; i < n; i += every)
			table->values[i] = value;
	}
	for (uint32_t i = 0; i < v->n_findings; i++) {
		v->findings[i].own = value;
		v->findings[i].ratio = value / v->findings[i].peers;
	}
	text = print(v, NULL);
	lp_verdict_free(v);
	return text;
}

/* Whatever the values are, the page ends, and has no more in it than another. */
static void test_any_values(void **state)
{
	static const double values[] = {DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, INFINITY,
		-INFINITY, NAN, 0, 1e300, 1e-300, -1};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (uint32_t every = 1; every <= 3; every += 2) {
			char *text = print_with(values[i], every);

			assert_has(text, "</html>");
			assert_true(strlen(text) < 4000000);
			assert_true(count(text, "<svg class=\"y\"") == count(text, "<figure"));
			assert_int_equal(count(text, "\"nan") + count(text, " nan") +
					count(text, "lnan") + count(text, "\"inf"),
				0);
			free(text);
		}
	}
}

/* Times of a file may be anything, too. */
static void test_time_axis(void **state)
{
	static const int64_t times[][2] = {{INT64_MIN, INT64_MAX}, {INT64_MAX - 5, INT64_MAX},
		{INT64_MIN, INT64_MIN + 5}, {0, INT64_MAX}, {5, 5}, {7, 5}, {-1, 1},
		{INT64_MIN, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct printed p;
		char *text;

		html_time_axis(printed_begin(&p), times[i][0], times[i][1]);
		text = printed_end(&p);
		assert_true(count(text, "<text") <= 10);
		assert_int_equal(count(text, "nan"), 0);
		free(text);
	}
}

static void test_limits(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, &(struct verdict_html_options){.title = "a<b", .top = 1, .rows = 2});

	(void)state;
	assert_has(text, "<title>a&lt;b</title>");
	assert_int_equal(count(text, "<figure"), 1);
	assert_has(text, "median of its 23 peers");
	assert_has(text, "Only the first 1 suspects are plotted.");
	assert_has(text, "<p class=\"more\">22 more</p>");
	assert_int_equal(count(text, "data-level"), 2);
	free(text);
	lp_verdict_free(v);
}

static void test_shared_part(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	free(v->incidents[0].part);
	v->incidents[0].part = strdup("controller:<ddn12a>");
	v->incidents[0].n_of_part = 12;
	text = print(v, NULL);
	assert_has(text, "controller:&lt;ddn12a&gt;");
	assert_has(text, "<p>1 of its 12 components, the worst first: ");
	free(text);
	lp_verdict_free(v);
}

/* Unexpected input: no data, no windows, infinite ratios, no names. */
static void test_odd(void **state)
{
	char *reason = (char[]){"nothing <there>"};
	struct lp_verdict empty = {.params = {.k = 3},

		.method = "cdf",
		.status = LP_STATUS_UNKNOWN,
		.unknown = &reason,
		.n_unknown = 1};
	struct lp_verdict *v = rig_verdict();
	char *text = print(&empty, NULL);

	(void)state;
	assert_has(text, "<header class=\"unknown\">");
	assert_has(text, "<h1>UNKNOWN: nothing &lt;there&gt;.</h1>");
	assert_has(text, "Looked at nothing; method cdf");
	assert_has(text, "<li>Could not be judged: nothing &lt;there&gt;</li>");
	free(text);
	for (uint32_t i = 0; i < v->n_findings; i++)
		v->findings[i].own = v->findings[i].ratio = v->findings[i].distance = INFINITY;
	for (size_t i = 0; i < (size_t)RIG_DISKS * RIG_WINDOWS; i++)
		v->series[0].ratios[i] = i % 3 ? INFINITY : i % 2 ? 0 : NAN;
	v->suspects[0].severity = v->incidents[0].severity = NAN;
	v->suspects[0].confidence = NAN;
	v->incidents[0].cause = v->suspects[0].cause = NULL;
	text = print(v, NULL);
	assert_int_equal(count(text, "\"nan"), 0);
	assert_int_equal(count(text, "inf\""), 0);
	free(text);
	lp_verdict_free(v);
}

static void test_when(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *page;

	(void)state;
	v->incidents[0].onset_error_us = 30000000;
	v->incidents[0].ended = true;
	v->incidents[1].since_before = true;
	page = print(v, NULL);
	assert_non_null(
		strstr(page, "<dt>since</dt><dd><time>2011-04-17T03:52:30Z</time> (±30 s)</dd>"));
	assert_non_null(strstr(page, "<dt>until</dt><dd><time>2011-04-17T12:00:00Z</time></dd>"));
	assert_non_null(
		strstr(page, "<dt>since</dt><dd>before <time>2011-04-17T08:52:30Z</time></dd>"));
	assert_non_null(strstr(page, "<dt>for</dt><dd>at least 3h08m</dd>"));
	free(page);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_any_values),
		cmocka_unit_test(test_time_axis),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_shared_part),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
