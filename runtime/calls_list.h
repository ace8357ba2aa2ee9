/* Lists of functions to count or not to count, in the program that counts.
 *
 * A list is text. Its lines are "on NAME" and "off NAME", NAME being PROGRAM:IMAGE:FUNCTION or a
 * pattern of shell wildcards for that; the last match counts, and a function without a match is on.
 * Other lines are ignored here: limpet checks lists when it creates them.
 */
#ifndef RUNTIME_CALLS_LIST_H
#define RUNTIME_CALLS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls_line {
	const char *name;
	uint32_t len;
	bool on, pattern;
};

struct calls_list {
	struct calls_line *lines;
	uint32_t n;
	char *text; /* the memory of the lines */
	size_t text_size, lines_size;
};

/* Copy and parse a text. False: not a list, or out of memory. */
bool calls_list_take(const char *text, size_t size, struct calls_list *ret);
bool calls_list_read(const char *path, struct calls_list *ret);

void calls_list_release(struct calls_list *l);

/* Does the list contain this function? */
bool calls_list_says(const struct calls_list *l, const char *name, bool *ret_on);

#endif
