/* JSON that is written as it is made, for output too long to be built in memory first. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdio.h>

/* A string with its quotes. Bytes that are no UTF-8 are written as "?". */
void json_write_string(FILE *out, const char *text);

#endif
