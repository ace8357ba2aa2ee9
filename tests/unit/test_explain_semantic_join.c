/* The results of logs and of the comparison in one verdict. */
#include "explain_rig.h"

#include "explain/semantic_join.h"
#include "report/verdict_html.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"
#include "temp_dir.h"

#define MINUTE RIG_STEP_US

/* A finding of the logs, from minute to minute. */
static void accuse(
	struct semantic *s, const char *component, const char *cause, int from, int to, uint32_t n)
{
	struct semantic_finding *f;

	s->findings = reallocarray(s->findings, s->n + 1, sizeof(*f));
	f = &s->findings[s->n++];
	*f = (struct semantic_finding){.component = lp_identity_parse(component),
		.cause = cause,
		.confidence = 0.9,
		.n = n,
		.first_us = RIG_START_US + from * MINUTE,
		.last_us = RIG_START_US + to * MINUTE,
		.evidence = calloc(1, sizeof(char *)),
		.n_evidence = 1,
		.advice = strdup("look at oss1")};
	f->evidence[0] = strdup("it died by SIGXFSZ");
	s->any = true;
	s->n_observers = 2;
}

static void explain(struct rig *r, const struct semantic *s)
{
	struct lp_err err = {0};

	if (semantic_join_components(r->v, s, NULL, 0, &err) < 0 ||
		explain_verdict(r->v, r->topology, NULL, r->state, s, &err) < 0)
		fail_msg("%s", err.text);
}

static void disks(struct rig *r)
{
	rig_init(r, 40);
	rig_disks(r, 8);
	rig_metric(r, "disk", "await");
}

/* Slow from then on, absent from then on: one incident with the crash. */
static void test_crash_explains(void **state)
{
	struct semantic s = {0};
	struct rig r;

	(void)state;
	disks(&r);
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABSENT, 0, 10, 10, 39);
	accuse(&s, "oss1/sys:fsd", "crash", 10, 11, 3);
	explain(&r, &s);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, "oss1/sys:fsd");
	assert_string_equal(r.v->incidents[0].cause, "crash");
	assert_string_equal(r.v->incidents[0].advice, "look at oss1");
	assert_non_null(strstr(r.v->incidents[0].summary, "died: it died by SIGXFSZ"));
	assert_int_equal(r.v->incidents[0].n_components, 2);
	assert_string_equal(rig_cause(&r, "oss1/disk:sdb"), "crash");
	assert_string_equal(rig_cause(&r, "oss1/sys:fsd"), "crash");
	semantic_release(&s);
	rig_release(&r);
}

/* Trouble of another server is another incident, and so is trouble from long before. */
static void test_coexist(void **state)
{
	struct semantic s = {0};
	struct rig r;

	(void)state;
	disks(&r);
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 2, 12);
	rig_find(&r, "oss2/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 20, 39);
	accuse(&s, "oss1/sys:fsd", "server-hung", 30, 39, 3);
	explain(&r, &s);
	rig_expect_incidents(&r, 3);
	assert_string_equal(rig_cause(&r, "oss1/disk:sdb"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss1/sys:fsd"), "server-hung");
	semantic_release(&s);
	rig_release(&r);
}

/* Errors and slowness of one server at one time are one incident. */
static void test_errors_and_slowness(void **state)
{
	struct semantic s = {0};
	struct rig r;

	(void)state;
	disks(&r);
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 5, 39);
	accuse(&s, "oss1/sys:fsd", "propagated-error", 20, 30, 100);
	explain(&r, &s);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].cause, "propagated-error");
	semantic_release(&s);
	rig_release(&r);
}

/* The accused is compared, too: one suspect with both. */
static void test_same_component(void **state)
{
	struct semantic s = {0};
	const struct lp_suspect *suspect;
	struct rig r;

	(void)state;
	disks(&r);
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 5, 39);
	accuse(&s, "oss1/disk:sdb", "propagated-error", 20, 30, 1);
	explain(&r, &s);
	assert_int_equal(r.v->n_suspects, 1);
	suspect = rig_suspect(&r, "oss1/disk:sdb");
	assert_int_equal(suspect->n_findings, 1);
	assert_string_equal(suspect->evidence[0], "it died by SIGXFSZ");
	assert_non_null(strstr(suspect->evidence[1], "await 4.0x"));
	assert_int_equal(suspect->first_us, r.v->findings[0].first_us);
	semantic_release(&s);
	rig_release(&r);
}

