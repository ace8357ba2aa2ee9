#include "report/verdict_text.h"

#include "base/time.h"
#include "printed.h"
#include "verdict_rig.h"

static char *print(const struct lp_verdict *v, const struct verdict_text_options *opt)
{
	struct printed p;

	assert_int_equal(verdict_print_text(printed_begin(&p), v, opt), 0);
	return printed_end(&p);
}

static void assert_prints(
	const struct lp_verdict *v, const struct verdict_text_options *opt, const char *expected)
{
	char *text = print(v, opt);

	assert_string_equal(text, expected);
	free(text);
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in:\n%s", part, text);
}

static void test_screenful(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	assert_prints(v, NULL,
		"fs2/disk:sdd limps: slow disk. 2 more incidents, 1 acknowledged. 1 muted suspect\n"
		"is out of step: fs1/disk:sdh.\n"
		"Looked at await and rd_sec of 24 disks in 1 group, 95 windows of 15m from\n"
		"2011-04-17T00:00:00Z to 2011-04-17T12:00:00Z; method cdf, thresholds from the\n"
		"peers' own spread.\n"
		"\n"
		"1   fs2/disk:sdd: slow disk (disk-busy), 97% sure, severity 128\n"
		"    since 2011-04-17T03:52:30Z, still at the end of the data (8h07m)\n"
		"    await 4.1x its peers (41 ms against 10 ms)\n"
		"    persistence 64, against 23 others of group disk\n"
		"    |....................########################################|\n"
		"    Next: Look at the disk's error counters and SMART data; replace it if they\n"
		"    grow.\n"
		"\n"
		"2   fs3/disk:sdc: lost path (lost-path), 90% sure, severity 52.5\n"
		"    since 2011-04-17T08:52:30Z, still at the end of the data (3h07m)\n"
		"    no reads at all where its peers read 17 MB/s (rd_sec 0 against 34000\n"
		"    sectors/s)\n"
		"    persistence 24, against 23 others of group disk\n"
		"    |.............................................###############|\n"
		"    Next: Check the cable, the port and the multipath state of this path.\n"
		"\n"
		"3   fs3/disk:<img src=x onerror=alert(1)>: slow disk (disk-busy), 61% sure,\n"
		"    severity 12.2 [acknowledged]\n"
		"    from 2011-04-17T02:22:30Z to 2011-04-17T07:30:00Z (5h07m)\n"
		"    await 2.4x its peers (24 ms against 10 ms)\n"
		"    persistence 0, against 23 others of group disk\n"
		"    |............#######............#######......................|\n"
		"    Next: Watch it.\n"
		"\n"
		"Different, but no culprit: fs1/disk:sdc (faster: await 0.4x its peers),\n"
		"fs1/disk:sdf (imbalanced, works harder: rd_sec 1.9x its peers).\n"
		"\n"
		"Note: fs2 was silent from 02:10 to 02:12.\n");
	lp_verdict_free(v);
}

static void test_all_well(void **state)
{
	struct lp_verdict *v = rig_healthy();

	(void)state;
	assert_prints(v, NULL,
		"All well: 24 disks in 1 group, 95 windows, nobody is out of step.\n"
		"Looked at await and rd_sec of 24 disks in 1 group, 95 windows of 15m from\n"
		"2011-04-17T00:00:00Z to 2011-04-17T12:00:00Z; method cdf, thresholds from the\n"
		"peers' own spread.\n");
	lp_verdict_free(v);
}

/* Who is muted is out of step all the same. */
static void test_muted(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	assert_int_equal(verdict_mute(v, RIG_MUTED), 0);
	assert_int_equal(verdict_mute(v, RIG_MUTED), 0); /* is one suspect, however often said */
	text = print(v, NULL);
	assert_contains(text,
		"1 muted suspect is out of step: fs1/disk:sdh. All else is well: 24 disks in 1\n"
		"group, 95 windows, nobody else is out of step.\n");
	free(text);
	for (uint32_t c = 8; c < 16; c++)
		assert_int_equal(verdict_mute(v, c), 0);
	text = print(v, NULL);
	assert_contains(text,
		"9 muted suspects are out of step: fs1/disk:sdh, fs2/disk:sda, fs2/disk:sdb,\n"
		"fs2/disk:sdc and 5 more. All else is well: ");
	free(text);
	lp_verdict_free(v);
}

