#include "serve/ingest_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ingest_target_parse(const char *rest, struct ingest_target *ret)
{
	const char *slash = strchr(rest, '/');
	size_t len = slash ? (size_t)(slash - rest) : strlen(rest);

	if (len >= sizeof(ret->observer) || (slash && strchr(slash + 1, '/')))
		return false;
	memcpy(ret->observer, rest, len);
	ret->observer[len] = '\0';
	ret->file = slash ? slash + 1 : NULL;
	return ingest_observer_name(ret->observer);
}

static bool number(const char *text, int base, uint64_t max, uint64_t *ret)
{
	char *end;

	if (!text || !*text || strchr("+- \t\n", *text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	return !*end && !errno && *ret <= max;
}

bool ingest_numbers_parse(const char *from, const char *sum, struct ingest_put *ret)
{
	uint64_t total;

	if (!number(from, 10, INT64_MAX, &ret->from) || !number(sum, 16, UINT32_MAX, &total))
		return false;
	ret->sum = (uint32_t)total;
	return true;
}
