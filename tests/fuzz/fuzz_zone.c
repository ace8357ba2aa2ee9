/* Files of the tz database. */
#include "base/zone.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone *z = NULL;

	if (zone_parse(data, size, &z) < 0)
		return 0;
	for (int64_t year = -100; year < 200; year += 7)
		zone_utc(z, year * INT64_C(31556952000000));
	zone_free(z);
	return 0;
}
