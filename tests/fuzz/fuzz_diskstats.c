/* /proc/diskstats: parser and roster, as two samples (the whole text, then its second half). */
#include "base/cleanup.h"
#include "collect/roster.h"
#include "fuzz.h"
#include <string.h>

static void sample(struct roster *r, const char *text)
{
	const char *p = text;

	roster_begin(r);
	while (*p) {
		const char *start = p;
		struct roster_entry *e;
		struct disk_line line;

		if (parse_diskstats_line(&p, &line) == PARSE_OK) {
			if (line.len == 0 || line.len > PARSE_NAME_MAX || line.name < start ||
				line.name + line.len > p)
				abort();
			roster_next(r, line.name, line.len, &e);
		}
		if (p <= start)
			abort(); /* it would never end */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct roster r = {0};

	if (!text)
		return 0;
	sample(&r, text);
	sample(&r, text + strlen(text) / 2);
	roster_release(&r);
	return 0;
}
