/* Times of day for people: in the reader's zone, with the date unless it is today's. */
#ifndef REPORT_CLOCK_H
#define REPORT_CLOCK_H

#include "base/strbuf.h"
#include <stdint.h>

struct clock_style {
	bool utc;	/* not the zone of the environment (TZ) */
	int64_t now_us; /* times of this day have no date; 0: every time has one */
};

/* "12:34:21", or "2026-11-15 12:34:21" for another day. */
void clock_add(struct strbuf *sb, const struct clock_style *style, int64_t wall_us);

/* The same for a time that follows another one: on the same day it has no date. */
void clock_add_later(
	struct strbuf *sb, const struct clock_style *style, int64_t wall_us, int64_t than_us);

/* "2026-11-15 12:34 to 12:35 UTC"; with seconds if it is less than ten minutes. */
void clock_add_range(
	struct strbuf *sb, const struct clock_style *style, int64_t from_us, int64_t to_us);

#endif
