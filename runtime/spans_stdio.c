/* The layer posix: streams of stdio. The calls inside them are not recorded, so their reads and
 * writes have no offsets. fprintf(), fputs() and similar functions are not included: they transfer
 * data only when a buffer is full, and are called for every word.
 */
#include "runtime/spans.h"

#include <stdio.h>

SPANS_INLINE struct spans_record *begin_stream(
	FILE *f, enum span_op op, const char *function, int64_t size)
{
	struct spans_object object;
	int fd;

	if (!spans_on(SPANS_POSIX) || !f)
		return NULL;
	fd = fileno(f);
	if (fd < 0 || !spans_fd(fd, &object))
		return NULL;
	return spans_begin(SPANS_POSIX, op, function, SPAN_NO_OFFSET, size, &object);
}

#define OPEN_STREAM(name)                                                                          \
	SPANS_EXPORT FILE *name(const char *path, const char *mode);                               \
	SPANS_EXPORT FILE *name(const char *path, const char *mode)                                \
	{                                                                                          \
		struct spans_record *r = NULL;                                                     \
		struct spans_object object;                                                        \
		FILE *f;                                                                           \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		if (spans_on(SPANS_POSIX))                                                         \
			r = spans_begin(SPANS_POSIX, SPAN_OPEN, #name, SPAN_NO_OFFSET, 0, NULL);   \
		f = next(path, mode);                                                              \
		spans_stop(r, f ? 0 : -errno);                                                     \
		if (f)                                                                             \
			spans_fd_forget(fileno(f));                                                \
		if (r && f && spans_fd(fileno(f), &object)) {                                      \
			r->device = object.device;                                                 \
			r->inode = object.inode;                                                   \
		}                                                                                  \
		spans_done(r);                                                                     \
		return f;                                                                          \
	}

OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)

SPANS_EXPORT size_t fread(void *buf, size_t size, size_t n, FILE *f)
{
	struct spans_record *r;
	size_t done;

	SPANS_NEXT(fread);
	r = begin_stream(f, SPAN_READ, "fread", (int64_t)(size * n));
	done = next(buf, size, n, f);
	spans_end(r, (int64_t)(done * size));
	return done;
}

SPANS_EXPORT size_t fwrite(const void *buf, size_t size, size_t n, FILE *f)
{
	struct spans_record *r;
	size_t done;

	SPANS_NEXT(fwrite);
	r = begin_stream(f, SPAN_WRITE, "fwrite", (int64_t)(size * n));
	done = next(buf, size, n, f);
	spans_end(r, (int64_t)(done * size));
	return done;
}

SPANS_EXPORT int fflush(FILE *f)
{
	struct spans_record *r;
	int result;

	SPANS_NEXT(fflush);
	r = begin_stream(f, SPAN_WRITE, "fflush", 0);
	result = next(f);
	spans_end(r, result ? -errno : 0);
	return result;
}

SPANS_EXPORT int fclose(FILE *f)
{
	struct spans_record *r;
	int result;

	SPANS_NEXT(fclose);
	r = begin_stream(f, SPAN_CLOSE, "fclose", 0);
	if (f)
		spans_fd_forget(fileno(f));
	result = next(f);
	spans_end(r, result ? -errno : 0);
	return result;
}
