/* A string that grows. Zero-initialise it (`struct strbuf sb = {0}`), append, strbuf_release(). If
 * an allocation fails, `failed` is set and later appends do nothing, so a sequence of appends needs
 * only one check at its end.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *text; /* NUL-terminated, NULL while empty */
	size_t len, cap;
	bool failed;
};

void strbuf_release(struct strbuf *sb);
void strbuf_reset(struct strbuf *sb);		     /* empty it, keep the memory */
void strbuf_reserve(struct strbuf *sb, size_t more); /* room for `more` bytes after `len` */
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_puts(struct strbuf *sb, const char *s);
void strbuf_putc(struct strbuf *sb, char c);
void strbuf_printf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return the text, which the caller frees ("" if empty, NULL if an append failed). */
char *strbuf_take(struct strbuf *sb);

#endif
