/* Text in HTML. Names come from files that anybody may have written: all go through here. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

/* Text for the content of an element or of a quoted attribute. Markup becomes entities; control
 * characters and bytes that are no UTF-8 become U+FFFD. */
void html_write(FILE *out, const char *text);

/* The name of a thing in an element of class "name", apart from the text around it (a name in a
 * script written from right to left must not turn that around). */
void html_write_name(FILE *out, const char *name);

#endif
