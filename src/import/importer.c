#include "import/importer.h"

#include "base/strbuf.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

#define X(name) extern const struct importer importer_##name;
#include "import/importers.inc"
#undef X

const struct importer *const importers[] = {
#define X(name) &importer_##name,
#include "import/importers.inc"
#undef X
	NULL,
};

const struct importer *importer_find(const char *name)
{
	for (const struct importer *const *i = importers; *i; i++) {
		if (!strcmp((*i)->name, name))
			return *i;
	}
	return NULL;
}

int64_t importer_interval(int64_t typical_us)
{
	int64_t seconds_us = (typical_us + 500000) / 1000000 * 1000000;
	int64_t off_us =
		typical_us > seconds_us ? typical_us - seconds_us : seconds_us - typical_us;

	if (off_us <= typical_us / 33)
		return seconds_us;
	return (typical_us + 5000) / 10000 * 10000;
}

bool importer_is_address(const char *path)
{
	const char *p = path;

	while (isalnum((unsigned char)*p) || *p == '+' || *p == '.' || *p == '-')
		p++;
	return p > path && isalpha((unsigned char)path[0]) && !strncmp(p, "://", 3);
}

const struct importer *importer_find_address(const char *path, struct lp_err *err)
{
	struct strbuf known = {0};

	for (const struct importer *const *i = importers; *i; i++) {
		for (const char *const *s = (*i)->schemes; s && *s; s++) {
			if (!strncmp(path, *s, strlen(*s))) {
				strbuf_release(&known);
				return *i;
			}
			strbuf_printf(&known, "%s%s", known.len ? ", " : "", *s);
		}
	}
	lp_err_set(err, -EINVAL, "cannot open %s: addresses of data begin with %s", path,
		known.text ? known.text : "no scheme that this limpet knows");
	strbuf_release(&known);
	return NULL;
}
