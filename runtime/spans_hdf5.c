/* The layer hdf5: the HDF5 library's functions for files, datasets and attributes.
 *
 * Its headers are not needed: since version 1.10 its identifiers are 64-bit numbers, and the
 * functions used here have not changed since 1.8.
 *
 * Nothing that may fail is called: HDF5 prints errors, and the program would get errors that it did
 * not cause.
 */
#include "runtime/spans.h"

#include <string.h>
#include <sys/stat.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef int64_t hssize_t;

#define HDF5_EXPORT SPANS_EXPORT
#define SPACE_ALL 0 /* H5S_ALL: the whole dataset */

/* Kinds of identifiers, 1 << H5I_type_t. From version 1.12 on there is one more before those of
 * attributes and property lists. */
#define KIND_FILE (1u << 1)
#define KIND_GROUP (1u << 2)
#define KIND_TYPE (1u << 3)
#define KIND_SPACE (1u << 4)
#define KIND_DATASET (1u << 5)
#define KIND_ATTRIBUTE (1u << 6 | 1u << 7)
#define KIND_LIST (1u << 10 | 1u << 11)
#define KIND_IN_FILE (KIND_FILE | KIND_GROUP | KIND_DATASET | KIND_ATTRIBUTE)

/* Other functions of HDF5 that this layer calls. */
struct asked {
	int (*kind)(hid_t id);
	ssize_t (*file_name)(hid_t object, char *name, size_t size);
	size_t (*type_size)(hid_t type);
	hssize_t (*selected)(hid_t space);
	hid_t (*dataset_space)(hid_t dataset);
	hid_t (*attribute_space)(hid_t attribute);
	herr_t (*transfer)(hid_t list, int *mode); /* NULL: this HDF5 has no MPI */
	herr_t (*space_close)(hid_t space);
};

static const struct asked *asked(void)
{
	static struct asked a;

	if (!__atomic_load_n(&a.space_close, __ATOMIC_ACQUIRE)) {
		a.kind = (int (*)(hid_t))spans_next("H5Iget_type");
		a.file_name = (ssize_t(*)(hid_t, char *, size_t))spans_next("H5Fget_name");
		a.type_size = (size_t(*)(hid_t))spans_next("H5Tget_size");
		a.selected = (hssize_t(*)(hid_t))spans_next("H5Sget_select_npoints");
		a.dataset_space = (hid_t(*)(hid_t))spans_next("H5Dget_space");
		a.attribute_space = (hid_t(*)(hid_t))spans_next("H5Aget_space");
		a.transfer = (herr_t(*)(hid_t, int *))spans_next("H5Pget_dxpl_mpio");
		__atomic_store_n(
			&a.space_close, (herr_t(*)(hid_t))spans_next("H5Sclose"), __ATOMIC_RELEASE);
	}
	return &a;
}

/* H5Iget_type() does not treat anything as an error. */
static bool is(hid_t id, unsigned kinds)
{
	int kind = asked()->kind(id);

	return kind > 0 && kind < 32 && kinds >> kind & 1;
}

static bool object_of_name(const char *name, struct spans_object *ret)
{
	struct stat st;

	if (stat(name, &st) < 0)
		return false;
	*ret = (struct spans_object){st.st_dev, st.st_ino};
	spans_name(ret, name, strlen(name));
	return true;
}

/* The file of an object. */
static __attribute__((noinline)) bool object_of(hid_t id, struct spans_object *ret)
{
	char name[SPANS_NAME_MAX];
	ssize_t len = is(id, KIND_IN_FILE) ? asked()->file_name(id, name, sizeof(name)) : -1;
	struct stat st;

	if (len <= 0 || (size_t)len >= sizeof(name) || stat(name, &st) < 0)
		return false;
	*ret = (struct spans_object){st.st_dev, st.st_ino};
	return true;
}

static int64_t outcome(int64_t result)
{
	return result < 0 ? -EIO : 0;
}

SPANS_INLINE struct spans_record *begin(
	hid_t object, unsigned op, const char *function, int64_t size)
{
	int saved_errno = errno;
	struct spans_object file;
	bool known;

	if (!spans_on(SPANS_HDF5))
		return NULL;
	known = object_of(object, &file);
	errno = saved_errno;
	return spans_begin(SPANS_HDF5, op, function, SPAN_NO_OFFSET, size, known ? &file : NULL);
}

/* The size of the selection in bytes. */
static int64_t selected_bytes(hid_t space, hid_t type)
{
	const struct asked *a = asked();
	hssize_t n = is(space, KIND_SPACE) && is(type, KIND_TYPE) ? a->selected(space) : 0;

	return n > 0 ? n * (int64_t)a->type_size(type) : 0;
}

/* The same for a space that belongs to this layer. */
static int64_t whole_bytes(hid_t space, hid_t type)
{
	int64_t bytes = selected_bytes(space, type);

	if (space >= 0)
		asked()->space_close(space);
	return bytes;
}

/* The size in memory of a selection, or of a whole dataset. */
static int64_t bytes_of(hid_t dataset, hid_t memory, hid_t space, hid_t type)
{
	if (memory != SPACE_ALL || space != SPACE_ALL)
		return selected_bytes(memory != SPACE_ALL ? memory : space, type);
	return is(dataset, KIND_DATASET) ? whole_bytes(asked()->dataset_space(dataset), type) : 0;
}

/* Do all ranks transfer data together? `list` says how it is transferred; 0: the default,
 * independently. */
static unsigned together(hid_t list)
{
	const struct asked *a = asked();
	int mode = 0;

	return list && a->transfer && is(list, KIND_LIST) && a->transfer(list, &mode) >= 0 &&
			mode == 1
		? SPANS_TOGETHER
		: 0;
}

