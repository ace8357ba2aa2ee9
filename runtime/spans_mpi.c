/* The layer mpi-io: MPI's functions for files, by its profiling interface. Offsets are those of
 * bytes in the file, whatever the view; what has none of its own (the individual and the shared
 * file pointer) is asked for before.
 *
 * Nonblocking calls are recorded as what they do, begin: the waiting for them is not.
 */
#include "runtime/spans.h"

#include <mpi.h>
#include <string.h>
#include <sys/stat.h>

#define MPI_EXPORT SPANS_EXPORT

/* This is loaded into every program that is run, also into those that have no MPI: all that it
 * needs of that may be missing, and is not used then. */
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_file_null
#endif
#pragma weak PMPI_Error_class
#pragma weak PMPI_Type_size
#pragma weak PMPI_Get_count
#pragma weak PMPI_File_get_byte_offset
#pragma weak PMPI_File_get_position
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_File_open
#pragma weak PMPI_File_close
#define MAY_BE_MISSING(name) extern __typeof__(name) name __attribute__((weak))

/* Files that are open, by their handles. */
enum { FILES = 256 };
static struct file {
	MPI_File handle;
	uint32_t used; /* atomic */
	struct spans_object object;
} files[FILES];

static void file_add(MPI_File handle, const char *name)
{
	struct spans_object object = {0};
	struct stat st;

	if (stat(name, &st) == 0) {
		object = (struct spans_object){st.st_dev, st.st_ino};
		spans_name(&object, name, strlen(name));
	}
	for (int i = 0; i < FILES; i++) {
		uint32_t no = 0;

		if (!__atomic_compare_exchange_n(
			    &files[i].used, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		files[i].object = object;
		files[i].handle = handle;
		__atomic_store_n(&files[i].used, 2, __ATOMIC_RELEASE);
		return;
	}
}

static struct file *file_find(MPI_File handle)
{
	for (int i = 0; i < FILES; i++) {
		if (__atomic_load_n(&files[i].used, __ATOMIC_ACQUIRE) == 2 &&
			files[i].handle == handle)
			return &files[i];
	}
	return NULL;
}

static int64_t outcome(int error)
{
	static const struct {
		int class, error;
	} known[] = {{MPI_ERR_NO_SUCH_FILE, ENOENT}, {MPI_ERR_ACCESS, EACCES},
		{MPI_ERR_NO_SPACE, ENOSPC}, {MPI_ERR_QUOTA, EDQUOT}, {MPI_ERR_READ_ONLY, EROFS},
		{MPI_ERR_FILE_EXISTS, EEXIST}, {MPI_ERR_BAD_FILE, EINVAL}, {MPI_ERR_ARG, EINVAL}};
	int class = MPI_ERR_OTHER;

	if (error == MPI_SUCCESS)
		return 0;
	PMPI_Error_class(error, &class);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].class == class)
			return -known[i].error;
	}
	return -EIO;
}

static int64_t bytes_of(MPI_Datatype type, int count)
{
	int size = 0;

	if (PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0 || count < 0)
		return 0;
	return (int64_t)size * count;
}

/* What a call moved, of its status. */
static int64_t moved(int error, const MPI_Status *status, MPI_Datatype type)
{
	int n = 0;

	if (error != MPI_SUCCESS)
		return outcome(error);
	if (PMPI_Get_count(status, type, &n) != MPI_SUCCESS || n == MPI_UNDEFINED)
		return 0;
	return bytes_of(type, n);
}

static int64_t byte_offset(MPI_File f, MPI_Offset offset)
{
	MPI_Offset bytes;

	return PMPI_File_get_byte_offset(f, offset, &bytes) == MPI_SUCCESS ? bytes : SPAN_NO_OFFSET;
}

/* Where the individual pointer is. */
static int64_t position(MPI_File f)
{
	MPI_Offset at;

	return PMPI_File_get_position(f, &at) == MPI_SUCCESS ? byte_offset(f, at) : SPAN_NO_OFFSET;
}

SPANS_INLINE struct spans_record *begin(MPI_File f, enum span_op op, bool collective,
	const char *function, int64_t offset, int64_t size)
{
	const struct file *file;
	struct spans_record *r;

	if (!spans_on(SPANS_MPI_IO))
		return NULL;
	file = file_find(f);
	r = spans_begin(SPANS_MPI_IO, op | (collective ? SPANS_TOGETHER : 0), function, offset,
		size, file ? &file->object : NULL);
	return r;
}

