/* The layer mpi-io, as Fortran calls it: by mpif.h, `use mpi` (mpi_file_read_) and `use mpi_f08`
 * (in Open MPI ompi_file_read_f, which the module's functions call; in MPICH the function for C,
 * except for functions without a buffer). A call is recorded under its name in C. If the library
 * calls another recorded function for it, this is not a second call.
 *
 * The library's own function gets the arguments of the program, except for a status if the program
 * requested none.
 */
#include "runtime/spans_mpi.h"

#include <limits.h>
#include <string.h>

#pragma weak PMPI_File_f2c
#pragma weak PMPI_Status_f2c
#pragma weak MPI_F_STATUS_IGNORE
#ifdef OPEN_MPI
#pragma weak PMPI_Type_f2c
#pragma weak ompi_mpi_file_null
#endif

/* No MPI library has more. */
enum { STATUS_WORDS = 32 };

/* `error` is optional in the module mpi_f08. */
static int error_of(const MPI_Fint *error)
{
	return error ? *error : MPI_SUCCESS;
}

/* The meaning of a name in Fortran: trailing blanks are not part of it. */
static void name_copy(char ret[PATH_MAX], const char *name, long len)
{
	while (len > 0 && name[len - 1] == ' ')
		len--;
	while (len > 0 && *name == ' ')
		name++, len--;
	len = len < PATH_MAX ? len : 0;
	memcpy(ret, name, (size_t)len);
	ret[len] = '\0';
}

static int64_t moved(const MPI_Fint *error, const MPI_Fint *status)
{
	MPI_Status s;

	if (error_of(error) != MPI_SUCCESS)
		return mpi_outcome(error_of(error));
	memset(&s, 0, sizeof(s));
	return PMPI_Status_f2c(status, &s) == MPI_SUCCESS ? mpi_moved(MPI_SUCCESS, &s) : 0;
}

static bool is_ignored(const MPI_Fint *status)
{
	return &MPI_F_STATUS_IGNORE && status == MPI_F_STATUS_IGNORE;
}

#define DEFINE(name, params)                                                                       \
	MPI_EXPORT void MPI_LAYER(name) params;                                                    \
	MPI_EXPORT void MPI_LAYER(name) params