#define MOVE(name, op, buffer)                                                                     \
	HDF5_EXPORT herr_t name(                                                                   \
		hid_t dataset, hid_t type, hid_t memory, hid_t space, hid_t list, buffer data);    \
	HDF5_EXPORT herr_t name(                                                                   \
		hid_t dataset, hid_t type, hid_t memory, hid_t space, hid_t list, buffer data)     \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int64_t bytes = 0;                                                                 \
		herr_t result;                                                                     \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		if (spans_on(SPANS_HDF5)) {                                                        \
			bytes = bytes_of(dataset, memory, space, type);                            \
			r = begin(dataset, (op) | together(list), #name, bytes);                   \
		}                                                                                  \
		result = next(dataset, type, memory, space, list, data);                           \
		spans_end(r, result < 0 ? outcome(result) : bytes);                                \
		return result;                                                                     \
	}

MOVE(H5Dwrite, SPAN_WRITE, const void *)
MOVE(H5Dread, SPAN_READ, void *)

static int64_t attribute_bytes(hid_t attribute, hid_t type)
{
	return is(attribute, KIND_ATTRIBUTE)
		? whole_bytes(asked()->attribute_space(attribute), type)
		: 0;
}

#define MOVE_ATTRIBUTE(name, op, buffer)                                                           \
	HDF5_EXPORT herr_t name(hid_t attribute, hid_t type, buffer data);                         \
	HDF5_EXPORT herr_t name(hid_t attribute, hid_t type, buffer data)                          \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		int64_t bytes = 0;                                                                 \
		herr_t result;                                                                     \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		if (spans_on(SPANS_HDF5)) {                                                        \
			bytes = attribute_bytes(attribute, type);                                  \
			r = begin(attribute, op, #name, bytes);                                    \
		}                                                                                  \
		result = next(attribute, type, data);                                              \
		spans_end(r, result < 0 ? outcome(result) : bytes);                                \
		return result;                                                                     \
	}

MOVE_ATTRIBUTE(H5Awrite, SPAN_WRITE, const void *)
MOVE_ATTRIBUTE(H5Aread, SPAN_READ, void *)

/* A file has an object only when it exists. */
static hid_t end_open(struct spans_record *r, hid_t id, const char *name)
{
	int saved_errno = errno;
	struct spans_object file;

	spans_stop(r, outcome(id));
	if (r && id >= 0 && object_of_name(name, &file)) {
		r->device = file.device;
		r->inode = file.inode;
	}
	spans_done(r);
	errno = saved_errno;
	return id;
}

SPANS_INLINE struct spans_record *begin_open(const char *function)
{
	return spans_on(SPANS_HDF5)
		? spans_begin(SPANS_HDF5, SPAN_OPEN, function, SPAN_NO_OFFSET, 0, NULL)
		: NULL;
}

HDF5_EXPORT hid_t H5Fcreate(const char *name, unsigned flags, hid_t create, hid_t access);
HDF5_EXPORT hid_t H5Fcreate(const char *name, unsigned flags, hid_t create, hid_t access)
{
	struct spans_record *r;

	SPANS_NEXT(H5Fcreate);
	r = begin_open("H5Fcreate");
	return end_open(r, next(name, flags, create, access), name);
}

HDF5_EXPORT hid_t H5Fopen(const char *name, unsigned flags, hid_t access);
HDF5_EXPORT hid_t H5Fopen(const char *name, unsigned flags, hid_t access)
{
	struct spans_record *r;

	SPANS_NEXT(H5Fopen);
	r = begin_open("H5Fopen");
	return end_open(r, next(name, flags, access), name);
}

HDF5_EXPORT hid_t H5Dcreate2(hid_t where, const char *name, hid_t type, hid_t space, hid_t link,
	hid_t create, hid_t access);
HDF5_EXPORT hid_t H5Dcreate2(hid_t where, const char *name, hid_t type, hid_t space, hid_t link,
	hid_t create, hid_t access)
{
	struct spans_record *r;
	hid_t id;

	SPANS_NEXT(H5Dcreate2);
	r = begin(where, SPAN_META, "H5Dcreate2", 0);
	id = next(where, name, type, space, link, create, access);
	spans_end(r, outcome(id));
	return id;
}

HDF5_EXPORT hid_t H5Dopen2(hid_t where, const char *name, hid_t access);
HDF5_EXPORT hid_t H5Dopen2(hid_t where, const char *name, hid_t access)
{
	struct spans_record *r;
	hid_t id;

	SPANS_NEXT(H5Dopen2);
	r = begin(where, SPAN_META, "H5Dopen2", 0);
	id = next(where, name, access);
	spans_end(r, outcome(id));
	return id;
}

#define OF_OBJECT(name, op)                                                                        \
	HDF5_EXPORT herr_t name(hid_t id);                                                         \
	HDF5_EXPORT herr_t name(hid_t id)                                                          \
	{                                                                                          \
		struct spans_record *r;                                                            \
		herr_t result;                                                                     \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin(id, op, #name, 0);                                                       \
		result = next(id);                                                                 \
		spans_end(r, outcome(result));                                                     \
		return result;                                                                     \
	}

OF_OBJECT(H5Fclose, SPAN_CLOSE)
OF_OBJECT(H5Dclose, SPAN_META)

HDF5_EXPORT herr_t H5Fflush(hid_t id, int scope);
HDF5_EXPORT herr_t H5Fflush(hid_t id, int scope)
{
	struct spans_record *r;
	herr_t result;

	SPANS_NEXT(H5Fflush);
	r = begin(id, SPAN_SYNC, "H5Fflush", 0);
	result = next(id, scope);
	spans_end(r, outcome(result));
	return result;
}
