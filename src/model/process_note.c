#include "model/process_note.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char printable(char c)
{
	return c >= ' ' && c <= '~' ? c : '?';
}

void process_note_command(const char *arguments, size_t size, char ret[PROCESS_COMMAND_MAX])
{
	size_t n = 0;

	while (size && !arguments[size - 1])
		size--;
	for (; n < size && n + 1 < PROCESS_COMMAND_MAX; n++)
		ret[n] = arguments[n] ? printable(arguments[n]) : ' ';
	ret[n] = '\0';
}

void process_note_write(const struct process_note *n, char ret[PROCESS_NOTE_MAX])
{
	snprintf(ret, PROCESS_NOTE_MAX,
		PROCESS_NOTE_BEGIN "program=%s pid=%" PRId32 " uid=%" PRId64 " command=%s",
		n->program, n->pid, n->uid, n->command);
}

/* Parse the number after `key` at `*at`, and the blank after it; `*at` moves past them. */
static bool take_number(const char **at, const char *key, int64_t least, int64_t most, int64_t *ret)
{
	size_t len = strlen(key);
	char *end;

	if (strncmp(*at, key, len) != 0)
		return false;
	errno = 0;
	*ret = strtoll(*at + len, &end, 10);
	if (errno || end == *at + len || *end != ' ' || *ret < least || *ret > most)
		return false;
	*at = end + 1;
	return true;
}

bool process_note_read(const char *line, struct process_note *ret)
{
	static const char program[] = PROCESS_NOTE_BEGIN "program=", command[] = "command=";
	struct process_note n = {0};
	const char *at = line + strlen(program);
	int64_t pid;
	size_t len;

	if (strncmp(line, program, strlen(program)) != 0)
		return false;
	len = strcspn(at, " ");
	if (!len || len >= sizeof(n.program) || at[len] != ' ')
		return false;
	for (size_t i = 0; i < len; i++)
		n.program[i] = printable(at[i]);
	at += len + 1;
	if (!take_number(&at, "pid=", 1, INT32_MAX, &pid) ||
		!take_number(&at, "uid=", -1, UINT32_MAX, &n.uid) ||
		strncmp(at, command, strlen(command)) != 0)
		return false;
	n.pid = (int32_t)pid;
	at += strlen(command);
	process_note_command(at, strlen(at), n.command);
	*ret = n;
	return true;
}
