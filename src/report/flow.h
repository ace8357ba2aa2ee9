/* Text for a terminal: made safe, and wrapped into lines. */
#ifndef REPORT_FLOW_H
#define REPORT_FLOW_H

#include <stddef.h>
#include <stdio.h>

#define FLOW_WIDTH_MIN 40

/* Print untrusted text: characters that may not be printed (base/safe_text.h) become "?", so that
 * they cannot control the terminal. */
void flow_print_safe(FILE *out, const char *text);

/* The same for a formatted line, with a line end. */
void flow_print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The number of UTF-8 characters, which approximates the width. */
size_t flow_text_width(const char *text);

/* A paragraph: its words in lines of at most `width`, each indented by `indent`. `column` is the
 * column of the next character; 0 is the beginning of a line. */
struct flow {
	FILE *out;
	size_t width, indent, column;
};

/* Add the words of a text, made safe like in flow_print_safe(). */
void flow_add(struct flow *f, const char *text);
void flow_addf(struct flow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the paragraph, if it is not empty. */
void flow_end(struct flow *f);

#endif
