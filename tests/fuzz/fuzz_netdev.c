/* /proc/net/dev. */
#include "base/cleanup.h"
#include "collect/parse.h"
#include "fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	const char *p = text;

	while (p && *p) {
		const char *start = p;
		struct net_line line;

		if (parse_netdev_line(&p, &line) == PARSE_OK &&
			(line.len == 0 || line.len > PARSE_NAME_MAX || line.name < start ||
				line.name + line.len >= p || memchr(line.name, '\n', line.len)))
			abort();
		if (p <= start)
			abort(); /* it would never end */
	}
	return 0;
}
