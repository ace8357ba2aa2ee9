/* Accounts of experiments, and the truth that is made from them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "explain/score.h"
#include "lab/run_state.h"
#include "temp_dir.h"
#include <errno.h>
#include <jansson.h>

#define T0 INT64_C(1700000000000000)

/* "ddw" with these faults, placed. */
static void experiment_of(const char *faults_text, struct plan *ret)
{
	char text[256];
	struct lp_err err = {0};

	snprintf(text, sizeof(text), "%s\n", faults_text);
	if (plan_parse("p", text, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static struct run_account account_of(const struct experiment *e)
{
	struct run_account a = {.experiment = e,
		.fault_start_us = T0 + 60000000,
		.fault_end_us = T0 + 180500000,
		.attempt = 1,
		.samples = 240};

	for (unsigned i = 0; i < RUN_PHASES; i++)
		a.phases[i] = (struct run_phase){.start_us = T0 + i * 10000000,
			.end_us = T0 + (i + 1) * 10000000,
			.bytes = i * 5000};
	return a;
}

enum trust { SOUND, DISTURBED, ACCEPTED };

/* Write the account of the only experiment of a plan as OUT/FILE. */
static void write_account(const char *plan_text, const char *file, enum trust trust)
{
	_cleanup_(plan_release) struct plan p = {0};
	struct plan_run run = {.plan = &p};
	struct run_account a;
	struct lp_err err = {0};

	experiment_of(plan_text, &p);
	run.lab.config = p.lab;
	a = account_of(&p.experiments[0]);
	a.disturbed = trust != SOUND;
	a.accepted = trust == ACCEPTED;
	if (run_account_write(&run, &a, temp_path(file), &err) < 0)
		fail_msg("%s", err.text);
}

static char *slurp(const char *file)
{
	char *text = NULL;
	size_t size;

	assert_int_equal(file_slurp(temp_path(file), 1 << 20, &text, &size, NULL), 0);
	return text;
}

static void accounts_say_what_was_done(void **state)
{
	json_t *json, *fault, *phase;

	(void)state;
	write_account("run ddw slow-disk:2@s3", "ddw-slow-disk_2-1.json", SOUND);
	json = json_load_file(temp_path("ddw-slow-disk_2-1.json"), 0, NULL);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "workload")), "ddw");
	fault = json_array_get(json_object_get(json, "faults"), 0);
	assert_string_equal(json_string_value(json_object_get(fault, "server")), "s3");
	assert_float_equal(json_number_value(json_object_get(fault, "strength")), 2, 0);
	assert_string_equal(
		json_string_value(json_object_get(fault, "end")), "2023-11-14T22:16:20.5Z");
	assert_int_equal(json_array_size(json_object_get(json, "phases")), RUN_PHASES);
	phase = json_array_get(json_object_get(json, "phases"), 2);
	assert_string_equal(json_string_value(json_object_get(phase, "phase")), "fault");
	assert_float_equal(json_number_value(json_object_get(phase, "bytes_per_s")), 1000, 1e-9);
	json_decref(json);
}

static void truth_has_a_row_for_each_fault(void **state)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(score_truth_release) struct score_truth truth = {0};
	struct lp_err err = {0};

	(void)state;
	write_account("run ddw none", "ddw-none-1.json", SOUND);
	write_account("train ddw", "ddw-train-1.json", SOUND);
	write_account("run ddw disk-hog@s1+pause@s2", "ddw-disk-hog+pause-1.json", SOUND);
	write_account("run ddw slow-disk:2@s3", "ddw-slow-disk_2-1.json", SOUND);
	write_account("run ddw disk-busy@s3", "ddw-disk-busy-1.disturbed.json", DISTURBED);
	write_account("run ddr disk-busy@s4", "ddr-disk-busy-1.json", ACCEPTED);
	temp_text("other.json", "{\"what\": \"is this\"}\n");
	temp_text("broken.json", "{\"name\": ");
	if (run_truth_write(temp_dir_path, &err) < 0)
		fail_msg("%s", err.text);
	text = slurp("truth.csv");
	assert_non_null(strstr(text, "verdict,component,cause,diagnosis,start,end,workload\n"));
	assert_non_null(strstr(text, "\nddw-disk-hog+pause-1,s1,disk-hog,"));
	assert_non_null(strstr(text, "\nddw-disk-hog+pause-1,s2,pause,"));
	assert_non_null(strstr(text, "\nddw-none-1,,,,,,ddw\n"));
	assert_non_null(strstr(text, "\nddw-train-1,,,,,,ddw\n"));
	assert_non_null(strstr(text, "\nddw-slow-disk_2-1,s3,slow-disk:2,"));
	assert_non_null(strstr(text, ",2023-11-14T22:14:20Z,2023-11-14T22:16:20.5Z,ddw\n"));
	assert_null(strstr(text, "ddw-disk-busy"));
	assert_non_null(strstr(text, "\nddr-disk-busy-1,s4,disk-busy,"));
	if (score_truth_read(temp_path("truth.csv"), &truth, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(truth.n, 6);
}

static void only_whole_experiments_are_whole(void **state)
{
	_cleanup_(plan_release) struct plan p = {0};
	const struct experiment *e;

	(void)state;
	experiment_of("run ddr none", &p);
	e = &p.experiments[0];
	assert_false(run_account_whole(temp_dir_path, e));
	temp_mkdir("ddr-none-1");
	assert_false(run_account_whole(temp_dir_path, e));
	temp_text("ddr-none-1.json", "{\"name\": \"ddr-no");
	assert_false(run_account_whole(temp_dir_path, e));
	write_account("run ddr none", "ddr-none-1.json", DISTURBED);
	assert_false(run_account_whole(temp_dir_path, e));
	write_account("run ddr none", "ddr-none-1.json", ACCEPTED);
	assert_true(run_account_whole(temp_dir_path, e));
	write_account("run ddr none", "ddr-none-1.json", SOUND);
	assert_true(run_account_whole(temp_dir_path, e));
	assert_int_equal(rmdir(temp_path("ddr-none-1")), 0);
	assert_false(run_account_whole(temp_dir_path, e));
}

/* Removing a recording takes archives and nothing else. */
static void recordings_are_removed(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(run_record_remove(temp_path("run.part"), &err), 0);
	temp_mkdir("run.part");
	temp_text("run.part/s1-20240101T000000Z.lpa", "x");
	temp_text("run.part/s1-20240101T000000Z.lpa.tmp", "x");
	temp_text("run.part/.s1.lock", "");
	assert_int_equal(run_record_remove(temp_path("run.part"), &err), 0);
	assert_int_not_equal(access(temp_path("run.part"), F_OK), 0);
	temp_mkdir("run.part");
	temp_text("run.part/thesis.tex", "x");
	assert_int_equal(run_record_remove(temp_path("run.part"), &err), -ENOTEMPTY);
	assert_int_equal(access(temp_path("run.part/thesis.tex"), F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			accounts_say_what_was_done, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(
			truth_has_a_row_for_each_fault, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(
			only_whole_experiments_are_whole, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(
			recordings_are_removed, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
