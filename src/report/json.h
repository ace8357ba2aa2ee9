/* Writes JSON incrementally, for output that is too long to build in memory. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

/* A string of any bytes; those that are not UTF-8 become "?". NULL: out of memory. */
json_t *json_text(const char *text);

/* Print `root` in lines, and take ownership of it. 0, or -ENOMEM if it is NULL or memory runs
 * out. */
int json_print(FILE *out, json_t *root);

/* A string with its quotes. Bytes that are not UTF-8 are written as "?". */
void json_write_string(FILE *out, const char *text);

/* Labels of a component, "key=value" lines, as an object. */
void json_write_labels(FILE *out, const char *labels);

#endif
