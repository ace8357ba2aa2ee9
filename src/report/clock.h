/* Times of day for people: in the reader's time zone, with the date unless it is today. */
#ifndef REPORT_CLOCK_H
#define REPORT_CLOCK_H

#include "base/strbuf.h"
#include <stdint.h>

struct clock_style {
	bool utc;	/* UTC instead of the zone of the environment (TZ) */
	int64_t now_us; /* times of this day have no date; 0: all times have one */
};

/* "12:34:21", or "2026-11-15 12:34:21" for another day. */
void clock_add(struct strbuf *sb, const struct clock_style *style, int64_t wall_us);

/* The same for a time after another one: without a date if it is the same day. */
void clock_add_later(
	struct strbuf *sb, const struct clock_style *style, int64_t wall_us, int64_t than_us);

/* "2026-11-15 12:34 to 12:35 UTC"; with seconds if the range is shorter than ten minutes. */
void clock_add_range(
	struct strbuf *sb, const struct clock_style *style, int64_t from_us, int64_t to_us);

/* The zone of a time: "CET", or "UTC". */
void clock_add_zone(struct strbuf *sb, const struct clock_style *style, int64_t wall_us);

/* The length of a time like "2026-11-15T12:34:21.5Z" at the beginning of a text, if it is the whole
 * word; 0: there is none. */
size_t clock_iso_length(const char *text);

/* Copy a sentence, with times like "2026-11-15T12:34:21.5Z" written as clock_add_later() does: each
 * one after the one before, the first one after `than_us` (0: it has its date). */
void clock_add_text(
	struct strbuf *sb, const struct clock_style *style, const char *text, int64_t than_us);

#endif
