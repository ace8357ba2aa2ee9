#include "report/incident.h"

#include "base/array.h"
#include "model/traced_call.h"
#include "unit.h"
#include "verdict_rig.h"
#include <stdlib.h>
#include <string.h>

static void assert_what(const struct lp_verdict *v, uint32_t incident, const char *expected)
{
	struct strbuf sb = {0};

	incident_add_what(&sb, v, &v->incidents[incident]);
	assert_string_equal(sb.text, expected);
	strbuf_release(&sb);
}

static void test_what(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	assert_what(v, 0, "fs2: disk sdd is slow, 4.1x its peers");
	assert_what(v, 1, "fs3: disk sdc does no work, while its peers do");
	v->incidents[0].ended = true;
	assert_what(v, 0, "fs2: disk sdd was slow, 4.1x its peers");
	v->incidents[0].ended = false;
	v->findings[v->suspects[0].findings[0]].whole = true;
	assert_what(v, 0, "fs2: disk sdd is slow, 4.1x its own past");
	lp_verdict_free(v);
}

/* Every cause has a sentence, and none of them needs findings. */
static void test_causes(void **state)
{
	static const char *const cases[][2] = {
		{"disk-hog", "fs2: disk sdd is overloaded with work that its peers do not have"},
		{"disk-errors", "fs2: disk sdd has errors that its peers do not have"},
		{"network-hog", "fs2: the network is flooded"},
		{"packet-loss", "packets between fs2 and its peers are lost"},
		{"slow-link", "fs2: the network link is slow"},
		{"slow-network", "fs2: requests are slow to cross the network"},
		{"bad-link", "fs2: disk sdd reports errors that its peers do not"},
		{"cpu-hog", "fs2 is short of CPU"},
		{"server-hung", "fs2 hangs: it does not read what its clients send"},
		{"server-down", "fs2 is down, or its recorder is: no data from it"},
		{"lost-path", "fs2: disk sdd does no work, while its peers do"},
		{"propagated-error",
			"fs2 returns errors to its clients (EMFILE: too many open files)"},
		{"crash", "fs2 crashed (SIGSEGV)"},
		{"resource-exhausted", "fs2 runs out of a resource (EMFILE: too many open files)"},
		{"rogue-process", "fs2 runs a program that its peers do not run"},
		{"behaviour", "fs2 spends its time in other functions than its peers"},
		{"unknown", "fs2: disk sdd differs from its peers"},
		{"something-new", "fs2: disk sdd differs from its peers"},
	};
	struct lp_verdict *v = rig_verdict();

	(void)state;
	free(v->suspects[0].evidence[0]);
	v->suspects[0].evidence[0] =
		rig_text("x (pid 1) on fs2: ENOENT_ is none, openat failed with EMFILE at T; it "
			 "died by SIGSEGV at T");
	v->suspects[0].n_findings = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		v->incidents[0].cause = cases[i][0];
		assert_what(v, 0, cases[i][1]);
	}
	lp_verdict_free(v);
}

static void test_shared_part(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct lp_incident *in = &v->incidents[0];
	struct incident_steps steps = {0};

	(void)state;
	free(in->part);
	free(in->components);
	in->part = rig_text("controller:ddn12a");
	in->components = rig_alloc(3, sizeof(*in->components));
	memcpy(in->components, (uint32_t[]){RIG_SLOW, RIG_LOST, 0}, 12);
	in->n_components = 3;
	in->n_of_part = 8;
	assert_what(v, 0, "controller ddn12a: 3 of its 8 disks are slow, the worst 4.1x its peers");
	assert_string_equal(incident_observer(v, in), "");
	incident_steps(v, in, &steps);
	assert_string_equal(steps.host, "");
	assert_non_null(strstr(steps.text.text, "what these components share"));
	incident_steps_release(&steps);
	lp_verdict_free(v);
}