static void note_rank(void)
{
	int rank, size;

	if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS &&
		PMPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS)
		spans_set_rank(rank, size);
}

MPI_EXPORT int MPI_Init(int *argc, char ***argv)
{
	int r = PMPI_Init(argc, argv);

	if (r == MPI_SUCCESS)
		note_rank();
	return r;
}

MPI_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int r = PMPI_Init_thread(argc, argv, required, provided);

	if (r == MPI_SUCCESS)
		note_rank();
	return r;
}

/* Fortran programs do not pass through these. */
#define FORTRAN_INIT(name, params, args, error)                                                    \
	MPI_EXPORT void name params;                                                               \
	MPI_EXPORT void name params                                                                \
	{                                                                                          \
		SPANS_NEXT(name);                                                                  \
		next args;                                                                         \
		if (*(error) == MPI_SUCCESS)                                                       \
			note_rank();                                                               \
	}

FORTRAN_INIT(mpi_init_, (int *error), (error), error)
FORTRAN_INIT(mpi_init_thread_, (int *required, int *provided, int *error),
	(required, provided, error), error)
FORTRAN_INIT(mpi_init_f08_, (int *error), (error), error)
FORTRAN_INIT(mpi_init_thread_f08_, (int *required, int *provided, int *error),
	(required, provided, error), error)

MPI_EXPORT int MPI_File_open(
	MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret)
{
	struct spans_record *r =
		begin(MPI_FILE_NULL, SPAN_OPEN, true, "MPI_File_open", SPAN_NO_OFFSET, 0);
	int error = PMPI_File_open(comm, name, mode, info, ret);
	const struct file *file;

	spans_stop(r, outcome(error));
	if (error == MPI_SUCCESS) {
		file_add(*ret, name);
		file = file_find(*ret);
		if (r && file) {
			r->device = file->object.device;
			r->inode = file->object.inode;
		}
	}
	spans_done(r);
	return error;
}

MPI_EXPORT int MPI_File_close(MPI_File *f)
{
	struct file *file = file_find(*f);
	struct spans_record *r = begin(*f, SPAN_CLOSE, true, "MPI_File_close", SPAN_NO_OFFSET, 0);
	int error = PMPI_File_close(f);

	spans_end(r, outcome(error));
	if (file)
		__atomic_store_n(&file->used, 0, __ATOMIC_RELEASE);
	return error;
}

