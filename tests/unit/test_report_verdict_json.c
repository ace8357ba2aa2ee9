#include "report/verdict_json.h"

#include "printed.h"
#include "verdict_rig.h"
#include <jansson.h>

/* What was printed, read back. */
static json_t *print(const struct lp_verdict *v)
{
	struct printed p;
	json_error_t error;
	json_t *root;
	char *text;

	assert_int_equal(verdict_print_json(printed_begin(&p), v), 0);
	text = printed_end(&p);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s at %d in %s", error.text, error.position, text);
	free(text);
	return root;
}

static const char *string_at(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text)
		fail_msg("no text \"%s\"", key);
	return text;
}

static void test_head(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root = print(v), *params = json_object_get(root, "params");

	(void)state;
	assert_string_equal(string_at(root, "limpet"), LIMPET_VERSION);
	assert_string_equal(string_at(root, "method"), "cdf");
	assert_true(json_is_false(json_object_get(root, "trained")));
	assert_int_equal(json_integer_value(json_object_get(params, "smooth")), 15);
	assert_int_equal(json_integer_value(json_object_get(params, "win_size")), 60);
	assert_int_equal(json_integer_value(json_object_get(params, "win_shift")), 30);
	assert_int_equal(json_integer_value(json_object_get(params, "k")), 3);
	assert_int_equal(json_integer_value(json_object_get(params, "step_s")), 15);
	assert_string_equal(string_at(root, "start"), "2011-04-17T00:00:00Z");
	assert_string_equal(string_at(root, "end"), "2011-04-17T12:00:00Z");
	assert_int_equal(json_integer_value(json_object_get(root, "windows")), 95);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "suspects");
	assert_int_equal(json_array_size(json_object_get(root, "unknown")), 0);
	assert_int_equal(json_integer_value(json_object_get(root, "muted")), 1);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(root, "muted_components"), 0)),
		"fs1/disk:sdh");
	assert_int_equal(json_array_size(json_object_get(root, "notes")), 1);
	json_decref(root);
	lp_verdict_free(v);
}

static void test_groups(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root = print(v), *group = json_array_get(json_object_get(root, "groups"), 0);
	json_t *components = json_object_get(group, "components");

	(void)state;
	assert_string_equal(string_at(group, "name"), "disk");
	assert_int_equal(json_array_size(components), RIG_DISKS);
	assert_string_equal(
		json_string_value(json_array_get(components, RIG_HOSTILE)), RIG_HOSTILE_NAME);
	assert_true(json_is_null(json_object_get(group, "refused")));
	json_decref(root);
	lp_verdict_free(v);
}

/* Labels of suspects are printed if there are any. */
static void test_labels(void **state)
{
	struct lp_verdict *v = rig_verdict();
	uint32_t first = v->suspects[0].component;
	json_t *root, *suspects, *labels;

	(void)state;
	lp_identity_unref(v->components[first]);
	v->components[first] =
		lp_identity_new("fs2", "disk", "sdd", "stable=wwn-0x5000\nmodel=\"x\"\n");
	root = print(v);
	suspects = json_object_get(root, "suspects");
	labels = json_object_get(json_array_get(suspects, 0), "labels");
	assert_string_equal(string_at(labels, "stable"), "wwn-0x5000");
	assert_string_equal(string_at(labels, "model"), "\"x\"");
	assert_int_equal(json_object_size(labels), 2);
	assert_null(json_object_get(json_array_get(suspects, 1), "labels"));
	json_decref(root);
	lp_verdict_free(v);
}

static void test_anomalies(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root = print(v), *anomalies = json_object_get(root, "anomalies"), *a;
	size_t i, slow = 0;

	(void)state;
	assert_int_equal(json_array_size(anomalies), v->n_anomalies);
	json_array_foreach(anomalies, i, a)
	{
		if (strcmp(string_at(a, "component"), "fs2/disk:sdd") != 0)
			continue;
		if (!slow++) {
			assert_int_equal(json_integer_value(json_object_get(a, "window")), 31);
			assert_string_equal(string_at(a, "start"), "2011-04-17T03:52:30Z");
			assert_string_equal(string_at(a, "end"), "2011-04-17T04:07:30Z");
		}
		assert_string_equal(string_at(a, "metric"), "await");
		assert_string_equal(string_at(a, "direction"), "above");
		assert_true(json_number_value(json_object_get(a, "distance")) >
			json_number_value(json_object_get(a, "threshold")));
	}
	assert_int_equal(slow, 64);
	json_decref(root);
	lp_verdict_free(v);
}

