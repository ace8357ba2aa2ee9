/* How names of functions become words: the same in the program that counts and in its reader.
 *
 * A function's name is PROGRAM:IMAGE:FUNCTION, in which colons separate the parts; semicolons
 * separate the frames of stacks, and blanks the columns of printed output.
 */
#ifndef RUNTIME_CALLS_WORDS_H
#define RUNTIME_CALLS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Make a word of a part of a name, in place; `colons`: it may contain colons. */
static inline void calls_word_make(char *word, bool colons)
{
	char *to = word;

	for (const char *from = word; *from; from++) {
		if (*from == ' ' && to > word && (to[-1] == ',' || from[1] == '>'))
			continue;
		*to++ = *from <= ' ' || *from >= 0x7f || *from == ';' || (*from == ':' && !colons)
			? '_'
			: *from;
	}
	*to = '\0';
}

/* The common name of a process on all servers, into `size` bytes: "kworker/0:1" becomes
 * "kworker". */
static inline void calls_word_program(const char *comm, char *ret, size_t size)
{
	size_t n = 0;

	for (; comm[n] && n + 1 < size && (n == 0 || comm[n] != '/'); n++)
		ret[n] = comm[n];
	ret[n] = '\0';
	calls_word_make(ret, false);
	if (!n)
		memcpy(ret, "_", 2);
}

#endif
