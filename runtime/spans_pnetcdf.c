/* The layer pnetcdf: PnetCDF's functions for files, and those that put and get variables, in all
 * their forms: one value, all, a part, with strides, mapped; of every type, independent, collective
 * (_all) and nonblocking (of which ncmpi_wait_all() is the collective end).
 */
#include "runtime/spans.h"

#include <mpi.h>
#include <pnetcdf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXPORT SPANS_EXPORT
#define DIMENSIONS_MAX 64

/* Other functions of PnetCDF and MPI that this layer calls. */
struct asked {
	__typeof__(ncmpi_inq_varndims) *n_dimensions;
	__typeof__(ncmpi_inq_vardimid) *dimensions;
	__typeof__(ncmpi_inq_dimlen) *length;
	__typeof__(ncmpi_inq_path) *path;
	__typeof__(PMPI_Type_size) *type_size;
	const void *no_type; /* MPI_DATATYPE_NULL of Open MPI; NULL: it is another library */
};

static const struct asked *asked(void)
{
	static struct asked a;

	if (!__atomic_load_n(&a.type_size, __ATOMIC_ACQUIRE)) {
		a.n_dimensions = (__typeof__(a.n_dimensions))spans_next("ncmpi_inq_varndims");
		a.dimensions = (__typeof__(a.dimensions))spans_next("ncmpi_inq_vardimid");
		a.length = (__typeof__(a.length))spans_next("ncmpi_inq_dimlen");
		a.path = (__typeof__(a.path))spans_next("ncmpi_inq_path");
		a.no_type = spans_next("ompi_mpi_datatype_null");
		__atomic_store_n(&a.type_size,
			(__typeof__(a.type_size))spans_next("PMPI_Type_size"), __ATOMIC_RELEASE);
	}
	return &a;
}

static bool object_of(int file, bool say_name, struct spans_object *ret)
{
	char name[SPANS_NAME_MAX];
	struct stat st;
	int len = 0;

	if (asked()->path(file, &len, NULL) != NC_NOERR || len <= 0 || len >= SPANS_NAME_MAX ||
		asked()->path(file, &len, name) != NC_NOERR)
		return false;
	name[len] = '\0';
	if (stat(name, &st) < 0)
		return false;
	*ret = (struct spans_object){st.st_dev, st.st_ino};
	if (say_name)
		spans_name(ret, name, strlen(name));
	return true;
}

/* Open files, by their numbers, which are small: a query for the path and the inode of a file takes
 * longer than recording a call. */
enum { FILES = 1024 };
static struct file {
	uint32_t known; /* atomic */
	struct spans_object object;
} files[FILES];

static void file_opened(int file, const struct spans_object *object)
{
	if (file < 0 || file >= FILES)
		return;
	files[file].object = *object;
	__atomic_store_n(&files[file].known, 1, __ATOMIC_RELEASE);
}

static bool file_find(int file, struct spans_object *ret)
{
	if (file < 0 || file >= FILES || !__atomic_load_n(&files[file].known, __ATOMIC_ACQUIRE))
		return object_of(file, false, ret);
	*ret = files[file].object;
	return true;
}

static void file_closed(int file)
{
	if (file >= 0 && file < FILES)
		__atomic_store_n(&files[file].known, 0, __ATOMIC_RELEASE);
}

static int64_t outcome(int error)
{
	return error == NC_NOERR ? 0 : error == NC_ENOENT ? -ENOENT : -EIO;
}

SPANS_INLINE struct spans_record *begin(
	int file, enum span_op op, bool collective, const char *function, int64_t size)
{
	int saved_errno = errno;
	struct spans_object object;
	bool known = file_find(file, &object);

	errno = saved_errno;
	return spans_begin(SPANS_PNETCDF, op | (collective ? SPANS_TOGETHER : 0), function,
		SPAN_NO_OFFSET, size, known ? &object : NULL);
}

