/* Text for a terminal: made harmless, and flowed into lines. */
#ifndef REPORT_FLOW_H
#define REPORT_FLOW_H

#include <stddef.h>
#include <stdio.h>

#define FLOW_WIDTH_MIN 40

/* Print text out of files that anybody may have written: what may not be shown (base/safe_text.h)
 * becomes "?", so that none may steer the terminal. */
void flow_print_safe(FILE *out, const char *text);

/* The same for all that the format makes, which is one line: its end is added. */
void flow_print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Characters of UTF-8, as near as one comes without tables of their widths. */
size_t flow_text_width(const char *text);

/* A paragraph: its words in lines of at most `width`, each indented by `indent`. `column` says
 * where the next character goes; 0 is the beginning of a line. */
struct flow {
	FILE *out;
	size_t width, indent, column;
};

/* Add the words of a text (harmless as by flow_print_safe()). */
void flow_add(struct flow *f, const char *text);
void flow_addf(struct flow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the paragraph, if anything is in it. */
void flow_end(struct flow *f);

#endif