static void test_warning(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct strbuf sb = {0};

	(void)state;
	incident_add_warning(&sb, v, &v->suspects[0]);
	assert_string_equal(sb.text, "fs2: disk sdd is a little slow, 4.1x its peers");
	strbuf_release(&sb);
	lp_verdict_free(v);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(incident_state_name(LP_STATUS_ABSENT), "CRITICAL");
	assert_string_equal(incident_state_name(LP_STATUS_WARNINGS), "WARNING");
	assert_string_equal(incident_state_name(LP_STATUS_OK), "OK");
	assert_string_equal(incident_level_name(LP_LEVEL_WARNING), "warning");
	assert_string_equal(incident_level_name(LP_LEVEL_ABSENT), "critical");
	assert_string_equal(incident_confidence_name(.86), "high");
	assert_string_equal(incident_confidence_name(.6), "medium");
	assert_string_equal(incident_confidence_name(.2), "low");
}

static void test_steps(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct incident_steps steps = {0};

	(void)state;
	incident_steps(v, &v->incidents[0], &steps);
	assert_string_equal(steps.host, "fs2");
	assert_string_equal(steps.commands.text, "smartctl -a /dev/sdd\ndmesg -T | grep -w sdd");
	assert_non_null(strstr(steps.text.text, "replace the drive"));
	incident_steps_release(&steps);
	lp_verdict_free(v);
}

/* The commands of an error that a call returned name its process and its directory. */
static void test_call_steps(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const struct lp_traced_call call = {.observer = "fs2",
		.process = "glusterfsd",
		.pid = 812,
		.call = "pwrite64",
		.file = "/bricks/a b/c1/piece.37",
		.result = "ENOSPC"};
	struct incident_steps steps = {0}, relative = {0}, crash = {0};
	struct lp_suspect *lead = (struct lp_suspect *)incident_lead(v, &v->incidents[0]);

	(void)state;
	v->incidents[0].cause = "propagated-error";
	assert_int_equal(traced_calls_add(&lead->calls, &lead->n_calls, &call), 0);
	incident_steps(v, &v->incidents[0], &steps);
	assert_string_equal(steps.commands.text, "df -h '/bricks/a b/c1'\ndf -i '/bricks/a b/c1'");
	free(lead->calls[0].file);
	lead->calls[0].file = strdup("piece.37");
	incident_steps(v, &v->incidents[0], &relative);
	assert_string_equal(relative.commands.text, "df -h\ndf -i");
	v->incidents[0].cause = "crash";
	incident_steps(v, &v->incidents[0], &crash);
	assert_non_null(strstr(crash.text.text, "Its last calls failed with ENOSPC. The file"));
	incident_steps_release(&steps);
	incident_steps_release(&relative);
	incident_steps_release(&crash);
	lp_verdict_free(v);
}

/* A name cannot insert a command into the text that an operator copies. */
static void test_hostile_steps(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct incident_steps steps = {0};

	(void)state;
	v->incidents[2].cause = "lost-path";
	incident_steps(v, &v->incidents[2], &steps);
	assert_non_null(strstr(steps.commands.text, "lsblk /dev/'<img src=x onerror=alert(1)>'\n"));
	incident_steps_release(&steps);
	lp_verdict_free(v);
}

/* Each cause has something to do. */
static void test_all_steps(void **state)
{
	static const char *const causes[] = {"disk-busy", "disk-errors", "disk-hog", "network-hog",
		"packet-loss", "slow-link", "slow-network", "bad-link", "cpu-hog", "server-hung",
		"server-down", "lost-path", "rogue-process", "crash", "unknown"};
	struct lp_verdict *v = rig_verdict();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		struct incident_steps steps = {0};

		v->incidents[0].cause = causes[i];
		incident_steps(v, &v->incidents[0], &steps);
		assert_true(steps.text.len > 10);
		assert_false(steps.text.failed || steps.commands.failed);
		incident_steps_release(&steps);
	}
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_shared_part),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_call_steps),
		cmocka_unit_test(test_hostile_steps),
		cmocka_unit_test(test_all_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
