/* Notes about processes, which are remarks in archives, and command lines of processes. */
#include "fuzz.h"
#include "model/process_note.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1), command[PROCESS_COMMAND_MAX];
	char once[PROCESS_NOTE_MAX], twice[PROCESS_NOTE_MAX];
	struct process_note n, same;

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	process_note_command(line, size, command);
	if (process_note_read(line, &n)) {
		process_note_write(&n, once);
		if (!process_note_read(once, &same))
			abort();
		process_note_write(&same, twice);
		if (strcmp(once, twice) != 0)
			abort();
	}
	free(line);
	return 0;
}
