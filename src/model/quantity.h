/* Values of metrics as people write them: "12.5 MB/s", "49.0 ms", "2.6/s", "37 min".
 *
 * Units are those of the metric catalogue. Three of them are rewritten: sectors become bytes, "1/s"
 * becomes "/s", and long times become seconds, minutes, hours or days. Bytes are counted in powers
 * of 1000. An unknown unit is appended unchanged.
 */
#ifndef MODEL_QUANTITY_H
#define MODEL_QUANTITY_H

#include "base/strbuf.h"
#include <stdint.h>

#define QUANTITY_TEXT_MAX 64

/* Three significant digits and the unit; `unit` may be NULL: a bare number. NaN is "no data".
 * Returns `buf`. */
const char *quantity_format(double value, const char *unit, char buf[QUANTITY_TEXT_MAX]);

/* Format a round value of an axis, without trailing zeros: "40 ms" where quantity_format() writes
 * "40.0 ms". Returns `buf`. */
const char *quantity_format_tick(double value, const char *unit, char buf[QUANTITY_TEXT_MAX]);

/* The size, in `unit`, of the unit in which `value` is written: 1000 for "ms" if it is written in
 * seconds. Multiples of it, and simple fractions, are written as round numbers. */
double quantity_unit_size(double value, const char *unit);

/* The bytes (or bytes per second) in one of `unit`, e.g. 512 for "sectors/s"; NaN if it does not
 * count bytes. */
double quantity_bytes(const char *unit);

/* Append the text of quantity_format() to a string. */
void quantity_add(struct strbuf *sb, double value, const char *unit);

/* A ratio: "9.4x", "0.22x", "120x". An infinite ratio (no peer has any), or NaN, is "-". Returns
 * `buf`. */
const char *quantity_format_ratio(double ratio, char buf[QUANTITY_TEXT_MAX]);

/* The same, appended to a string. */
void quantity_add_ratio(struct strbuf *sb, double ratio);

/* A span of time in microseconds: "200 ms", "2 s", "1m19s", "37 min", "2h30m", "3 days". Returns
 * `buf`. */
const char *quantity_format_span(int64_t us, char buf[QUANTITY_TEXT_MAX]);

#endif
