/* Events as lines of JSON, for the tests. */
#ifndef PRINT_EVENT_H
#define PRINT_EVENT_H

#include "model/trace_event.h"

/* All of it; "text" in hexadecimal digits. */
void print_event(const struct trace_event *e);

#endif
