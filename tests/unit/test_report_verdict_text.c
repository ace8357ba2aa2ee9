#include "report/verdict_text.h"

#include "base/time.h"
#include "printed.h"
#include "report/incident.h"
#include "report/verdict_evidence.h"
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

static const struct verdict_text_options utf8 = {.utf8 = true, .clock = {.utc = true}};

static void test_screenful(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	assert_prints(v, &utf8,
		"CRITICAL  fs2: disk sdd is slow, 4.1x its peers, since 2011-04-17 03:52:30,\n"
		"          ongoing for 8h08m\n"
		"          confidence high (97%); nothing else is wrong on fs2\n"
		"\n"
		"  await  41.0 ms  peers 10.0 ms  4.1x  ▂▂▂▂▂▅▆▇███▇▇▇█▇\n"
		"\n"
		"  DO    on fs2:\n"
		"        smartctl -a /dev/sdd\n"
		"        dmesg -T | grep -w sdd\n"
		"        Errors there: replace the drive. None: look at its enclosure, cable and\n"
		"        controller, and for a rebuild.\n"
		"  THEN  limpet ack fs2/disk:sdd\n"
		"\n"
		"CRITICAL  fs3: disk sdc does no work, while its peers do, since\n"
		"          2011-04-17 08:52:30, ongoing for 3h08m\n"
		"          confidence high (90%)\n"
		"\n"
		"  rd_sec        0  peers 17.4 MB/s    ▅▆██▇▅▄▆██▇▆▁▁▁▁\n"
		"  await   no data  peers 11.0 ms      ▆▇███▇▆▇▇█▇▇    \n"
		"\n"
		"  DO    on fs3:\n"
		"        lsblk /dev/sdc\n"
		"        dmesg -T | grep -w sdc\n"
		"        multipath -ll\n"
		"        Look whether it is still there and in use: the path, the controller's\n"
		"        log, the file system's list of servers and targets. Bring it back.\n"
		"  THEN  limpet ack fs3/disk:sdc\n"
		"\n"
		"CRITICAL  fs3: disk <img src=x onerror=alert(1)> is slow, 2.4x its peers, since\n"
		"          2011-04-17 02:22:30, last seen at 07:30:00 (5h08m)\n"
		"          confidence medium (61%); acknowledged\n"
		"\n"
		"  await  24.0 ms  peers 10.0 ms  2.4x  ▃▃▃▇▇▃▃▃▇█▄▃▃▃▃▃\n"
		"\n"
		"  DO    Look at the device and what is around it: its error counters, its\n"
		"        enclosure, its controller's log, a rebuild. Replace it if it has errors.\n"
		"  THEN  once it is repaired: limpet clear 'fs3/disk:<img src=x "
		"onerror=alert(1)>'\n"
		"\n"
		"Muted, and still out of step: fs1/disk:sdh.\n"
		"Different, but not at fault: fs1: disk sdc (faster), fs1: disk sdf (imbalanced,\n"
		"works harder).\n"
		"Note: fs2 was silent from 02:10 to 02:12.\n"
		"Checked 3 servers, 24 components, 2011-04-17 00:00 to 12:00 UTC.\n");
	lp_verdict_free(v);
}

static void test_all_well(void **state)
{
	struct lp_verdict *v = rig_healthy();

	(void)state;
	assert_prints(v, &utf8,
		"OK        all is well: nothing is slow, failing or missing among 24 disks\n"
		"\n"
		"Checked 3 servers, 24 components, 2011-04-17 00:00 to 12:00 UTC.\n");
	lp_verdict_free(v);
}

/* Of today there is no date. */
static void test_today(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct verdict_text_options opt = {
		.clock = {.utc = true, .now_us = RIG_START_US + 3600 * US_PER_SEC}};
	char *text = print(v, &opt);

	(void)state;
	assert_contains(text, "4.1x its peers, since 03:52:30, ongoing for\n");
	assert_contains(text, "24 components, 00:00 to 12:00 UTC.\n");
	free(text);
	lp_verdict_free(v);
}

