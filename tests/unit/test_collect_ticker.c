#include "collect/ticker.h"
#include "collect_util.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static void make_moment(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void assert_moment(
	struct ticker *t, const struct proc_root *root, const char *dir, const char *name)
{
	struct lp_err err = {0};
	unsigned before = root->generation;
	int64_t wall_us, mono_us;
	char path[256];

	assert_int_equal(t->wait(t, INT64_MAX, &err), TICKER_DUE);
	t->now(t, &wall_us, &mono_us);
	assert_int_equal(wall_us, at(name));
	assert_int_equal(mono_us, wall_us);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_string_equal(root->dir, path);
	assert_int_equal(root->generation, before + 1);
}

static void test_replay(void **state)
{
	struct place *p = *state;
	struct proc_root root = {.dir = p->dir};
	struct lp_err err = {0};
	struct ticker *t = NULL;
	char first[256];

	make_moment(p->dir, "20240301T120010Z");
	make_moment(p->dir, "20240301T120000Z");
	make_moment(p->dir, "20240301T115959Z");
	make_moment(p->dir, "notes");
	assert_int_equal(ticker_replay(p->dir, &root, &t, &err), 0);
	assert_true(t->patient);
	assert_int_equal(t->interval_us, US_PER_SEC);
	snprintf(first, sizeof(first), "%s/20240301T115959Z", p->dir);
	assert_string_equal(root.dir, first); /* collectors open there */
	assert_moment(t, &root, p->dir, "20240301T115959Z");
	assert_moment(t, &root, p->dir, "20240301T120000Z");
	assert_moment(t, &root, p->dir, "20240301T120010Z");
	assert_int_equal(t->wait(t, 0, &err), TICKER_STOP);
	assert_int_equal(t->wait(t, 0, &err), TICKER_STOP);
	ticker_free(t);
	ticker_free(NULL);
}

static void test_replay_nothing(void **state)
{
	struct place *p = *state;
	struct proc_root root = {.dir = p->dir};
	struct lp_err err = {0};
	struct ticker *t = NULL;
	char path[256];

	assert_int_equal(ticker_replay(p->dir, &root, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "named by time"));
	snprintf(path, sizeof(path), "%s/nowhere", p->dir);
	assert_int_equal(ticker_replay(path, &root, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nowhere"));
	assert_null(t);
}

/* It is due at the instant, not before. */
static void test_system_aligned(void **state)
{
	const int64_t interval = US_PER_SEC / 20;
	struct ticker *t = NULL;
	struct lp_err err = {0};
	int64_t wall_us, mono_us, last_mono;

	(void)state;
	assert_int_equal(ticker_system(&t, &err), 0);
	assert_false(t->patient);
	assert_int_equal(t->interval_us, 0);
	t->now(t, &wall_us, &last_mono);
	for (int i = 0; i < 3; i++) {
		int64_t until = (floor_div(wall_us, interval) + 1) * interval;

		assert_int_equal(t->wait(t, until, &err), TICKER_DUE);
		t->now(t, &wall_us, &mono_us);
		assert_true(wall_us >= until);
		assert_true(mono_us > last_mono);
		last_mono = mono_us;
	}
	assert_int_equal(t->wait(t, 1, &err), TICKER_DUE); /* long ago: at once */
	ticker_free(t);
}

/* In a separate process: how does waiting end when signal `number` comes? */
static int stopped_by(int number)
{
	struct ticker *t = NULL;
	struct lp_err err = {0};
	int64_t wall_us, mono_us;
	int event;

	if (ticker_system(&t, &err) < 0)
		return 100;
	raise(number);
	t->now(t, &wall_us, &mono_us);
	event = t->wait(t, wall_us + US_PER_SEC / 20, &err);
	ticker_free(t);
	return event;
}

static int stopped_by_in_child(int number, bool ignored)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(number, ignored ? SIG_IGN : SIG_DFL);
		_exit(stopped_by(number));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_system_signals(void **state)
{
	(void)state;
	assert_int_equal(stopped_by_in_child(SIGTERM, false), TICKER_STOP);
	assert_int_equal(stopped_by_in_child(SIGINT, false), TICKER_STOP);
	assert_int_equal(stopped_by_in_child(SIGHUP, false), TICKER_STOP);
	assert_int_equal(stopped_by_in_child(SIGHUP, true), TICKER_DUE); /* nohup */
	assert_int_equal(stopped_by_in_child(SIGINT, true), TICKER_DUE); /* "&" in a script */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_replay),
		place_test(test_replay_nothing),
		cmocka_unit_test(test_system_aligned),
		cmocka_unit_test(test_system_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
