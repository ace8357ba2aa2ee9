/* The tables of file systems, workloads and faults, from the lists in meson.build. */
#include "lab/fault.h"
#include "lab/fs.h"
#include "lab/workload_env.h"
#include "lab/workload_scripts.inc"
#include <string.h>

#define X(name) extern const struct fs fs_##name;
#include "lab/fss.inc"
#undef X
#define X(name) extern const struct fault fault_##name;
#include "lab/faults.inc"
#undef X

const struct fs *const file_systems[] = {
#define X(name) &fs_##name,
#include "lab/fss.inc"
#undef X
	NULL,
};

const struct workload *const workloads[] = {
#define X(name) &workload_##name,
#include "lab/workloads.inc"
#undef X
	NULL,
};

const struct fault *const faults[] = {
#define X(name) &fault_##name,
#include "lab/faults.inc"
#undef X
	NULL,
};

const struct fs *fs_find(const char *name)
{
	for (const struct fs *const *f = file_systems; *f; f++) {
		if (!strcmp((*f)->name, name))
			return *f;
	}
	return NULL;
}

const struct workload *workload_find(const char *name)
{
	for (const struct workload *const *w = workloads; *w; w++) {
		if (!strcmp((*w)->name, name))
			return *w;
	}
	return NULL;
}

const struct fault *fault_find(const char *name)
{
	for (const struct fault *const *f = faults; *f; f++) {
		if (!strcmp((*f)->name, name))
			return *f;
	}
	return NULL;
}