/* Without UTF-8 everything is ASCII. */
static void test_ascii(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	v->incidents[0].onset_error_us = 30 * US_PER_SEC;
	text = print(v, NULL);
	assert_contains(text, "(+-30 s)");
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at < 128);
	free(text);
	lp_verdict_free(v);
}

/* A muted suspect is out of step all the same. */
static void test_muted(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	assert_int_equal(verdict_mute(v, RIG_MUTED), 0);
	assert_int_equal(verdict_mute(v, RIG_MUTED), 0); /* is one suspect, however often said */
	text = print(v, NULL);
	assert_contains(text, "OK        all else is well: nothing else is slow, failing or");
	assert_contains(text, "\nMuted, and still out of step: fs1/disk:sdh.\n");
	free(text);
	for (uint32_t c = 8; c < 16; c++)
		assert_int_equal(verdict_mute(v, c), 0);
	text = print(v, NULL);
	assert_contains(text,
		"Muted, and still out of step: fs1/disk:sdh, fs2/disk:sda, fs2/disk:sdb,\n"
		"fs2/disk:sdc and 5 more.\n");
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
	text = print(v, &(struct verdict_text_options){.verbose = true});
	assert_contains(text, "Compared dread of 24 disks in 1 group, 95 samples from");
	free(text);
	lp_verdict_free(v);
}

/* Where nothing was compared, nothing is said to be well. */
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
	assert_contains(text, "\033[1;33mUNKNOWN\033[0m   no group has 3 components\n");
	assert_lacks(text, "neither"); /* the first line has it */
	assert_contains(text, "Read 3 servers, 24 components");
	free(text);
	text = print(v, &(struct verdict_text_options){.verbose = true});
	assert_contains(text, "Group disk: 24 components; not compared: 2 components: neither");
	free(text);
	lp_verdict_free(v);
}

/* A group that cannot be decided is not well, and other groups are. */
static void test_undecided(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	v->groups[0].undecided = true;
	v->status = LP_STATUS_UNKNOWN;
	assert_int_equal(verdict_unknown(v, "the components of 'disk' are two classes"), 0);
	text = print(v, NULL);
	assert_contains(text, "UNKNOWN   the components of 'disk' are two classes\n");
	assert_lacks(text, "is well");
	free(text);
	lp_verdict_free(v);
}

/* A crash is over at once. */
static void test_crash(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	v->incidents[0].cause = "crash";
	v->incidents[0].onset_error_us = 0;
	text = print(v, &(struct verdict_text_options){.width = 120, .clock = {.utc = true}});
	assert_contains(text, " crashed at 2011-04-17 03:52:30\n");
	free(text);
	lp_verdict_free(v);
}

static char *print_table(
	const struct lp_verdict *v, uint32_t incident, const struct lp_finding *said)
{
	struct evidence_style style = {.width = 100, .said = said};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(verdict_print_evidence(out, v, &v->incidents[incident], &style), 0);
	fclose(out);
	return text;
}

/* What another line says is not repeated in the table, unless it is all there is. */
static void test_said(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const struct lp_suspect *lost = incident_lead(v, &v->incidents[1]),
				*slow = incident_lead(v, &v->incidents[0]);
	char *text = print_table(v, 1, &v->findings[lost->findings[0]]);

	(void)state;
	assert_int_equal(lost->n_findings, 2);
	assert_lacks(text, "rd_sec");
	assert_contains(text, "await");
	free(text);
	text = print_table(v, 0, &v->findings[slow->findings[0]]);
	assert_contains(text, "await");
	free(text);
	lp_verdict_free(v);
}

