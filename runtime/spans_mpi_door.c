/* The functions of MPI that a program calls. At first it is unknown which MPI library it has:
 * handles are pointers in one and numbers in another. At the first call the library is known, and
 * the layer for it is loaded. Without a layer, the function of the library is called.
 *
 * No header of MPI is needed here.
 */
#include "runtime/spans.h"
#include "runtime/spans_mpi_names.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A symbol that only one library has, and the layer for it. All libraries with MPICH's binary
 * interface have the second one. */
static const struct kind {
	const char *symbol, *layer;
} kinds[] = {
	{"ompi_mpi_comm_world", "liblimpet-stack-openmpi.so"},
	{"MPIR_Dup_fn", "liblimpet-stack-mpich.so"},
};

static void *layer;	/* the handle of the library; NULL: none */
static int layer_known; /* atomic */

/* Libraries of MPI in the process. */
struct libraries {
	char paths[8][PATH_MAX];
	size_t n;
};

static int library_note(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct libraries *l = ctx;
	const char *base = strrchr(info->dlpi_name, '/');
	size_t len = strlen(info->dlpi_name);

	(void)size;
	if (base && !strncmp(base, "/libmpi", 7) && len < PATH_MAX &&
		l->n < sizeof(l->paths) / sizeof(*l->paths))
		memcpy(l->paths[l->n++], info->dlpi_name, len + 1);
	return 0;
}

/* The symbols of MPI are global in a program that is linked with it. A module of an interpreter may
 * have loaded the library locally, and then other libraries do not find them. */
static void symbols_share(void)
{
	static struct libraries found;

	if (dlsym(RTLD_DEFAULT, "PMPI_Init"))
		return;
	dl_iterate_phdr(library_note, &found);
	for (size_t i = 0; i < found.n; i++)
		dlopen(found.paths[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* The layers are in the directory of this library. */
static void *layer_open(const char *name)
{
	char path[PATH_MAX];
	Dl_info here;
	const char *base;
	int n;

	if (!dladdr(&layer_known, &here) || !(base = strrchr(here.dli_fname, '/')))
		return NULL;
	n = snprintf(
		path, sizeof(path), "%.*s/%s", (int)(base - here.dli_fname), here.dli_fname, name);
	return n < (int)sizeof(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Threads that call this at the same time get the same result. */
static void *layer_choose(void)
{
	if (__atomic_load_n(&layer_known, __ATOMIC_ACQUIRE))
		return layer;
	symbols_share();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		void *found =
			dlsym(RTLD_DEFAULT, kinds[i].symbol) ? layer_open(kinds[i].layer) : NULL;

		if (found)
			__atomic_store_n(&layer, found, __ATOMIC_RELAXED);
	}
	if (!layer)
		spans_unserved(SPANS_MPI_IO);
	__atomic_store_n(&layer_known, 1, __ATOMIC_RELEASE);
	return layer;
}

/* The library's own function, also for the layers behind the doors. */
SPANS_EXPORT void *limpet_mpi_next(const char *name);
SPANS_EXPORT void *limpet_mpi_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		fprintf(stderr, "limpet: no MPI library of this program has %s\n", name);
		abort();
	}
	return found;
}

static void *door_open(const char *name, void **door)
{
	char own[128];
	int saved_errno = errno;
	void *library = layer_choose(), *found = NULL;

	snprintf(own, sizeof(own), SPANS_MPI_PREFIX "%s", name);
	if (library)
		found = dlsym(library, own);
	if (!found)
		found = limpet_mpi_next(name);
	__atomic_store_n(door, found, __ATOMIC_RELAXED);
	errno = saved_errno;
	return found;
}

#define TYPES_0 void
#define TYPES_1 long a
#define TYPES_2 TYPES_1, long b
#define TYPES_3 TYPES_2, long c
#define TYPES_4 TYPES_3, long d
#define TYPES_5 TYPES_4, long e
#define TYPES_6 TYPES_5, long f
#define TYPES_7 TYPES_6, long g
#define TYPES_8 TYPES_7, long h
#define VALUES_0
#define VALUES_1 a
#define VALUES_2 VALUES_1, b
#define VALUES_3 VALUES_2, c
#define VALUES_4 VALUES_3, d
#define VALUES_5 VALUES_4, e
#define VALUES_6 VALUES_5, f
#define VALUES_7 VALUES_6, g
#define VALUES_8 VALUES_7, h

#define DOOR(name, n)                                                                              \
	SPANS_EXPORT long name(TYPES_##n);                                                         \
	SPANS_EXPORT long name(TYPES_##n)                                                          \
	{                                                                                          \
		static void *door;                                                                 \
		void *to = __atomic_load_n(&door, __ATOMIC_RELAXED);                               \
                                                                                                   \
		if (__builtin_expect(!to, 0))                                                      \
			to = door_open(#name, &door);                                              \
		return ((__typeof__(name) *)to)(VALUES_##n);                                       \
	}

SPANS_MPI_NAMES(DOOR)
