/* Time zones by name, from the files of the tz database (/usr/share/zoneinfo). The zone of the
 * process (TZ) does not change, so several files can be read at the same time, each in its own
 * zone.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

struct zone;

/* The zone with this name ("Europe/Berlin"), a fixed one ("+02:00", "UTC"), or "local", that of the
 * environment. */
int zone_open(const char *name, struct zone **ret, struct lp_err *err);

/* Parse a file of the tz database. */
int zone_parse(const void *data, size_t size, struct zone **ret);

void zone_free(struct zone *z);

/* The time at which a clock in that zone shows `local_us` (given as if it were UTC). If it shows
 * that time twice, the later one counts. If it never does, the result is the same distance after
 * the change. */
int64_t zone_utc(const struct zone *z, int64_t local_us);

#endif