/* Programs that do not ask for a status get none from us, but we do. */
#define MOVE(name, params, op, collective, at, args)                                               \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int name params                                                                 \
	{                                                                                          \
		MPI_Status own, *asked = status == MPI_STATUS_IGNORE ? &own : status;              \
		struct spans_record *r = NULL;                                                     \
		int error;                                                                         \
                                                                                                   \
		if (spans_on(SPANS_MPI_IO))                                                        \
			r = begin(f, op, collective, #name, at, bytes_of(type, n));                \
		error = P##name args;                                                              \
		spans_end(r, r ? moved(error, asked, type) : 0);                                   \
		return error;                                                                      \
	}

#define MOVE_AT(name, c, op, collective)                                                           \
	MOVE(name,                                                                                 \
		(MPI_File f, MPI_Offset offset, c void *buf, int n, MPI_Datatype type,             \
			MPI_Status *status),                                                       \
		op, collective, byte_offset(f, offset), (f, offset, buf, n, type, asked))
#define MOVE_HERE(name, c, op, collective)                                                         \
	MOVE(name, (MPI_File f, c void *buf, int n, MPI_Datatype type, MPI_Status *status), op,    \
		collective, position(f), (f, buf, n, type, asked))
#define MOVE_SHARED(name, c, op, collective)                                                       \
	MOVE(name, (MPI_File f, c void *buf, int n, MPI_Datatype type, MPI_Status *status), op,    \
		collective, SPAN_NO_OFFSET, (f, buf, n, type, asked))

#define CONST const
#define MUTABLE

MOVE_AT(MPI_File_read_at, MUTABLE, SPAN_READ, false)
MOVE_AT(MPI_File_read_at_all, MUTABLE, SPAN_READ, true)
MOVE_AT(MPI_File_write_at, CONST, SPAN_WRITE, false)
MOVE_AT(MPI_File_write_at_all, CONST, SPAN_WRITE, true)
MOVE_HERE(MPI_File_read, MUTABLE, SPAN_READ, false)
MOVE_HERE(MPI_File_read_all, MUTABLE, SPAN_READ, true)
MOVE_HERE(MPI_File_write, CONST, SPAN_WRITE, false)
MOVE_HERE(MPI_File_write_all, CONST, SPAN_WRITE, true)
MOVE_SHARED(MPI_File_read_shared, MUTABLE, SPAN_READ, false)
MOVE_SHARED(MPI_File_read_ordered, MUTABLE, SPAN_READ, true)
MOVE_SHARED(MPI_File_write_shared, CONST, SPAN_WRITE, false)
MOVE_SHARED(MPI_File_write_ordered, CONST, SPAN_WRITE, true)

/* Those that only begin something. */
#define START(name, params, op, collective, at, args)                                              \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int name params                                                                 \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int error;                                                                         \
                                                                                                   \
		if (spans_on(SPANS_MPI_IO))                                                        \
			r = begin(f, op, collective, #name, at, bytes_of(type, n));                \
		error = P##name args;                                                              \
		spans_end(r, outcome(error));                                                      \
		return error;                                                                      \
	}

#define START_AT(name, c, op, collective)                                                          \
	START(name,                                                                                \
		(MPI_File f, MPI_Offset offset, c void *buf, int n, MPI_Datatype type,             \
			MPI_Request *request),                                                     \
		op, collective, byte_offset(f, offset), (f, offset, buf, n, type, request))
#define START_HERE(name, c, op, collective)                                                        \
	START(name, (MPI_File f, c void *buf, int n, MPI_Datatype type, MPI_Request *request), op, \
		collective, position(f), (f, buf, n, type, request))

START_AT(MPI_File_iread_at, MUTABLE, SPAN_READ, false)
START_AT(MPI_File_iwrite_at, CONST, SPAN_WRITE, false)
START_AT(MPI_File_iread_at_all, MUTABLE, SPAN_READ, true)
START_AT(MPI_File_iwrite_at_all, CONST, SPAN_WRITE, true)
START_HERE(MPI_File_iread, MUTABLE, SPAN_READ, false)
START_HERE(MPI_File_iwrite, CONST, SPAN_WRITE, false)
START_HERE(MPI_File_iread_all, MUTABLE, SPAN_READ, true)
START_HERE(MPI_File_iwrite_all, CONST, SPAN_WRITE, true)

/* Split collective calls: the beginning with what is moved, the end as waiting. */
#define SPLIT_AT(name, c, op)                                                                      \
	START(name##_begin,                                                                        \
		(MPI_File f, MPI_Offset offset, c void *buf, int n, MPI_Datatype type), op, true,  \
		byte_offset(f, offset), (f, offset, buf, n, type))                                 \
	SPLIT_END(name##_end, c)
#define SPLIT_HERE(name, c, op)                                                                    \
	START(name##_begin, (MPI_File f, c void *buf, int n, MPI_Datatype type), op, true,         \
		position(f), (f, buf, n, type))                                                    \
	SPLIT_END(name##_end, c)
#define SPLIT_END(name, c)                                                                         \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int name(MPI_File f, c void *buf, MPI_Status *status)                           \
	{                                                                                          \
		struct spans_record *r = begin(f, SPAN_WAIT, true, #name, SPAN_NO_OFFSET, 0);      \
		int error = P##name(f, buf, status);                                               \
                                                                                                   \
		spans_end(r, outcome(error));                                                      \
		return error;                                                                      \
	}

SPLIT_AT(MPI_File_read_at_all, MUTABLE, SPAN_READ)
SPLIT_AT(MPI_File_write_at_all, CONST, SPAN_WRITE)
SPLIT_HERE(MPI_File_read_all, MUTABLE, SPAN_READ)
SPLIT_HERE(MPI_File_write_all, CONST, SPAN_WRITE)

#define OTHER(name, op, params, args)                                                              \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int name params                                                                 \
	{                                                                                          \
		struct spans_record *r = begin(f, op, true, #name, SPAN_NO_OFFSET, 0);             \
		int error = P##name args;                                                          \
                                                                                                   \
		spans_end(r, outcome(error));                                                      \
		return error;                                                                      \
	}

OTHER(MPI_File_sync, SPAN_SYNC, (MPI_File f), (f))
OTHER(MPI_File_set_size, SPAN_META, (MPI_File f, MPI_Offset size), (f, size))
OTHER(MPI_File_preallocate, SPAN_META, (MPI_File f, MPI_Offset size), (f, size))
OTHER(MPI_File_set_view, SPAN_META,
	(MPI_File f, MPI_Offset at, MPI_Datatype etype, MPI_Datatype type, const char *form,
		MPI_Info info),
	(f, at, etype, type, form, info))
