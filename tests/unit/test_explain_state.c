#include "temp_dir.h"

#include "explain/state.h"
#include <errno.h>
#include <sqlite3.h>
#include <sys/wait.h>

#define DAY INT64_C(86400000000)

static struct operator_state *open_state(const char *path, bool read_only)
{
	struct operator_state *s = NULL;
	struct lp_err err = {0};

	if (state_open(path, read_only, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void say(struct operator_state *s, enum state_verb verb, const char *component,
	int64_t at_us, int64_t until_us)
{
	struct state_entry e = {(char *)(uintptr_t)component, verb, at_us, until_us,
		(char *)(uintptr_t) "it's \"so\"; DROP TABLE said"};
	struct lp_err err = {0};

	if (state_say(s, &e, &err) < 0)
		fail_msg("%s", err.text);
}

static unsigned count(const struct operator_state *s)
{
	unsigned n;

	state_entries(s, &n);
	return n;
}

static void test_round_trip(void **state)
{
	const char *path = temp_path("state.db");
	struct operator_state *s = open_state(path, false);
	const struct state_entry *e;
	unsigned n;

	(void)state;
	say(s, STATE_MUTE, "oss1/disk:sdb", 5, 7);
	say(s, STATE_ACK, "oss1/disk:sdb", 6, 0);
	say(s, STATE_ACK, "a'b\"%/disk:\xff", 6, 0);
	say(s, STATE_MUTE, "oss1/disk:sdb", 8, 9); /* replaces */
	state_close(s);
	s = open_state(path, true);
	e = state_entries(s, &n);
	assert_int_equal(n, 3);
	assert_string_equal(e[0].component, "a'b\"%/disk:\xff");
	assert_string_equal(e[2].component, "oss1/disk:sdb");
	assert_int_equal(e[2].verb, STATE_MUTE);
	assert_int_equal(e[2].at_us, 8);
	assert_int_equal(e[2].until_us, 9);
	assert_string_equal(e[2].note, "it's \"so\"; DROP TABLE said");
	state_close(s);
}

static void test_missing_and_empty(void **state)
{
	struct operator_state *s = open_state(temp_path("none.db"), true);

	(void)state;
	assert_int_equal(count(s), 0);
	assert_false(state_holds(s, STATE_MUTE, "a/b:c", 1));
	state_close(s);
	assert_int_equal(access(temp_path("none.db"), F_OK), -1); /* reading makes no file */
	s = open_state(temp_text("empty.db", ""), true);
	assert_int_equal(count(s), 0);
	state_close(s);
	s = open_state(temp_path("empty.db"), false);
	say(s, STATE_ACK, "a/b:c", 1, 0);
	state_close(s);
	state_close(NULL);
}

static void test_holds(void **state)
{
	struct operator_state *s = open_state(temp_path("holds.db"), false);

	(void)state;
	say(s, STATE_MUTE, "oss1/*", 10, 20);
	say(s, STATE_ACK, "oss?/disk:sd[ab]", 10, 0);
	say(s, STATE_ACK, "c/tcp:[fe80::1]:in", 10, 0);
	assert_false(state_holds(s, STATE_MUTE, "oss1/disk:sda", 9));
	assert_true(state_holds(s, STATE_MUTE, "oss1/disk:sda", 10));
	assert_true(state_holds(s, STATE_MUTE, "oss1/net:eth0", 19));
	assert_false(state_holds(s, STATE_MUTE, "oss1/disk:sda", 20));
	assert_false(state_holds(s, STATE_MUTE, "oss11/disk:sda", 15));
	assert_true(state_holds(s, STATE_ACK, "oss7/disk:sdb", 99 * DAY));
	assert_false(state_holds(s, STATE_ACK, "oss7/disk:sdc", 99 * DAY));
	assert_true(state_holds(s, STATE_ACK, "c/tcp:[fe80::1]:in", 11));
	assert_int_equal(state_cleared(s, "oss1/disk:sda"), 0);
	say(s, STATE_CLEAR, "oss1/disk:sda", 30, 0);
	say(s, STATE_CLEAR, "oss1/*", 50, 0);
	say(s, STATE_CLEAR, "*", 40, 0);
	assert_int_equal(state_cleared(s, "oss1/disk:sda"), 50);
	assert_int_equal(state_cleared(s, "oss2/disk:sda"), 40);
	state_close(s);
}

static void test_forget(void **state)
{
	struct operator_state *s = open_state(temp_path("forget.db"), false);
	unsigned n = 9;

	(void)state;
	say(s, STATE_MUTE, "a/b:*", 1, 0);
	say(s, STATE_ACK, "a/b:*", 1, 0);
	assert_int_equal(state_forget(s, STATE_MUTE, "a/b:c", &n, NULL), 0);
	assert_int_equal(n, 0); /* as it was given, not whom it is about */
	assert_int_equal(state_forget(s, STATE_MUTE, "a/b:*", &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(count(s), 1);
	assert_true(state_holds(s, STATE_ACK, "a/b:c", 2));
	state_close(s);
}

static void expect_refusal(const char *path, bool read_only, const char *words)
{
	struct operator_state *s = NULL;
	struct lp_err err = {0};
	int r = state_open(path, read_only, &s, &err);

	assert_true(r < 0);
	assert_null(s);
	assert_non_null(strstr(err.text, path));
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void refuse_both(const char *path, const char *words)
{
	expect_refusal(path, true, words);
	expect_refusal(path, false, words);
}

static void test_foreign_files(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'x', sizeof(text));
	refuse_both(temp_write("text", text, sizeof(text)), "move it away");
	run_sql(temp_path("other.db"), "CREATE TABLE said(x); PRAGMA user_version = 1");
	refuse_both(temp_path("other.db"), "another program");
	run_sql(temp_path("future.db"),
		"CREATE TABLE x(x); PRAGMA application_id = 1280135252; PRAGMA user_version = 7");
	refuse_both(temp_path("future.db"), "newer");
	run_sql(temp_path("lacks.db"),
		"CREATE TABLE x(x); PRAGMA application_id = 1280135252; PRAGMA user_version = 1");
	refuse_both(temp_path("lacks.db"), "said");
	expect_refusal("/", false, "cannot open");
	expect_refusal("/proc/nowhere/state.db", false, "/proc/nowhere");
}

/* Content that an attacker may have put into a file with our application id. */
static void test_hostile_files(void **state)
{
#define TABLE "CREATE TABLE said (component, verb, at_us, until_us, note); "
	static const struct {
		const char *file, *sql, *refusal;
	} cases[] = {
		{"view.db",
			"CREATE VIEW said AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + "
			"1 FROM t) SELECT 'c' component, 'ack' verb, n at_us, 0 until_us, '' note "
			"FROM t",
			"not a state file"},
		{"verb.db", TABLE "INSERT INTO said VALUES ('a', 'explode', 1, 0, '')", "neither"},
		{"null.db", TABLE "INSERT INTO said VALUES (NULL, 'ack', 'x', 0, '')",
			"invalid text"},
		{"long.db", TABLE "INSERT INTO said VALUES (hex(zeroblob(4096)), 'ack', 0, 0, '')",
			"invalid text"},
	};
	char sql[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(sql, sizeof(sql),
			"PRAGMA application_id = 1280135252; PRAGMA user_version = 1; %s",
			cases[i].sql);
		run_sql(temp_path(cases[i].file), sql);
		refuse_both(temp_path(cases[i].file), cases[i].refusal);
	}
#undef TABLE
}

static void expect_same(const char *path, const char *bytes, size_t n)
{
	char *now = malloc(n + 1);
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(now, 1, n + 1, f), n);
	assert_memory_equal(now, bytes, n);
	fclose(f);
	free(now);
}

/* Any byte may be wrong: an error or other entries, but no crash, and the file stays as it is. */
static void test_damage(void **state)
{
	const char *path = temp_path("damage.db");
	struct operator_state *s = open_state(path, false);
	char bytes[65536], copy[65536];
	FILE *f;
	size_t n;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "oss%d/disk:sda", i);
		say(s, STATE_ACK, name, i, 0);
	}
	state_close(s);
	f = fopen(path, "r");
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	srand(3);
	for (int i = 0; i < 500; i++) {
		struct lp_err err = {0};

		memcpy(copy, bytes, n);
		for (int k = 0; k < 1 + i % 5; k++)
			copy[(size_t)rand() % (i % 2 ? n : 120)] ^= (char)(1 << rand() % 8);
		path = temp_write("damaged.db", copy, n);
		s = NULL;
		if (state_open(path, true, &s, &err) < 0)
			assert_non_null(strstr(err.text, path));
		state_close(s);
		expect_same(path, copy, n);
	}
	path = temp_write("cut.db", bytes, n / 2);
	expect_refusal(path, true, "move it away");
}

/* Several programs write at once; no statement is lost. */
static void test_concurrent(void **state)
{
	const char *path = temp_path("busy.db");
	struct operator_state *s;
	pid_t children[4];

	(void)state;
	for (int c = 0; c < 4; c++) {
		children[c] = fork();
		if (children[c] == 0) {
			for (int i = 0; i < 10; i++) {
				struct state_entry e = {.verb = STATE_ACK, .note = NULL};
				char name[32];

				snprintf(name, sizeof(name), "oss%d/disk:sd%d", c, i);
				e.component = name;
				s = NULL;
				if (state_open(path, false, &s, NULL) < 0 ||
					state_say(s, &e, NULL) < 0)
					_exit(1);
				state_close(s);
			}
			_exit(0);
		}
	}
	for (int c = 0; c < 4; c++) {
		int status;

		assert_int_equal(waitpid(children[c], &status, 0), children[c]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	s = open_state(path, true);
	assert_int_equal(count(s), 40);
	state_close(s);
}

static void test_bad_words(void **state)
{
	struct operator_state *s = open_state(temp_path("words.db"), false);
	char long_name[8192];
	struct state_entry e = {.component = long_name, .verb = STATE_ACK};
	struct lp_err err = {0};

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(state_say(s, &e, &err), -EINVAL);
	long_name[0] = '\0';
	assert_int_equal(state_say(s, &e, &err), -EINVAL);
	assert_int_equal(count(s), 0);
	state_close(s);
}

/* A typing error in a path makes no directories. */
static void test_no_directory(void **state)
{
	(void)state;
	expect_refusal(temp_path("deep/er/state.db"), false, "its directory does not exist");
	assert_int_equal(access(temp_path("deep"), F_OK), -1);
}

static void test_default_path(void **state)
{
	struct lp_err err = {0};
	char *path;

	(void)state;
	setenv("LIMPET_STATE", "/x/y.db", 1);
	path = state_default_path();
	assert_string_equal(path, "/x/y.db");
	free(path);
	setenv("LIMPET_STATE", temp_path("typo/s.db"), 1);
	assert_int_equal(state_default_dir_make(&err), 0);
	assert_int_equal(access(temp_path("typo"), F_OK), -1);
	unsetenv("LIMPET_STATE");
	setenv("XDG_STATE_HOME", "/xdg", 1);
	path = state_default_path();
	assert_string_equal(
		path, geteuid() == 0 ? "/var/lib/limpet/state.db" : "/xdg/limpet/state.db");
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_missing_and_empty),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_concurrent),
		cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_default_path),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