/* The name of a function is cut in the middle where the line is too short, and whole with -v. */
static void test_long_function(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct lp_finding *f = &v->findings[incident_lead(v, &v->incidents[0])->findings[0]];
	char *text;

	(void)state;
	v->dimensions = calloc(1, sizeof(*v->dimensions));
	v->n_dimensions = 1;
	v->dimensions[0] =
		(struct lp_dimension){.name = strdup("glusterfsd:kernel:finish_task_switch_"
						     "of_another_thread.isra.0"),
			.share = .2,
			.own = 17.5,
			.peers = .375};
	f->first_dimension = 0;
	f->n_dimensions = 1;
	text = print(v, NULL);
	assert_contains(text, "  20%  glusterfsd:finis");
	assert_contains(text, ".isra.0\n");
	assert_contains(text, "...");
	/* Commands are never broken: they are to be copied. */
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80 || !strncmp(line, "  THEN", 6));
	free(text);
	text = print(v, &(struct verdict_text_options){.verbose = true});
	assert_contains(text, ":kernel:finish_task_switch_of_another_thread.isra.0\n");
	free(text);
	lp_verdict_free(v);
}

/* Missing data comes first, then what was compared. */
static void test_unknown(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	v->n_expected = 4;
	v->n_missing = 1;
	assert_int_equal(verdict_unknown(v, "no data from fs4"), 0);
	assert_int_equal(verdict_unknown(v, "another reason"), 0);
	v->status = LP_STATUS_UNKNOWN;
	text = print(v, &utf8);
	assert_contains(text,
		"UNKNOWN   no data from fs4\n"
		"          another reason\n"
		"          everything that could be compared is well: nothing is slow, failing or\n"
		"          missing among 24 disks\n");
	assert_contains(text, "Checked 3 of 4 hosts, 24 components, 2011");
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
	assert_contains(text, "CRITICAL  fs2: disk sdd is slow");
	assert_contains(text, "\nUNKNOWN   no data from fs4\n");
	assert_lacks(text, "well");
	assert_lacks(text, "nothing else is wrong"); /* that is not known */
	free(text);
	lp_verdict_free(v);
}

static void test_warnings(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	v->findings = rig_alloc(1, sizeof(*v->findings));
	v->warnings = rig_alloc(1, sizeof(*v->warnings));
	v->warnings[v->n_warnings++] = rig_suspect(v, rig_finding(v, RIG_SLOW, 0, 13, 10, true),
		"disk-busy", 1, .9, "await 1.3x its peers", "Watch it.");
	v->warnings[0].level = LP_LEVEL_WARNING;
	v->status = LP_STATUS_WARNINGS;
	text = print(v, &(struct verdict_text_options){.colour = true, .width = 100});
	assert_contains(text,
		"\033[1;33mWARNING\033[0m   fs2: disk sdd is a little slow, 1.3x its peers, since");
	assert_contains(text, "\n          await 1.3x its peers\n");
	assert_contains(text, "\n          all else is well: ");
	free(text);
	lp_verdict_free(v);
}

/* Names that outlast the kernel's stand beside it. */
static void test_stable_names(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	lp_identity_unref(v->components[RIG_SLOW]);
	v->components[RIG_SLOW] =
		lp_identity_new("fs2", "disk", "sdd", "serial=ZC1A\nmpath=mpatha\n");
	text = print(v, NULL);
	assert_contains(text, "          sdd is multipath mpatha, serial ZC1A\n");
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
	assert_contains(text, "\033[1;31mCRITICAL\033[0m  fs2: disk sdd is slow");
	assert_contains(text, "  \033[1mDO\033[0m    on fs2:\n");
	free(plain);
	free(text);
	lp_verdict_free(v);
}

static void test_top(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, &(struct verdict_text_options){.top = 1});

	(void)state;
	assert_contains(text, "\nand 2 more incidents: --top 3 shows them\n");
	assert_lacks(text, "does no work");
	free(text);
	lp_verdict_free(v);
}

