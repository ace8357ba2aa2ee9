#include "trace/symbols/demangle.h"

#include <stdio.h>
#ifdef HAVE_IBERTY
#include "base/cleanup.h"
#include <libiberty/demangle.h>
#include <string.h>
#endif

/* Longer names would take too much time. */
#define MANGLED_MAX 512

void demangle(const char *name, char *buf, size_t size)
{
#ifdef HAVE_IBERTY
	if (name[0] == '_' && strnlen(name, MANGLED_MAX) < MANGLED_MAX) {
		_cleanup_free_ char *plain =
			cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);

		if (plain) {
			snprintf(buf, size, "%s", plain);
			return;
		}
	}
#endif
	snprintf(buf, size, "%s", name);
}