/* The number of values: the counts, or the whole variable. */
static int64_t values_of(int file, int variable, const MPI_Offset *count)
{
	const struct asked *a = asked();
	int n = 0, ids[DIMENSIONS_MAX];
	int64_t values = 1;

	if (a->n_dimensions(file, variable, &n) != NC_NOERR || n < 0 || n > DIMENSIONS_MAX ||
		(!count && a->dimensions(file, variable, ids) != NC_NOERR))
		return 0;
	for (int i = 0; i < n; i++) {
		MPI_Offset length = 0;

		if (count)
			length = count[i];
		else if (a->length(file, ids[i], &length) != NC_NOERR)
			return 0;
		if (length < 0 || __builtin_mul_overflow(values, (int64_t)length, &values))
			return 0;
	}
	return values;
}

/* In PnetCDF, MPI_DATATYPE_NULL means "the type of the variable"; MPI's own functions would call
 * the program's error handler. In MPICH it is a number. */
static bool is_no_type(MPI_Datatype type)
{
	return asked()->no_type ? (const void *)type == asked()->no_type
				: (uint32_t)(uintptr_t)type == 0x0c000000;
}

static int64_t typed_bytes(MPI_Offset n, MPI_Datatype type)
{
	int size = 0;

	if (n < 0 || is_no_type(type) || asked()->type_size(type, &size) != MPI_SUCCESS)
		return 0;
	return (int64_t)n * size;
}

/* The arguments of each form before its buffer, and the number of values. */
#define FORM_var
#define FORM_var1 , const MPI_Offset *start
#define FORM_vara , const MPI_Offset *start, const MPI_Offset *count
#define FORM_vars , const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride
#define FORM_varm FORM_vars, const MPI_Offset *map
#define PASS_var
#define PASS_var1 , start
#define PASS_vara , start, count
#define PASS_vars , start, count, stride
#define PASS_varm , start, count, stride, map
#define VALUES_var values_of(file, variable, NULL)
#define VALUES_var1 1
#define VALUES_vara values_of(file, variable, count)
#define VALUES_vars values_of(file, variable, count)
#define VALUES_varm values_of(file, variable, count)

#define CALL(name, op, collective, bytes, params, args)                                            \
	EXPORT int name params;                                                                    \
	EXPORT int name params                                                                     \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int64_t moved = 0;                                                                 \
		int error;                                                                         \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		if (spans_on(SPANS_PNETCDF)) {                                                     \
			moved = bytes;                                                             \
			r = begin(file, op, collective, #name, moved);                             \
		}                                                                                  \
		error = next args;                                                                 \
		spans_end(r, error == NC_NOERR ? moved : outcome(error));                          \
		return error;                                                                      \
	}

