/* The table of backends, from the list in meson.build. */
#include "trace/backend.h"

#include <errno.h>
#include <string.h>

#define X(name) extern const struct trace_backend trace_backend_##name;
#include "trace/backends.inc"
#undef X

const struct trace_backend *const trace_backends[] = {
#define X(name) &trace_backend_##name,
#include "trace/backends.inc"
#undef X
	NULL,
};

const struct trace_backend *trace_backend_find(const char *name)
{
	for (const struct trace_backend *const *b = trace_backends; *b; b++) {
		if (!strcmp((*b)->name, name))
			return *b;
	}
	return NULL;
}

const struct trace_backend *trace_backend_choose(struct lp_err *why)
{
	for (const struct trace_backend *const *b = trace_backends; *b; b++) {
		struct lp_err err = {0};

		if ((*b)->probe(&err) == 0)
			return *b;
		/* The reason of the first one, because users expect that backend. */
		if (why && !why->code)
			*why = err;
	}
	return NULL;
}