/* Service times of calls, second by second; how many there are is no metric that was compared. */
static void test_samples(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	v->series[0].method = v->series[1].method = "series";
	free(v->tables[0]->metric);
	v->tables[0]->metric = strdup("dread");
	free(v->tables[1]->metric);
	v->tables[1]->metric = strdup("dreads");
	text = print(v, NULL);
	assert_contains(text, "All well: 24 disks in 1 group, 95 samples, nobody");
	assert_contains(text, "Looked at dread of 24 disks in 1 group, 95 samples from");
	free(text);
	lp_verdict_free(v);
}

/* Who compared nothing must not say that all is well. */
static void test_nothing_compared(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	v->series[0].n_windows = v->series[1].n_windows = v->n_compared = 0;
	v->groups[0].refused = strdup("2 components: neither can outvote the other");
	assert_int_equal(verdict_unknown(v, "no group has %d components", 3), 0);
	v->status = LP_STATUS_UNKNOWN;
	text = print(v, &(struct verdict_text_options){.colour = true});
	assert_lacks(text, "well");
	assert_contains(
		text, "\033[1mUNKNOWN: no group has 3 components.\033[0m\n\033[2mLooked at");
	assert_contains(text, "Group disk: 24 components; not compared: 2 components: neither");
	assert_lacks(strstr(text, "neither") + 1, "neither"); /* once is enough */
	free(text);
	lp_verdict_free(v);
}

/* What was compared is told, and what is missing comes first. */
static void test_unknown(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	assert_int_equal(verdict_unknown(v, "no data from fs4"), 0);
	v->status = LP_STATUS_UNKNOWN;
	text = print(v, NULL);
	assert_contains(text,
		"UNKNOWN: no data from fs4. What could be compared is well: 24 disks in 1 group,\n"
		"95 windows, nobody is out of step.\nLooked at");
	free(text);
	for (int i = 0; i < 6; i++)
		assert_int_equal(verdict_unknown(v, "reason %d", i), 0);
	text = print(v, NULL);
	assert_contains(text,
		"UNKNOWN: no data from fs4; reason 0; reason 1; reason 2 and 3 more reasons.");
	assert_contains(text, "\nUnknown: reason 3\nUnknown: reason 4\nUnknown: reason 5\n");
	free(text);
	lp_verdict_free(v);
}

static void test_unknown_beside_suspects(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	assert_int_equal(verdict_unknown(v, "no data from fs4"), 0);
	text = print(v, NULL);
	assert_contains(text,
		"fs2/disk:sdd limps: slow disk. 2 more incidents, 1 acknowledged. Not everything\n"
		"could be judged: no data from fs4. 1 muted suspect is out of step: "
		"fs1/disk:sdh.\n");
	assert_lacks(text, "well");
	free(text);
	lp_verdict_free(v);
}

static void test_colour_only_if_asked(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *plain = print(v, NULL), *text;

	(void)state;
	text = print(v, &(struct verdict_text_options){.colour = true});
	assert_lacks(plain, "\033");
	assert_contains(text, "\033[1;31m1   fs2/disk:sdd: slow disk");
	assert_contains(text, "[acknowledged]\033[0m\n");
	assert_contains(text, "    \033[1mNext:\033[0m Look at");
	free(plain);
	free(text);
	lp_verdict_free(v);
}

static void test_top(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, &(struct verdict_text_options){.top = 1});

	(void)state;
	assert_contains(text, "\nand 2 more: --top 3 shows them\n");
	assert_lacks(text, "lost path");
	free(text);
	lp_verdict_free(v);
}

static void test_verbose(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, &(struct verdict_text_options){.verbose = true, .width = 120});

	(void)state;
	assert_contains(text,
		"rd_sec absent in 24 of 95 windows, persistence 24, against 23 others "
		"of group disk; distance 12, threshold 4\n");
	assert_contains(text, "await absent in 23 of 95 windows");
	assert_contains(text, "indicted at 2011-04-17T04:22:30Z");
	assert_contains(text, "Group disk: 24 components\n");
	free(text);
	lp_verdict_free(v);
}

