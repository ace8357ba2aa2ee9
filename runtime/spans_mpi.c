/* The layer mpi-io: MPI's functions for files, by its profiling interface. Offsets are in bytes of
 * the file, whatever the view. For calls without an offset (with the individual or the shared file
 * pointer) it is queried before the call. Nothing that may fail is called, because the error
 * handlers of the program would be called.
 *
 * Nonblocking calls are recorded when they begin; waiting for them is not.
 */
#include "runtime/spans_mpi.h"

#include <string.h>
#include <sys/stat.h>

#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_file_null
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_byte
#endif
#pragma weak PMPI_Error_class
#pragma weak PMPI_Type_size
#pragma weak PMPI_Get_elements_x
#pragma weak PMPI_File_get_byte_offset
#pragma weak PMPI_File_get_position
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_Finalize
#pragma weak PMPI_File_open
#pragma weak PMPI_File_close

/* By their handles. */
enum { FILES = 256 };
static struct mpi_file files[FILES];

/* ROMIO accepts names with the kind of the file system before them: "ufs:/tmp/file". */
static const char *path_of(const char *name, struct stat *ret)
{
	size_t kind = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (stat(name, ret) == 0)
		return name;
	return kind > 1 && name[kind] == ':' && stat(name + kind + 1, ret) == 0 ? name + kind + 1
										: NULL;
}

