#include "model/process_note.h"
#include "unit.h"
#include <string.h>

static void test_round(void **state)
{
	struct process_note n = {.program = "dd", .pid = 812, .uid = 0}, got = {0};
	char line[PROCESS_NOTE_MAX];

	(void)state;
	process_note_command("dd\0if=/dev/sdb\0of=x y\0", 22, n.command);
	assert_string_equal(n.command, "dd if=/dev/sdb of=x y");
	process_note_write(&n, line);
	assert_string_equal(
		line, "kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb of=x y");
	assert_true(process_note_read(line, &got));
	assert_memory_equal(&got, &n, sizeof(n));
	n.uid = -1;
	n.command[0] = '\0';
	process_note_write(&n, line);
	assert_true(process_note_read(line, &got));
	assert_true(got.uid == -1 && !got.command[0]);
}

/* Whatever a process calls itself, it is one short line of letters. */
static void test_hostile(void **state)
{
	struct process_note n = {.pid = 1}, got = {0};
	char line[PROCESS_NOTE_MAX], many[5000];

	(void)state;
	process_note_command("\033[2J\n\x80", 6, n.command);
	assert_string_equal(n.command, "?[2J??");
	process_note_command("\0\0\0", 3, n.command);
	assert_string_equal(n.command, "");
	memset(many, 'x', sizeof(many));
	process_note_command(many, sizeof(many), n.command);
	assert_int_equal(strlen(n.command), PROCESS_COMMAND_MAX - 1);
	memset(n.program, 'p', sizeof(n.program) - 1);
	n.pid = INT32_MAX;
	n.uid = UINT32_MAX;
	process_note_write(&n, line);
	assert_true(process_note_read(line, &got));
	assert_memory_equal(&got, &n, sizeof(n));
	assert_true(process_note_read("kind=process program=a\x1b pid=1 uid=0 command=\x1b", &got));
	assert_string_equal(got.program, "a?");
	assert_string_equal(got.command, "?");
}

static void test_none(void **state)
{
	static const char *const lines[] = {"", "kind=clock-step step_us=1", "kind=process ",
		"kind=process program= pid=1 uid=0 command=", "kind=process program=a",
		"kind=process program=a pid=0 uid=0 command=x",
		"kind=process program=a pid=-1 uid=0 command=x",
		"kind=process program=a pid=99999999999 uid=0 command=x",
		"kind=process program=a pid=1 uid=-2 command=x",
		"kind=process program=a pid=1 uid= command=x", "kind=process program=a pid=1 uid=0",
		"kind=process program=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa pid=1 uid=0 command=x"};
	struct process_note got = {.pid = 7};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_false(process_note_read(lines[i], &got));
	assert_int_equal(got.pid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_round),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