static void test_suspects(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root = print(v), *suspects = json_object_get(root, "suspects"), *s;

	(void)state;
	assert_int_equal(json_array_size(suspects), 3);
	s = json_array_get(suspects, 0);
	assert_string_equal(string_at(s, "component"), "fs2/disk:sdd");
	assert_string_equal(string_at(s, "cause"), "disk-busy");
	assert_string_equal(string_at(s, "group"), "disk");
	assert_string_equal(string_at(s, "first"), "2011-04-17T03:52:30Z");
	assert_string_equal(string_at(s, "last"), "2011-04-17T12:00:00Z");
	assert_string_equal(string_at(s, "indicted"), "2011-04-17T04:22:30Z");
	assert_int_equal(json_integer_value(json_object_get(s, "persistence")), 64);
	assert_true(json_number_value(json_object_get(s, "severity")) == 128.4);
	assert_true(json_number_value(json_object_get(s, "confidence")) == .97);
	assert_true(json_number_value(json_object_get(s, "ratio")) == 4.1);
	assert_int_equal(json_array_size(json_object_get(s, "evidence")), 1);
	assert_true(json_is_false(json_object_get(s, "acknowledged")));
	s = json_array_get(suspects, 1);
	assert_int_equal(json_array_size(json_object_get(s, "metrics")), 2);
	assert_string_equal(string_at(s, "direction"), "absent");
	assert_true(json_is_true(json_object_get(json_array_get(suspects, 2), "acknowledged")));
	assert_int_equal(json_array_size(json_object_get(root, "asymmetries")), 2);
	json_decref(root);
	lp_verdict_free(v);
}

static void test_when(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root, *suspect, *in;

	(void)state;
	v->suspects[0].onset_error_us = 1500000;
	v->suspects[0].ended = true;
	v->incidents[1].since_before = true;
	root = print(v);
	suspect = json_array_get(json_object_get(root, "suspects"), 0);
	in = json_array_get(json_object_get(root, "incidents"), 1);
	assert_true(json_number_value(json_object_get(suspect, "first_error_s")) == 1.5);
	assert_true(json_is_false(json_object_get(suspect, "since_before")));
	assert_true(json_is_true(json_object_get(suspect, "ended")));
	assert_true(json_is_null(json_object_get(in, "first_error_s")));
	assert_true(json_is_true(json_object_get(in, "since_before")));
	assert_true(json_is_false(json_object_get(in, "ended")));
	json_decref(root);
	lp_verdict_free(v);
}

static void test_incidents(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root = print(v), *in = json_array_get(json_object_get(root, "incidents"), 0);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(root, "incidents")), 3);
	assert_string_equal(string_at(in, "part"), "fs2/disk:sdd");
	assert_string_equal(string_at(in, "cause"), "disk-busy");
	assert_string_equal(string_at(in, "first"), "2011-04-17T03:52:30Z");
	assert_int_equal(json_integer_value(json_object_get(in, "part_size")), 1);
	assert_int_equal(json_array_size(json_object_get(in, "components")), 1);
	assert_true(json_is_string(json_object_get(in, "advice")));
	json_decref(root);
	lp_verdict_free(v);
}

/* What JSON cannot say is null, and bytes that are no text do no harm. */
static void test_odd_values(void **state)
{
	struct lp_verdict *v = rig_verdict();
	json_t *root, *s;

	(void)state;
	v->findings[v->suspects[0].findings[0]].ratio = INFINITY;
	v->suspects[0].severity = NAN;
	v->suspects[0].indicted_us = 0;
	v->anomalies[0].distance = -INFINITY;
	lp_identity_unref(v->components[0]);
	v->components[0] = lp_identity_parse("x\xff\"\n\\y");
	root = print(v);
	s = json_array_get(json_object_get(root, "suspects"), 0);
	assert_true(json_is_null(json_object_get(s, "ratio")));
	assert_true(json_is_null(json_object_get(s, "severity")));
	assert_true(json_is_null(json_object_get(s, "indicted")));
	assert_true(json_is_null(json_object_get(
		json_array_get(json_object_get(root, "anomalies"), 0), "distance")));
	json_decref(root);
	lp_verdict_free(v);
}

static void test_empty(void **state)
{
	struct lp_verdict v = {.method = "kl", .trained = true};
	json_t *root = print(&v);

	(void)state;
	assert_true(json_is_true(json_object_get(root, "trained")));
	assert_int_equal(json_array_size(json_object_get(root, "suspects")), 0);
	assert_true(json_is_array(json_object_get(root, "incidents")));
	assert_true(json_is_null(json_object_get(root, "start")));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_anomalies),
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_incidents),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_odd_values),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