/* The names of a function with a buffer, and of one without. */
#define BOTH(make, name, ...)                                                                      \
	make(MPI_File_##name, mpi_file_##name##_, __VA_ARGS__)                                     \
		make(MPI_File_##name, ompi_file_##name##_f, __VA_ARGS__)

#define ALL(make, name, ...)                                                                       \
	BOTH(make, name, __VA_ARGS__)                                                              \
	make(MPI_File_##name, mpi_file_##name##_f08_, __VA_ARGS__)

#define START_UP(name, params, args)                                                               \
	DEFINE(name, params)                                                                       \
	{                                                                                          \
		MPI_NEXT(name);                                                                    \
		next args;                                                                         \
		mpi_started(error_of(error));                                                      \
	}

START_UP(mpi_init_, (MPI_Fint * error), (error))
START_UP(mpi_init_f08_, (MPI_Fint * error), (error))
START_UP(mpi_init_thread_, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *error),
	(required, provided, error))
START_UP(mpi_init_thread_f08_, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *error),
	(required, provided, error))

#define SHUT_DOWN(name)                                                                            \
	DEFINE(name, (MPI_Fint * error))                                                           \
	{                                                                                          \
		MPI_NEXT(name);                                                                    \
		mpi_ends();                                                                        \
		next(error);                                                                       \
	}

SHUT_DOWN(mpi_finalize_)
SHUT_DOWN(mpi_finalize_f08_)

/* MPICH's mpi_file_open_f08_() converts a handle that it never set if a file cannot be opened. Make
 * it MPI_FILE_NULL: what wrappers leave on the stack would crash the program. */
static __attribute__((noinline)) void stack_clear(void)
{
	volatile char below[1024];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

#define OPEN(function, name, ...)                                                                  \
	DEFINE(name,                                                                               \
		(MPI_Fint * comm, char *file, MPI_Fint *mode, MPI_Fint *info, MPI_Fint *f,         \
			MPI_Fint *error, long len))                                                \
	{                                                                                          \
		struct spans_record *r =                                                           \
			mpi_begin(MPI_FILE_NULL, SPAN_OPEN, true, #function, SPAN_NO_OFFSET, 0);   \
		char text[PATH_MAX];                                                               \
                                                                                                   \
		MPI_NEXT(name);                                                                    \
		mpi_in_fortran = true;                                                             \
		stack_clear();                                                                     \
		next(comm, file, mode, info, f, error, len);                                       \
		mpi_in_fortran = false;                                                            \
		name_copy(text, file, (int)len);                                                   \
		mpi_opened(r, error_of(error),                                                     \
			error_of(error) == MPI_SUCCESS ? PMPI_File_f2c(*f) : MPI_FILE_NULL, text,  \
			*mode);                                                                    \
	}

ALL(OPEN, open, )

#define CLOSE(function, name, ...)                                                                 \
	DEFINE(name, (MPI_Fint * f, MPI_Fint * error))                                             \
	{                                                                                          \
		MPI_File handle = PMPI_File_f2c(*f);                                               \
		struct spans_record *r =                                                           \
			mpi_begin(handle, SPAN_CLOSE, true, #function, SPAN_NO_OFFSET, 0);         \
                                                                                                   \
		MPI_NEXT(name);                                                                    \
		mpi_file_closes(handle);                                                           \
		next(f, error);                                                                    \
		spans_end(r, mpi_outcome(error_of(error)));                                        \
	}

ALL(CLOSE, close, )

/* `at` may use `handle`; the file, the type and the count are parameters of the wrapper. */
#define BEGIN_IO(record, op, collective, called, at)                                               \
	do {                                                                                       \
		MPI_File handle;                                                                   \
                                                                                                   \
		if (!spans_on(SPANS_MPI_IO))                                                       \
			break;                                                                     \
		handle = PMPI_File_f2c(*f);                                                        \
		(record) = mpi_begin(handle, op, collective, called, at,                           \
			mpi_bytes_of(PMPI_Type_f2c(*type), *n));                                   \
	} while (0)

#define MOVE(function, name, params, op, collective, at, args)                                     \
	DEFINE(name, params)                                                                       \
	{                                                                                          \
		MPI_Fint own[STATUS_WORDS], *asked = status;                                       \
		struct spans_record *r = NULL;                                                     \
                                                                                                   \
		MPI_NEXT(name);                                                                    \
		BEGIN_IO(r, op, collective, #function, at);                                        \
		if (r && is_ignored(status))                                                       \
			asked = own;                                                               \
		next args;                                                                         \
		spans_end(r, moved(error, asked));                                                 \
	}

#define MOVE_AT(function, name, op, collective)                                                    \
	MOVE(function, name,                                                                       \
		(MPI_Fint * f, MPI_Offset * offset, char *buf, MPI_Fint *n, MPI_Fint *type,        \
			MPI_Fint *status, MPI_Fint *error),                                        \
		op, collective, mpi_byte_offset(handle, *offset),                                  \
		(f, offset, buf, n, type, asked, error))
#define MOVE_WHERE(function, name, op, collective, where)                                          \
	MOVE(function, name,                                                                       \
		(MPI_Fint * f, char *buf, MPI_Fint *n, MPI_Fint *type, MPI_Fint *status,           \
			MPI_Fint *error),                                                          \
		op, collective, where, (f, buf, n, type, asked, error))
#define HERE mpi_position(handle)

BOTH(MOVE_AT, read_at, SPAN_READ, false)
BOTH(MOVE_AT, read_at_all, SPAN_READ, true)
BOTH(MOVE_AT, write_at, SPAN_WRITE, false)
BOTH(MOVE_AT, write_at_all, SPAN_WRITE, true)
BOTH(MOVE_WHERE, read, SPAN_READ, false, HERE)
BOTH(MOVE_WHERE, read_all, SPAN_READ, true, HERE)
BOTH(MOVE_WHERE, write, SPAN_WRITE, false, HERE)
BOTH(MOVE_WHERE, write_all, SPAN_WRITE, true, HERE)
BOTH(MOVE_WHERE, read_shared, SPAN_READ, false, SPAN_NO_OFFSET)
BOTH(MOVE_WHERE, read_ordered, SPAN_READ, true, SPAN_NO_OFFSET)
BOTH(MOVE_WHERE, write_shared, SPAN_WRITE, false, SPAN_NO_OFFSET)
BOTH(MOVE_WHERE, write_ordered, SPAN_WRITE, true, SPAN_NO_OFFSET)

/* Functions that only begin an operation, with or without a request. */
#define START(function, name, params, op, collective, at, args)                                    \
	DEFINE(name, params)                                                                       \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
                                                                                                   \
		MPI_NEXT(name);                                                                    \
		BEGIN_IO(r, op, collective, #function, at);                                        \
		next args;                                                                         \
		spans_end(r, mpi_outcome(error_of(error)));                                        \
	}

#define START_AT(function, name, op, collective)                                                   \
	START(function, name,                                                                      \
		(MPI_Fint * f, MPI_Offset * offset, char *buf, MPI_Fint *n, MPI_Fint *type,        \
			MPI_Fint *request, MPI_Fint *error),                                       \
		op, collective, mpi_byte_offset(handle, *offset),                                  \
		(f, offset, buf, n, type, request, error))
#define START_WHERE(function, name, op, collective, where)                                         \
	START(function, name,                                                                      \
		(MPI_Fint * f, char *buf, MPI_Fint *n, MPI_Fint *type, MPI_Fint *request,          \
			MPI_Fint *error),                                                          \
		op, collective, where, (f, buf, n, type, request, error))

BOTH(START_AT, iread_at, SPAN_READ, false)
BOTH(START_AT, iread_at_all, SPAN_READ, true)
BOTH(START_AT, iwrite_at, SPAN_WRITE, false)
BOTH(START_AT, iwrite_at_all, SPAN_WRITE, true)
BOTH(START_WHERE, iread, SPAN_READ, false, HERE)
BOTH(START_WHERE, iread_all, SPAN_READ, true, HERE)
BOTH(START_WHERE, iwrite, SPAN_WRITE, false, HERE)
BOTH(START_WHERE, iwrite_all, SPAN_WRITE, true, HERE)
BOTH(START_WHERE, iread_shared, SPAN_READ, false, SPAN_NO_OFFSET)
BOTH(START_WHERE, iwrite_shared, SPAN_WRITE, false, SPAN_NO_OFFSET)

#define SPLIT_AT(function, name, op)                                                               \
	START(function, name,                                                                      \
		(MPI_Fint * f, MPI_Offset * offset, char *buf, MPI_Fint *n, MPI_Fint *type,        \
			MPI_Fint *error),                                                          \
		op, true, mpi_byte_offset(handle, *offset), (f, offset, buf, n, type, error))
#define SPLIT_WHERE(function, name, op, where)                                                     \
	START(function, name,                                                                      \
		(MPI_Fint * f, char *buf, MPI_Fint *n, MPI_Fint *type, MPI_Fint *error), op, true, \
		where, (f, buf, n, type, error))

BOTH(SPLIT_AT, read_at_all_begin, SPAN_READ)
BOTH(SPLIT_AT, write_at_all_begin, SPAN_WRITE)
BOTH(SPLIT_WHERE, read_all_begin, SPAN_READ, HERE)
BOTH(SPLIT_WHERE, write_all_begin, SPAN_WRITE, HERE)
BOTH(SPLIT_WHERE, read_ordered_begin, SPAN_READ, SPAN_NO_OFFSET)
BOTH(SPLIT_WHERE, write_ordered_begin, SPAN_WRITE, SPAN_NO_OFFSET)

#define OTHER(function, name, op, params, args)                                                    \
	DEFINE(name, params)                                                                       \
	{                                                                                          \
		struct spans_record *r =                                                           \
			mpi_begin(PMPI_File_f2c(*f), op, true, #function, SPAN_NO_OFFSET, 0);      \
                                                                                                   \
		MPI_NEXT(name);                                                                    \
		next args;                                                                         \
		spans_end(r, mpi_outcome(error_of(error)));                                        \
	}
#define SPLIT_END(function, name, ...)                                                             \
	OTHER(function, name, SPAN_WAIT,                                                           \
		(MPI_Fint * f, char *buf, MPI_Fint *status, MPI_Fint *error),                      \
		(f, buf, status, error))

BOTH(SPLIT_END, read_at_all_end, )
BOTH(SPLIT_END, write_at_all_end, )
BOTH(SPLIT_END, read_all_end, )
BOTH(SPLIT_END, write_all_end, )
BOTH(SPLIT_END, read_ordered_end, )
BOTH(SPLIT_END, write_ordered_end, )

ALL(OTHER, sync, SPAN_SYNC, (MPI_Fint * f, MPI_Fint *error), (f, error))
ALL(OTHER, set_size, SPAN_META, (MPI_Fint * f, MPI_Offset *size, MPI_Fint *error), (f, size, error))
ALL(OTHER, preallocate, SPAN_META, (MPI_Fint * f, MPI_Offset *size, MPI_Fint *error),
	(f, size, error))
ALL(OTHER, set_view, SPAN_META,
	(MPI_Fint * f, MPI_Offset *at, MPI_Fint *etype, MPI_Fint *type, char *form, MPI_Fint *info,
		MPI_Fint *error, long len),
	(f, at, etype, type, form, info, error, len))