static void test_verbose(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, &(struct verdict_text_options){.verbose = true, .width = 140});

	(void)state;
	assert_contains(text,
		"rd_sec absent in 24 of 95 windows, persistence 24, against 23 others "
		"of group disk; distance 12, threshold 4\n");
	assert_contains(text, "await absent in 23 of 95 windows");
	assert_contains(text, "; severity 128; cause disk-busy;");
	assert_contains(text, "method cdf,");
	assert_contains(text, "Group disk: 24 components\n");
	assert_contains(text, "disk sdc (faster: await 0.4x its peers), ");
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
	assert_contains(text,
		"CRITICAL  controller ddn12a: 7 of its 8 disks are slow, the worst 4.1x its peers");
	assert_contains(text,
		"          affected: fs2/disk:sdd, fs3/disk:sdc, fs1/disk:sda, fs1/disk:sdb and 3 "
		"more\n");
	assert_contains(text, "  disk sdd\n");
	assert_contains(text, "  DO    Look at what these components share: ");
	assert_contains(text,
		"  THEN  limpet ack fs2/disk:sdd fs3/disk:sdc fs1/disk:sda fs1/disk:sdb "
		"fs1/disk:sdc "
		"fs1/disk:sdd fs1/disk:sde\n");
	free(text);
	lp_verdict_free(v);
}

/* No line is longer than requested, except for commands and words that cannot be broken. */
static void test_width(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	for (unsigned width = 40; width < 130; width += 7) {
		char *text = print(v, &(struct verdict_text_options){.width = width});

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= width || strstr(line, "limpet clear") ||
				width < 50);
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
	lp_identity_unref(v->components[RIG_SLOW]);
	v->components[RIG_SLOW] = lp_identity_new("fs2", "disk", "a\033[2J;b", NULL);
	free(v->incidents[0].part);
	v->incidents[0].part = strdup(v->components[RIG_SLOW]->text);
	text = print(v, NULL);
	assert_lacks(text, "\033");
	assert_lacks(text, "\xc2\x9b");
	assert_contains(text, "title ?]0;x? end ?31m");
	assert_contains(text, "fs2: disk a?[2J;b is slow");
	assert_contains(text, "limpet ack 'fs2/disk:a?[2J;b'");
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
	assert_contains(text, "OK        all is well: nothing is slow, failing or missing among");
	assert_contains(text, "Different, but not at fault: fs1: disk sdc (faster");
	free(text);
	lp_verdict_free(v);
}

/* Since when and until when, as far as that is known. */
static void test_when(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const struct verdict_text_options wide = {.width = 120, .clock = {.utc = true}};
	char *text;

	(void)state;
	v->incidents[0].onset_error_us = 30 * US_PER_SEC;
	v->incidents[1].since_before = true;
	v->incidents[2].onset_error_us = 15 * US_PER_SEC;
	v->incidents[2].ended = true;
	text = print(v, &wide);
	assert_contains(text, ", since 2011-04-17 03:52:30 (+-30 s), ongoing for 8h08m\n");
	assert_contains(text, ", since before 2011-04-17 08:52:30, ongoing for at least 3h08m\n");
	assert_contains(text,
		" was slow, 2.4x its peers, from 2011-04-17 02:22:30 (+-15 s) to 07:30:00\n"
		"          (5h08m)\n");
	free(text);
	/* The last whole window ended a quarter of an hour before the data does: what is still so
	 * has lasted until the end. */
	v->incidents[0].last_us -= 300 * US_PER_SEC;
	text = print(v, &wide);
	assert_contains(text, " (+-30 s), ongoing for 8h08m\n");
	free(text);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screenful),
		cmocka_unit_test(test_all_well),
		cmocka_unit_test(test_today),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_stable_names),
		cmocka_unit_test(test_muted),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_nothing_compared),
		cmocka_unit_test(test_undecided),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_long_function),
		cmocka_unit_test(test_said),
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