void mpi_file_opened(MPI_File handle, const char *name, int mode)
{
	struct spans_object object = {0};
	struct stat st;
	int saved_errno = errno;
	const char *path;

	if (mpi_file_find(handle))
		return;
	path = path_of(name, &st);
	if (path) {
		object = (struct spans_object){st.st_dev, st.st_ino};
		spans_name(&object, path, strlen(path));
	}
	errno = saved_errno;
	for (int i = 0; i < FILES; i++) {
		uint32_t no = 0;

		if (!__atomic_compare_exchange_n(
			    &files[i].used, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		files[i].object = object;
		files[i].handle = handle;
		files[i].sequential = mode & MPI_MODE_SEQUENTIAL;
		__atomic_store_n(&files[i].used, 2, __ATOMIC_RELEASE);
		return;
	}
}

const struct mpi_file *mpi_file_find(MPI_File handle)
{
	for (int i = 0; i < FILES; i++) {
		if (__atomic_load_n(&files[i].used, __ATOMIC_ACQUIRE) == 2 &&
			files[i].handle == handle)
			return &files[i];
	}
	return NULL;
}

/* Before it is closed: another thread may get the same handle immediately afterwards. */
void mpi_file_closes(MPI_File handle)
{
	const struct mpi_file *file = mpi_file_find(handle);

	if (file)
		__atomic_store_n(&files[file - files].used, 0, __ATOMIC_RELEASE);
}

int64_t mpi_outcome(int error)
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

int64_t mpi_bytes_of(MPI_Datatype type, int64_t count)
{
	int size = 0;

	if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0 ||
		count < 0)
		return 0;
	return size * count;
}

int64_t mpi_moved(int error, const MPI_Status *status)
{
	MPI_Count n = 0;

	if (error != MPI_SUCCESS)
		return mpi_outcome(error);
	if (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n == MPI_UNDEFINED)
		return 0;
	return n;
}

int64_t mpi_byte_offset(MPI_File f, MPI_Offset offset)
{
	const struct mpi_file *file = offset < 0 ? NULL : mpi_file_find(f);
	MPI_Offset bytes;

	if (!file || file->sequential ||
		PMPI_File_get_byte_offset(f, offset, &bytes) != MPI_SUCCESS)
		return SPAN_NO_OFFSET;
	return bytes;
}

int64_t mpi_position(MPI_File f)
{
	const struct mpi_file *file = mpi_file_find(f);
	MPI_Offset at;

	if (!file || file->sequential || PMPI_File_get_position(f, &at) != MPI_SUCCESS)
		return SPAN_NO_OFFSET;
	return mpi_byte_offset(f, at);
}

void mpi_started(int error)
{
	int rank, size;

	if (error == MPI_SUCCESS && PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS &&
		PMPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS)
		spans_set_rank(rank, size);
}

MPI_EXPORT int MPI_LAYER(MPI_Init)(int *argc, char ***argv);
MPI_EXPORT int MPI_LAYER(MPI_Init)(int *argc, char ***argv)
{
	int error = PMPI_Init(argc, argv);

	mpi_started(error);
	return error;
}

MPI_EXPORT int MPI_LAYER(MPI_Init_thread)(int *argc, char ***argv, int required, int *provided);
MPI_EXPORT int MPI_LAYER(MPI_Init_thread)(int *argc, char ***argv, int required, int *provided)
{
	int error = PMPI_Init_thread(argc, argv, required, provided);

	mpi_started(error);
	return error;
}

MPI_EXPORT int MPI_LAYER(MPI_Finalize)(void);
MPI_EXPORT int MPI_LAYER(MPI_Finalize)(void)
{
	mpi_ends();
	return PMPI_Finalize();
}

_Thread_local bool mpi_in_fortran;

void mpi_opened(struct spans_record *r, int error, MPI_File handle, const char *name, int mode)
{
	const struct mpi_file *file;

	spans_stop(r, mpi_outcome(error));
	if (error == MPI_SUCCESS) {
		mpi_file_opened(handle, name, mode);
		file = mpi_file_find(handle);
		if (r && file) {
			r->device = file->object.device;
			r->inode = file->object.inode;
		}
	}
	spans_done(r);
}

MPI_EXPORT int MPI_LAYER(MPI_File_open)(
	MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret);
MPI_EXPORT int MPI_LAYER(MPI_File_open)(
	MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret)
{
	struct spans_record *r =
		mpi_begin(MPI_FILE_NULL, SPAN_OPEN, true, "MPI_File_open", SPAN_NO_OFFSET, 0);
	int error;

	/* MPICH's function for Fortran converts the handle even if nothing was opened, so it must
	 * not be garbage from the stack. */
	if (mpi_in_fortran)
		*ret = MPI_FILE_NULL;
	error = PMPI_File_open(comm, name, mode, info, ret);
	mpi_opened(r, error, error == MPI_SUCCESS ? *ret : MPI_FILE_NULL, name, mode);
	return error;
}

MPI_EXPORT int MPI_LAYER(MPI_File_close)(MPI_File *f);
MPI_EXPORT int MPI_LAYER(MPI_File_close)(MPI_File *f)
{
	struct spans_record *r =
		mpi_begin(*f, SPAN_CLOSE, true, "MPI_File_close", SPAN_NO_OFFSET, 0);
	int error;

	mpi_file_closes(*f);
	error = PMPI_File_close(f);
	spans_end(r, mpi_outcome(error));
	return error;
}

/* If the program does not request a status, the wrapper does. */
#define MOVE(name, params, op, collective, at, args)                                               \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int MPI_LAYER(name) params;                                                     \
	MPI_EXPORT int MPI_LAYER(name) params                                                      \
	{                                                                                          \
		MPI_Status own, *asked = status;                                                   \
		struct spans_record *r = NULL;                                                     \
		int error;                                                                         \
                                                                                                   \
		if (spans_on(SPANS_MPI_IO))                                                        \
			r = mpi_begin(f, op, collective, #name, at, mpi_bytes_of(type, n));        \
		if (r && status == MPI_STATUS_IGNORE)                                              \
			asked = &own;                                                              \
		error = P##name args;                                                              \
		spans_end(r, r ? mpi_moved(error, asked) : 0);                                     \
		return error;                                                                      \
	}

#define MOVE_AT(name, count, c, op, collective)                                                    \
	MOVE(name,                                                                                 \
		(MPI_File f, MPI_Offset offset, c void *buf, count n, MPI_Datatype type,           \
			MPI_Status *status),                                                       \
		op, collective, mpi_byte_offset(f, offset), (f, offset, buf, n, type, asked))
#define MOVE_HERE(name, count, c, op, collective)                                                  \
	MOVE(name, (MPI_File f, c void *buf, count n, MPI_Datatype type, MPI_Status *status), op,  \
		collective, mpi_position(f), (f, buf, n, type, asked))
#define MOVE_SHARED(name, count, c, op, collective)                                                \
	MOVE(name, (MPI_File f, c void *buf, count n, MPI_Datatype type, MPI_Status *status), op,  \
		collective, SPAN_NO_OFFSET, (f, buf, n, type, asked))

/* Also with a large count, if MPI has that. */
#if MPI_VERSION >= 4
#define WITH_LARGE(make, name, ...)                                                                \
	make(name, int, __VA_ARGS__) make(name##_c, MPI_Count, __VA_ARGS__)
#else
#define WITH_LARGE(make, name, ...) make(name, int, __VA_ARGS__)
#endif
#define CONST const
#define MUTABLE

WITH_LARGE(MOVE_AT, MPI_File_read_at, MUTABLE, SPAN_READ, false)
WITH_LARGE(MOVE_AT, MPI_File_read_at_all, MUTABLE, SPAN_READ, true)
WITH_LARGE(MOVE_AT, MPI_File_write_at, CONST, SPAN_WRITE, false)
WITH_LARGE(MOVE_AT, MPI_File_write_at_all, CONST, SPAN_WRITE, true)
WITH_LARGE(MOVE_HERE, MPI_File_read, MUTABLE, SPAN_READ, false)
WITH_LARGE(MOVE_HERE, MPI_File_read_all, MUTABLE, SPAN_READ, true)
WITH_LARGE(MOVE_HERE, MPI_File_write, CONST, SPAN_WRITE, false)
WITH_LARGE(MOVE_HERE, MPI_File_write_all, CONST, SPAN_WRITE, true)
WITH_LARGE(MOVE_SHARED, MPI_File_read_shared, MUTABLE, SPAN_READ, false)
WITH_LARGE(MOVE_SHARED, MPI_File_read_ordered, MUTABLE, SPAN_READ, true)
WITH_LARGE(MOVE_SHARED, MPI_File_write_shared, CONST, SPAN_WRITE, false)
WITH_LARGE(MOVE_SHARED, MPI_File_write_ordered, CONST, SPAN_WRITE, true)

/* Calls that only begin something. */
#define START(name, params, op, collective, at, args)                                              \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int MPI_LAYER(name) params;                                                     \
	MPI_EXPORT int MPI_LAYER(name) params                                                      \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int error;                                                                         \
                                                                                                   \
		if (spans_on(SPANS_MPI_IO))                                                        \
			r = mpi_begin(f, op, collective, #name, at, mpi_bytes_of(type, n));        \
		error = P##name args;                                                              \
		spans_end(r, mpi_outcome(error));                                                  \
		return error;                                                                      \
	}

#define START_AT(name, count, c, op, collective)                                                   \
	START(name,                                                                                \
		(MPI_File f, MPI_Offset offset, c void *buf, count n, MPI_Datatype type,           \
			MPI_Request *request),                                                     \
		op, collective, mpi_byte_offset(f, offset), (f, offset, buf, n, type, request))
#define START_HERE(name, count, c, op, collective)                                                 \
	START(name, (MPI_File f, c void *buf, count n, MPI_Datatype type, MPI_Request *request),   \
		op, collective, mpi_position(f), (f, buf, n, type, request))

#define START_SHARED(name, count, c, op, collective)                                               \
	START(name, (MPI_File f, c void *buf, count n, MPI_Datatype type, MPI_Request *request),   \
		op, collective, SPAN_NO_OFFSET, (f, buf, n, type, request))

WITH_LARGE(START_AT, MPI_File_iread_at, MUTABLE, SPAN_READ, false)
WITH_LARGE(START_AT, MPI_File_iwrite_at, CONST, SPAN_WRITE, false)
WITH_LARGE(START_AT, MPI_File_iread_at_all, MUTABLE, SPAN_READ, true)
WITH_LARGE(START_AT, MPI_File_iwrite_at_all, CONST, SPAN_WRITE, true)
WITH_LARGE(START_HERE, MPI_File_iread, MUTABLE, SPAN_READ, false)
WITH_LARGE(START_HERE, MPI_File_iwrite, CONST, SPAN_WRITE, false)
WITH_LARGE(START_HERE, MPI_File_iread_all, MUTABLE, SPAN_READ, true)
WITH_LARGE(START_HERE, MPI_File_iwrite_all, CONST, SPAN_WRITE, true)
WITH_LARGE(START_SHARED, MPI_File_iread_shared, MUTABLE, SPAN_READ, false)
WITH_LARGE(START_SHARED, MPI_File_iwrite_shared, CONST, SPAN_WRITE, false)

/* Split collective calls: the beginning with the transferred data, the end as waiting. */
#define SPLIT_AT(name, count, c, op)                                                               \
	START(name, (MPI_File f, MPI_Offset offset, c void *buf, count n, MPI_Datatype type), op,  \
		true, mpi_byte_offset(f, offset), (f, offset, buf, n, type))
#define SPLIT_HERE(name, count, c, op)                                                             \
	START(name, (MPI_File f, c void *buf, count n, MPI_Datatype type), op, true,               \
		mpi_position(f), (f, buf, n, type))
#define SPLIT_SHARED(name, count, c, op)                                                           \
	START(name, (MPI_File f, c void *buf, count n, MPI_Datatype type), op, true,               \
		SPAN_NO_OFFSET, (f, buf, n, type))
#define SPLIT(make, name, c, op) WITH_LARGE(make, name##_begin, c, op) SPLIT_END(name##_end, c)
#define SPLIT_END(name, c)                                                                         \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int MPI_LAYER(name)(MPI_File f, c void *buf, MPI_Status *status);               \
	MPI_EXPORT int MPI_LAYER(name)(MPI_File f, c void *buf, MPI_Status *status)                \
	{                                                                                          \
		struct spans_record *r = mpi_begin(f, SPAN_WAIT, true, #name, SPAN_NO_OFFSET, 0);  \
		int error = P##name(f, buf, status);                                               \
                                                                                                   \
		spans_end(r, mpi_outcome(error));                                                  \
		return error;                                                                      \
	}

SPLIT(SPLIT_AT, MPI_File_read_at_all, MUTABLE, SPAN_READ)
SPLIT(SPLIT_AT, MPI_File_write_at_all, CONST, SPAN_WRITE)
SPLIT(SPLIT_HERE, MPI_File_read_all, MUTABLE, SPAN_READ)
SPLIT(SPLIT_HERE, MPI_File_write_all, CONST, SPAN_WRITE)
SPLIT(SPLIT_SHARED, MPI_File_read_ordered, MUTABLE, SPAN_READ)
SPLIT(SPLIT_SHARED, MPI_File_write_ordered, CONST, SPAN_WRITE)

#define OTHER(name, op, params, args)                                                              \
	MAY_BE_MISSING(P##name);                                                                   \
	MPI_EXPORT int MPI_LAYER(name) params;                                                     \
	MPI_EXPORT int MPI_LAYER(name) params                                                      \
	{                                                                                          \
		struct spans_record *r = mpi_begin(f, op, true, #name, SPAN_NO_OFFSET, 0);         \
		int error = P##name args;                                                          \
                                                                                                   \
		spans_end(r, mpi_outcome(error));                                                  \
		return error;                                                                      \
	}

OTHER(MPI_File_sync, SPAN_SYNC, (MPI_File f), (f))
OTHER(MPI_File_set_size, SPAN_META, (MPI_File f, MPI_Offset size), (f, size))
OTHER(MPI_File_preallocate, SPAN_META, (MPI_File f, MPI_Offset size), (f, size))
OTHER(MPI_File_set_view, SPAN_META,
	(MPI_File f, MPI_Offset at, MPI_Datatype etype, MPI_Datatype type, const char *form,
		MPI_Info info),
	(f, at, etype, type, form, info))
