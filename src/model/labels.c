#include "model/labels.h"

#include <stdio.h>
#include <string.h>

bool label_next(const char **at, struct label *ret)
{
	while (**at) {
		const char *line = *at;
		size_t len = strcspn(line, "\n");
		const char *equals = memchr(line, '=', len);

		*at += len + (line[len] == '\n');
		if (!equals)
			continue;
		*ret = (struct label){.key = line,
			.n_key = (size_t)(equals - line),
			.value = equals + 1,
			.n_value = (size_t)(line + len - equals - 1)};
		return true;
	}
	return false;
}

bool labels_get(const char *labels, const char *key, char *buf, size_t size)
{
	struct label l;

	while (label_next(&labels, &l)) {
		if (l.n_key != strlen(key) || memcmp(l.key, key, l.n_key) != 0)
			continue;
		snprintf(buf, size, "%.*s", (int)l.n_value, l.value);
		return true;
	}
	return false;
}
