/* Rows that are events at arbitrary times, converted to samples at regular times. */
#ifndef IMPORT_CSV_EVENTS_H
#define IMPORT_CSV_EVENTS_H

#include "import/csv_rows.h"
#include <limpet/err.h>

enum csv_events {
	CSV_EVENTS_NONE = 0, /* rows are samples */
	CSV_EVENTS_HELD,     /* a value is valid until the next one */
	CSV_EVENTS_RATED,    /* values are amounts; they are summed and divided by time */
};

/* "held" or "rated"; NULL is none. */
int csv_events_parse(const char *text, enum csv_events *ret, struct lp_err *err);

/* Replace the rows by samples every `step_us`; the last one covers the last event. Before the first
 * event of a series, a held value is missing, and a rate is 0 from the first event of the file on.
 * -E2BIG: there would be more than `max` values; if that is 0, the limit is in proportion to the
 * events. */
int csv_events_sample(struct csv_rows *rows, enum csv_events how, int64_t step_us, uint64_t max,
	struct lp_err *err);

#endif
