/* Text in HTML. Names come from files and are not trusted: all of them go through these
 * functions. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

/* Write text as the contents of an element or of a quoted attribute. Markup becomes entities;
 * control characters and bytes that are not UTF-8 become U+FFFD. */
void html_write(FILE *out, const char *text);

/* The same for the contents of an element: times in ISO 8601 become elements of their own, which
 * the page shows in the reader's zone. */
void html_write_sentence(FILE *out, const char *text);

/* A name in an element of class "name", isolated from the text around it, because a name in a
 * right-to-left script must not reorder it. */
void html_write_name(FILE *out, const char *name);

#endif
