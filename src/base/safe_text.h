/* Text out of files that anybody may have written, such as names: what of it may be shown.
 *
 * Not shown are bytes that are no UTF-8, control characters of both blocks (U+0000 to U+001F,
 * U+007F to U+009F), which steer terminals, and characters that are invisible or turn the direction
 * of what follows them, so that a name looks like another one.
 */
#ifndef BASE_SAFE_TEXT_H
#define BASE_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the character at `text` has, which must not be at its end: 1 where they are no
 * UTF-8. `*ret_safe`: may it be shown? */
size_t safe_text_next(const char *text, bool *ret_safe);

/* May all of it be shown? */
bool safe_text_is(const char *text);

/* Put "?" in place of each character that may not be shown. */
void safe_text_make(char *text);

#endif
