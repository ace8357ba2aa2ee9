/* What a recorder notes of a process that the CPUs were found in: who it is, for the case that it
 * turns out to run on one server only. A note is one line, a remark in the archive:
 *
 *   kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb of=/dev/null
 */
#ifndef MODEL_PROCESS_NOTE_H
#define MODEL_PROCESS_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_NOTE_BEGIN "kind=process "
#define PROCESS_NOTE_MAX 200   /* bytes of a line, with its NUL */
#define PROCESS_PROGRAM_MAX 32 /* with its NUL */
#define PROCESS_COMMAND_MAX 96 /* with its NUL; longer ones are cut */

struct process_note {
	char program[PROCESS_PROGRAM_MAX]; /* as in names of functions, without blanks */
	int32_t pid;			   /* at least 1 */
	int64_t uid;			   /* -1: not known */
	char command[PROCESS_COMMAND_MAX]; /* "": not known */
};

/* Make a command line of arguments that are separated by NULs: only what can be printed, in one
 * line. */
void process_note_command(const char *arguments, size_t size, char ret[PROCESS_COMMAND_MAX]);

void process_note_write(const struct process_note *n, char ret[PROCESS_NOTE_MAX]);

/* False: it is no such note. What cannot be printed is replaced. */
bool process_note_read(const char *line, struct process_note *ret);

#endif
