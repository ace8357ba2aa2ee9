/* Text from files that anybody may have written, such as names: which characters may be shown.
 *
 * Not shown are bytes that are not UTF-8, control characters of both blocks (U+0000 to U+001F,
 * U+007F to U+009F), which control terminals, and characters that are invisible or change the
 * direction of the following text, so that a name looks like another one.
 */
#ifndef BASE_SAFE_TEXT_H
#define BASE_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the character at `text`, which must not be at its end: 1 if it is not
 * UTF-8. `*ret_safe`: may it be shown? */
size_t safe_text_next(const char *text, bool *ret_safe);

/* May all of it be shown? */
bool safe_text_is(const char *text);

/* Put "?" in place of each character that may not be shown. */
void safe_text_make(char *text);

#endif