/* Suspects that share a part are one incident about it. */
static void test_shared_part(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct lp_incident *in = &v->incidents[0];
	char *text;

	(void)state;
	free(in->part);
	free(in->components);
	free(in->summary);
	in->part = strdup("controller:ddn12a");
	in->components = malloc(7 * sizeof(*in->components));
	memcpy(in->components, (uint32_t[]){RIG_SLOW, RIG_LOST, 0, 1, 2, 3, 4}, 28);
	in->n_components = 7;
	in->n_of_part = 8;
	in->summary = strdup("7 of 8 disks behind controller ddn12a are slow.");
	text = print(v, &(struct verdict_text_options){.width = 100});
	assert_contains(text, "1   controller:ddn12a: slow disk (disk-busy), 97% sure");
	assert_contains(text,
		"    7 of its 8 components: fs2/disk:sdd, fs3/disk:sdc, "
		"fs1/disk:sda, fs1/disk:sdb and 3 more\n");
	assert_contains(text, "    7 of 8 disks behind controller ddn12a are slow.\n");
	assert_contains(text, "    fs2/disk:sdd: await 4.1x its peers");
	free(text);
	lp_verdict_free(v);
}

/* No line is longer than asked for, where its words allow it. */
static void test_width(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	for (unsigned width = 40; width < 130; width += 7) {
		char *text = print(v, &(struct verdict_text_options){.width = width});

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= width);
		free(text);
	}
	lp_verdict_free(v);
}

static void test_hostile_text(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	lp_verdict_note(v,
		"title \033]0;x\a end \xc2\x9b"
		"31m");
	free(v->incidents[0].part);
	v->incidents[0].part = strdup("a\033[2Jb");
	text = print(v, NULL);
	assert_lacks(text, "\033");
	assert_lacks(text, "\xc2\x9b");
	assert_contains(text, "title ?]0;x? end ?31m");
	assert_contains(text, "1   a?[2Jb: slow disk");
	free(text);
	lp_verdict_free(v);
}

static void test_asymmetries_only(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	for (uint32_t i = 0; i < v->n_incidents; i++) {
		free(v->incidents[i].part);
		free(v->incidents[i].components);
		free(v->incidents[i].summary);
		free(v->incidents[i].advice);
	}
	v->n_incidents = v->n_muted = 0;
	v->status = LP_STATUS_OK;
	text = print(v, NULL);
	assert_contains(text,
		"All well: 24 disks in 1 group, 95 windows, nobody is out of step for the "
		"worse.\n");
	assert_contains(text, "Different, but no culprit: fs1/disk:sdc (faster");
	free(text);
	lp_verdict_free(v);
}

/* Since when and until when, as far as that is known. */
static void test_when(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const struct verdict_text_options wide = {.width = 120};
	char *text;

	(void)state;
	v->incidents[0].onset_error_us = 30 * US_PER_SEC;
	v->incidents[1].since_before = true;
	v->incidents[2].onset_error_us = 15 * US_PER_SEC;
	v->incidents[2].ended = true;
	text = print(v, &wide);
	assert_contains(text,
		" since 2011-04-17T03:52:30Z (give or take 30s), still at the end of the data "
		"(8h07m)\n");
	assert_contains(text,
		" since before 2011-04-17T08:52:30Z, still at the end of the data (at least "
		"3h07m)\n");
	assert_contains(text,
		" limped from 2011-04-17T02:22:30Z (give or take 15s) to 2011-04-17T07:30:00Z "
		"(5h07m)\n");
	free(text);
	/* The last whole window ended a quarter of an hour before the data does: what is still so
	 * has lasted until the end. */
	v->incidents[0].last_us -= 300 * US_PER_SEC;
	text = print(v, &wide);
	assert_contains(text, " (give or take 30s), still at the end of the data (8h07m)\n");
	free(text);
	v->incidents[0].last_us += 300 * US_PER_SEC;
	v->incidents[0].ended = true;
	text = print(v, &wide);
	assert_contains(text,
		" limped from 2011-04-17T03:52:30Z (give or take 30s) to 2011-04-17T12:00:00Z "
		"(8h07m)\n");
	free(text);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screenful),
		cmocka_unit_test(test_all_well),
		cmocka_unit_test(test_muted),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_nothing_compared),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_unknown_beside_suspects),
		cmocka_unit_test(test_colour_only_if_asked),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_verbose),
		cmocka_unit_test(test_shared_part),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_asymmetries_only),
		cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
