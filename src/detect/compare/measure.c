#include "detect/compare/measure.h"

#include <string.h>

#define X(name) extern const struct measure measure_##name;
#include "detect/compare/measures.inc"
#undef X

const struct measure *const measures[] = {
#define X(name) &measure_##name,
#include "detect/compare/measures.inc"
#undef X
	NULL,
};

const struct measure *measure_find(const char *name)
{
	for (const struct measure *const *m = measures; *m; m++) {
		if (!strcmp((*m)->name, name))
			return *m;
	}
	return NULL;
}
