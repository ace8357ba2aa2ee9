/* Text in HTML. Names come from files that anybody may have written: all go through these
 * functions. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

/* Text for the content of an element or of a quoted attribute. Markup becomes entities; control
 * characters and bytes that are not UTF-8 become U+FFFD. */
void html_write(FILE *out, const char *text);

/* A name in an element of class "name", isolated from the text around it (a name in a right-to-left
 * script must not reorder it). */
void html_write_name(FILE *out, const char *name);

#endif