/* Put and get of one form and type, independent, collective and nonblocking. */
#define TYPED(form, type, word)                                                                    \
	PUT_GET(form, type, word, ncmpi_put_##form##_##word, ncmpi_get_##form##_##word, false)     \
	PUT_GET(form, type, word, ncmpi_put_##form##_##word##_all,                                 \
		ncmpi_get_##form##_##word##_all, true)                                             \
	CALL(ncmpi_iput_##form##_##word, SPAN_WRITE, false, VALUES_##form *(int64_t)sizeof(type),  \
		(int file, int variable FORM_##form, const type *data, int *request),              \
		(file, variable PASS_##form, data, request))                                       \
	CALL(ncmpi_iget_##form##_##word, SPAN_READ, false, VALUES_##form *(int64_t)sizeof(type),   \
		(int file, int variable FORM_##form, type *data, int *request),                    \
		(file, variable PASS_##form, data, request))
#define PUT_GET(form, type, word, put, get, collective)                                            \
	CALL(put, SPAN_WRITE, collective, VALUES_##form *(int64_t)sizeof(type),                    \
		(int file, int variable FORM_##form, const type *data),                            \
		(file, variable PASS_##form, data))                                                \
	CALL(get, SPAN_READ, collective, VALUES_##form *(int64_t)sizeof(type),                     \
		(int file, int variable FORM_##form, type *data),                                  \
		(file, variable PASS_##form, data))

/* Functions with a buffer that an MPI datatype describes. */
#define FLEXIBLE(form)                                                                             \
	FLEXIBLE_OF(ncmpi_put_##form, SPAN_WRITE, false, form, const void *)                       \
	FLEXIBLE_OF(ncmpi_put_##form##_all, SPAN_WRITE, true, form, const void *)                  \
	FLEXIBLE_OF(ncmpi_get_##form, SPAN_READ, false, form, void *)                              \
	FLEXIBLE_OF(ncmpi_get_##form##_all, SPAN_READ, true, form, void *)                         \
	CALL(ncmpi_iput_##form, SPAN_WRITE, false, typed_bytes(n, datatype),                       \
		(int file, int variable FORM_##form, const void *data, MPI_Offset n,               \
			MPI_Datatype datatype, int *request),                                      \
		(file, variable PASS_##form, data, n, datatype, request))                          \
	CALL(ncmpi_iget_##form, SPAN_READ, false, typed_bytes(n, datatype),                        \
		(int file, int variable FORM_##form, void *data, MPI_Offset n,                     \
			MPI_Datatype datatype, int *request),                                      \
		(file, variable PASS_##form, data, n, datatype, request))
#define FLEXIBLE_OF(name, op, collective, form, buffer)                                            \
	CALL(name, op, collective, typed_bytes(n, datatype),                                       \
		(int file, int variable FORM_##form, buffer data, MPI_Offset n,                    \
			MPI_Datatype datatype),                                                    \
		(file, variable PASS_##form, data, n, datatype))

#define FORM(form)                                                                                 \
	FLEXIBLE(form)                                                                             \
	TYPED(form, char, text)                                                                    \
	TYPED(form, signed char, schar)                                                            \
	TYPED(form, unsigned char, uchar)                                                          \
	TYPED(form, short, short)                                                                  \
	TYPED(form, unsigned short, ushort)                                                        \
	TYPED(form, int, int)                                                                      \
	TYPED(form, unsigned int, uint)                                                            \
	TYPED(form, long, long)                                                                    \
	TYPED(form, float, float)                                                                  \
	TYPED(form, double, double)                                                                \
	TYPED(form, long long, longlong)                                                           \
	TYPED(form, unsigned long long, ulonglong)

FORM(var)
FORM(var1)
FORM(vara)
FORM(vars)
FORM(varm)

static int end_open(struct spans_record *r, int error, int file)
{
	int saved_errno = errno;
	struct spans_object object;

	spans_stop(r, outcome(error));
	if (spans_on(SPANS_PNETCDF) && error == NC_NOERR && object_of(file, true, &object))
		file_opened(file, &object);
	if (r && error == NC_NOERR && file_find(file, &object)) {
		r->device = object.device;
		r->inode = object.inode;
	}
	spans_done(r);
	errno = saved_errno;
	return error;
}

#define OPEN(name)                                                                                 \
	EXPORT int name(MPI_Comm comm, const char *path, int mode, MPI_Info info, int *ret);       \
	EXPORT int name(MPI_Comm comm, const char *path, int mode, MPI_Info info, int *ret)        \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int error;                                                                         \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		if (spans_on(SPANS_PNETCDF))                                                       \
			r = spans_begin(SPANS_PNETCDF, SPAN_OPEN | SPANS_TOGETHER, #name,          \
				SPAN_NO_OFFSET, 0, NULL);                                          \
		error = next(comm, path, mode, info, ret);                                         \
		return end_open(r, error, error == NC_NOERR ? *ret : -1);                          \
	}

OPEN(ncmpi_create)
OPEN(ncmpi_open)

CALL(ncmpi_enddef, SPAN_META, true, 0, (int file), (file))
CALL(ncmpi_redef, SPAN_META, true, 0, (int file), (file))
CALL(ncmpi_sync, SPAN_SYNC, true, 0, (int file), (file))
CALL(ncmpi_flush, SPAN_SYNC, true, 0, (int file), (file))
/* No file has the number while it is being closed; the next one may get it. */
EXPORT int ncmpi_close(int file)
{
	struct spans_record *r = NULL;
	int error;

	SPANS_NEXT(ncmpi_close);
	if (spans_on(SPANS_PNETCDF))
		r = begin(file, SPAN_CLOSE, true, "ncmpi_close", 0);
	file_closed(file);
	error = next(file);
	spans_end(r, outcome(error));
	return error;
}

CALL(ncmpi_wait, SPAN_WAIT, false, 0, (int file, int n, int requests[], int statuses[]),
	(file, n, requests, statuses))
CALL(ncmpi_wait_all, SPAN_WAIT, true, 0, (int file, int n, int requests[], int statuses[]),
	(file, n, requests, statuses))
