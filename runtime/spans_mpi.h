/* The internals of the layer mpi-io. It is built once per MPI library with available headers, and
 * spans_mpi_door.c loads the one for the library that the program has.
 */
#ifndef RUNTIME_SPANS_MPI_H
#define RUNTIME_SPANS_MPI_H

#include "runtime/spans.h"

#include <mpi.h>

/* The function `name` of MPI behind its door. */
#define MPI_LAYER(name) limpet_##name
#define MPI_EXPORT SPANS_EXPORT

/* If this is loaded where the symbols of MPI are not global, missing functions are not used.
 */
#define MAY_BE_MISSING(name) extern __typeof__(name) name __attribute__((weak))

/* A function of the MPI library itself (spans_mpi_door.c). */
extern void *limpet_mpi_next(const char *name) __attribute__((weak));
#define MPI_NEXT(function)                                                                         \
	static __typeof__(MPI_LAYER(function)) *next;                                              \
	if (__builtin_expect(!next, 0))                                                            \
	next = (__typeof__(next))limpet_mpi_next(#function)

/* An open file. */
struct mpi_file {
	MPI_File handle;
	uint32_t used; /* atomic */
	bool sequential;
	struct spans_object object;
};

void mpi_file_opened(MPI_File handle, const char *name, int mode);
void mpi_file_closes(MPI_File handle);
const struct mpi_file *mpi_file_find(MPI_File handle); /* NULL: its opening was not recorded */

/* An error of MPI as a negative errno. */
int64_t mpi_outcome(int error);

/* The size of `count` items of a type; the bytes that a call transferred; the result of a call, if
 * it failed. */
int64_t mpi_bytes_of(MPI_Datatype type, int64_t count);
int64_t mpi_moved(int error, const MPI_Status *status);

/* Places in the file, in bytes: of an offset in the view, and of the individual pointer. */
int64_t mpi_byte_offset(MPI_File f, MPI_Offset offset);
int64_t mpi_position(MPI_File f);

/* A call begins. A call inside another one is part of that one: if the library's functions for
 * Fortran call those for C, this is one call, not two. */
SPANS_INLINE struct spans_record *mpi_begin(MPI_File f, enum span_op op, bool collective,
	const char *function, int64_t offset, int64_t size)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	const struct mpi_file *file;

	if (!spans_on(SPANS_MPI_IO) || spans_inside(sp, SPANS_MPI_IO))
		return NULL;
	file = mpi_file_find(f);
	return spans_begin_at(sp, SPANS_MPI_IO, op | (collective ? SPANS_TOGETHER : 0), function,
		offset, size, file ? &file->object : NULL);
}

/* The library's function for Fortran is opening a file in this thread. */
extern _Thread_local bool mpi_in_fortran;

/* An opening ends; `handle` is that of the file. */
void mpi_opened(struct spans_record *r, int error, MPI_File handle, const char *name, int mode);

/* The process is a rank from now on; the sums of all ranks are added up at the end. */
void mpi_started(int error);
void mpi_ends(void);

#endif