/* All that is known comes from the logs: no table, no group. All reports can be printed. */
static void test_only_logs(void **state)
{
	struct semantic s = {0};
	struct rig r;
	FILE *out = fopen(temp_path("out"), "w");
	struct verdict_text_options text = {.verbose = true};

	(void)state;
	rig_init(&r, 0);
	accuse(&s, "oss1/sys:fsd", "crash", 10, 11, 3);
	accuse(&s, "oss2/sys:fsd", "crash", 10, 11, 1);
	explain(&r, &s);
	rig_expect_incidents(&r, 2);
	assert_string_equal(r.v->incidents[0].part, "oss1/sys:fsd");
	assert_int_equal(r.v->suspects[0].group, UINT32_MAX);
	assert_int_equal(r.v->n_traced, 2);
	assert_int_equal(verdict_print_text(out, r.v, &text), 0);
	assert_int_equal(verdict_print_json(out, r.v), 0);
	assert_int_equal(verdict_write_html(out, r.v, NULL), 0);
	fclose(out);
	semantic_release(&s);
	rig_release(&r);
}

static void say(struct rig *r, enum state_verb verb, const char *component, int64_t at_us)
{
	struct state_entry e = {(char *)(uintptr_t)component, verb, at_us, 0, NULL};
	struct lp_err err = {0};

	if (state_say(r->state, &e, &err) < 0)
		fail_msg("%s", err.text);
}

/* What the operator said holds here, too. */
static void test_operator(void **state)
{
	struct semantic s = {0};
	struct lp_err err = {0};
	struct rig r;

	(void)state;
	rig_init(&r, 0);
	assert_int_equal(state_open(temp_path("state.db"), false, &r.state, &err), 0);
	for (int i = 1; i <= 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "oss%d/sys:fsd", i);
		accuse(&s, name, "crash", 10, 11, 1);
	}
	say(&r, STATE_MUTE, "oss1/*", RIG_START_US);
	say(&r, STATE_ACK, "oss2/sys:fsd", RIG_START_US);
	say(&r, STATE_CLEAR, "oss3/*", RIG_START_US + 20 * MINUTE);
	say(&r, STATE_CLEAR, "oss4/*", RIG_START_US + 10 * MINUTE);
	explain(&r, &s);
	assert_int_equal(r.v->n_suspects, 2);
	assert_int_equal(r.v->n_muted, 1);
	assert_true(rig_suspect(&r, "oss2/sys:fsd")->acknowledged);
	assert_non_null(rig_suspect(&r, "oss4/sys:fsd"));
	semantic_release(&s);
	rig_release(&r);
}

/* With a selection of components only these are reported. */
static void test_chosen(void **state)
{
	static const char *const globs[] = {"oss2/*"};
	struct semantic s = {0};
	struct lp_err err = {0};
	struct rig r;

	(void)state;
	rig_init(&r, 0);
	accuse(&s, "oss1/sys:fsd", "crash", 10, 11, 1);
	accuse(&s, "oss2/sys:fsd", "crash", 10, 11, 1);
	assert_int_equal(semantic_join_components(r.v, &s, globs, 1, &err), 0);
	assert_int_equal(explain_verdict(r.v, NULL, NULL, NULL, &s, &err), 0);
	assert_int_equal(r.v->n_suspects, 1);
	assert_non_null(rig_suspect(&r, "oss2/sys:fsd"));
	semantic_release(&s);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crash_explains),
		cmocka_unit_test(test_coexist),
		cmocka_unit_test(test_errors_and_slowness),
		cmocka_unit_test(test_same_component),
		cmocka_unit_test(test_only_logs),
		cmocka_unit_test(test_operator),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
