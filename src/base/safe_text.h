/* Untrusted text from files, such as names: which characters may be printed.
 *
 * These may not: bytes that are not UTF-8; control characters of both blocks (U+0000 to U+001F,
 * U+007F to U+009F), because they control terminals; and characters that are invisible or change
 * the direction of the following text, because they make one name look like another.
 */
#ifndef BASE_SAFE_TEXT_H
#define BASE_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the character at `text`, which must not be empty; 1 if it is not UTF-8.
 * `*ret_safe`: may it be printed? */
size_t safe_text_next(const char *text, bool *ret_safe);

/* May the whole text be printed? */
bool safe_text_is(const char *text);

/* Replace each character that may not be printed by "?". */
void safe_text_make(char *text);

#endif
