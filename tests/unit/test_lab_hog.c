#include "lab/hog.h"

#include "emulator.h"
#include "lab/tool.h"
#include "temp_dir.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>

/* A lab without namespaces: its processes live where the test lives. */
static struct lab lab_make(void)
{
	struct lab lab = {.n_nodes = 2};

	snprintf(lab.config.name, sizeof(lab.config.name), "hogtest%d", getpid());
	snprintf(lab.dir, sizeof(lab.dir), "%s", temp_path(""));
	snprintf(lab.nodes[0].name, sizeof(lab.nodes[0].name), "s1");
	snprintf(lab.nodes[1].name, sizeof(lab.nodes[1].name), "x1");
	temp_mkdir("run");
	temp_mkdir("log");
	return lab;
}

static const char *const argv_children[] = {
	"sh", "-c", "sleep 600 & echo $! > $0; sleep 600 & wait", NULL, NULL};

static bool runs(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	in = fopen(path, "r");
	if (!in)
		return false;
	if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(in);
	return state != 'Z';
}

/* A process that was killed has given its environment back, by which hog_stop() knows it, a moment
 * before it has ended. */
static bool ends(pid_t pid)
{
	for (unsigned i = 0; i < 1000 && runs(pid); i++)
		hog_wait(10);
	return !runs(pid);
}

static pid_t child_pid(const char *path)
{
	for (unsigned i = 0; i < 1000; i++) {
		FILE *in = fopen(path, "r");
		char line[32] = "";

		if (in && !fgets(line, sizeof(line), in))
			*line = '\0';
		if (in)
			fclose(in);
		if (strchr(line, '\n'))
			return (pid_t)strtol(line, NULL, 10);
		hog_wait(10);
	}
	fail_msg("%s was not written", path);
	return 0;
}

static void test_start_and_stop(void **state)
{
	struct lab lab = lab_make();
	const struct hog h = {&lab, &lab.nodes[0], "test-hog"};
	const char *const argv[] = {"sleep", "600", NULL};
	struct lp_err err = {0};
	pid_t pid;

	(void)state;
	skip_if_emulated("start time of its own process");
	assert_int_equal(hog_verify(&h, h.on, &err), -ESRCH);
	assert_non_null(strstr(err.text, "the process of test-hog on s1 is not running"));
	assert_int_equal(hog_start(&h, h.on, argv, &err), 0);
	pid = tool_pid(temp_path("run/s1-test-hog.pid"));
	assert_true(pid > 0 && runs(pid));
	assert_int_equal(hog_verify(&h, h.on, &err), 0);
	assert_int_equal(hog_stop(&h, &err), 0);
	assert_true(ends(pid));
	assert_int_equal(hog_verify(&h, h.on, &err), -ESRCH);
	assert_int_equal(access(temp_path("run/s1-test-hog.pid"), F_OK), -1);
	assert_int_equal(hog_stop(&h, &err), 0);
}

/* Also children, also if the files are gone, and no others. */
static void test_stop_finds_all(void **state)
{
	struct lab lab = lab_make();
	const struct hog h = {&lab, &lab.nodes[0], "test-hog"},
			 other = {&lab, &lab.nodes[0], "other-hog"};
	const char *const argv_other[] = {"sleep", "600", NULL};
	const char *argv[] = {
		argv_children[0], argv_children[1], argv_children[2], temp_path("child"), NULL};
	struct lp_err err = {0};
	pid_t pid, child;

	(void)state;
	skip_if_emulated("start time of its own process");
	assert_int_equal(hog_start(&h, &lab.nodes[1], argv, &err), 0);
	assert_int_equal(hog_start(&other, other.on, argv_other, &err), 0);
	pid = tool_pid(temp_path("run/s1-test-hog-x1.pid"));
	child = child_pid(temp_path("child"));
	assert_true(runs(pid) && runs(child));
	assert_int_equal(unlink(temp_path("run/s1-test-hog-x1.pid")), 0);
	assert_int_equal(hog_stop(&h, &err), 0);
	assert_true(ends(pid));
	assert_true(ends(child));
	assert_int_equal(hog_verify(&other, other.on, &err), 0);
	assert_int_equal(hog_stop(&other, &err), 0);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_start_and_stop),
		IN_DIR(test_stop_finds_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
