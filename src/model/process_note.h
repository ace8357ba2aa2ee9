/* The recorder's note about a process that used the CPUs, in case it runs on one server only. A
 * note is a remark in the archive, one line:
 *
 * kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb of=/dev/null
 */
#ifndef MODEL_PROCESS_NOTE_H
#define MODEL_PROCESS_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_NOTE_BEGIN "kind=process "
#define PROCESS_NOTE_MAX 200   /* bytes of a line, with its NUL */
#define PROCESS_PROGRAM_MAX 32 /* with its NUL */
#define PROCESS_COMMAND_MAX 96 /* with its NUL; longer ones are truncated */

struct process_note {
	char program[PROCESS_PROGRAM_MAX]; /* as in names of functions, without blanks */
	int32_t pid;			   /* at least 1 */
	int64_t uid;			   /* -1: not known */
	char command[PROCESS_COMMAND_MAX]; /* "": not known */
};

/* Make a command line from NUL-separated arguments: one line of printable characters. */
void process_note_command(const char *arguments, size_t size, char ret[PROCESS_COMMAND_MAX]);

void process_note_write(const struct process_note *n, char ret[PROCESS_NOTE_MAX]);

/* Parse a note; false: it is not a note. Unprintable characters are replaced. */
bool process_note_read(const char *line, struct process_note *ret);

#endif
