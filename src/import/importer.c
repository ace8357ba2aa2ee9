#include "import/importer.h"

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
