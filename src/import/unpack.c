#include "import/unpack.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/temp.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zstd.h>
#if __has_include(<zlib.h>)
#define HAVE_ZLIB
#include <zlib.h>
#endif
#if __has_include(<lzma.h>)
#define HAVE_XZ
#include <lzma.h>
#endif

#define BUFFER_BYTES ((size_t)256 * 1024)
#define XZ_MEMORY_MAX (UINT64_C(256) << 20)

/* Unused input, and room for output. */
struct stream {
	const unsigned char *in;
	size_t n_in;
	unsigned char *out;
	size_t n_out;
	bool last; /* there is no more input */
};

/* One kind of compression. `begin` is NULL if limpet cannot unpack it. `step` consumes some input
 * and produces some output. It returns 1 at the end of a part, 0 to be called again, or a negative
 * errno. */
struct packing {
	struct unpack_format format;
	const char *suffix;
	const char *magic;
	size_t magic_len;
	void *(*begin)(void);
	int (*step)(void *state, struct stream *s);
	void (*end)(void *state);
};

static void *zstd_begin(void)
{
	ZSTD_DStream *z = ZSTD_createDStream();

	if (z && ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, 28))) {
		ZSTD_freeDStream(z);
		return NULL;
	}
	return z;
}

static int zstd_step(void *state, struct stream *s)
{
	ZSTD_inBuffer in = {s->in, s->n_in, 0};
	ZSTD_outBuffer out = {s->out, s->n_out, 0};
	size_t r = ZSTD_decompressStream(state, &out, &in);

	if (ZSTD_isError(r))
		return -EBADMSG;
	s->in += in.pos;
	s->n_in -= in.pos;
	s->out += out.pos;
	s->n_out -= out.pos;
	return r == 0;
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

#ifdef HAVE_ZLIB
static void *gzip_begin(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, 15 + 16) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static int gzip_step(void *state, struct stream *s)
{
	z_stream *z = state;
	int r;

	z->next_in = (unsigned char *)s->in;
	z->avail_in = (uInt)s->n_in;
	z->next_out = s->out;
	z->avail_out = (uInt)s->n_out;
	r = inflate(z, Z_NO_FLUSH);
	s->in = z->next_in;
	s->n_in = z->avail_in;
	s->out = z->next_out;
	s->n_out = z->avail_out;
	if (r == Z_STREAM_END) /* another part may follow, as with 'cat a.gz b.gz' */
		return inflateReset(z) == Z_OK ? 1 : -EBADMSG;
	return r == Z_OK || r == Z_BUF_ERROR ? 0 : r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}
#endif

#ifdef HAVE_XZ
static void *xz_begin(void)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	lzma_stream *z = malloc(sizeof(*z));

	if (!z)
		return NULL;
	*z = fresh;
	if (lzma_stream_decoder(z, XZ_MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static int xz_step(void *state, struct stream *s)
{
	lzma_stream *z = state;
	lzma_ret r;

	z->next_in = s->in;
	z->avail_in = s->n_in;
	z->next_out = s->out;
	z->avail_out = s->n_out;
	r = lzma_code(z, s->last ? LZMA_FINISH : LZMA_RUN);
	s->in = z->next_in;
	s->n_in = z->avail_in;
	s->out = z->next_out;
	s->n_out = z->avail_out;
	if (r == LZMA_STREAM_END)
		return 1;
	return r == LZMA_OK || (r == LZMA_BUF_ERROR && !s->last)  ? 0
		: r == LZMA_MEM_ERROR || r == LZMA_MEMLIMIT_ERROR ? -ENOMEM
								  : -EBADMSG;
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}
#endif

static const struct packing packings[] = {
	{{"zstd", "zstd -dk"}, ".zst", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end},
#ifdef HAVE_ZLIB
	{{"gzip", "gzip -dk"}, ".gz", "\x1f\x8b", 2, gzip_begin, gzip_step, gzip_end},
#else
	{{"gzip", "gzip -dk"}, ".gz", "\x1f\x8b", 2, NULL, NULL, NULL},
#endif
#ifdef HAVE_XZ
	{{"xz", "xz -dk"}, ".xz", "\xfd\x37zXZ", 5, xz_begin, xz_step, xz_end},
#else
	{{"xz", "xz -dk"}, ".xz", "\xfd\x37zXZ", 5, NULL, NULL, NULL},
#endif
	{{"bzip2", "bzip2 -dk"}, ".bz2", "BZh", 3, NULL, NULL, NULL},
};

static const struct packing *packing_any(const void *head, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		if (n >= packings[i].magic_len &&
			!memcmp(head, packings[i].magic, packings[i].magic_len))
			return &packings[i];
	}
	return NULL;
}

/* The compression of a file, if limpet can unpack it. */
static const struct packing *packing_of(const unsigned char *head, size_t n)
{
	const struct packing *p = packing_any(head, n);

	return p && p->begin ? p : NULL;
}

const struct unpack_format *unpack_format_of(const void *head, size_t n)
{
	const struct packing *p = packing_any(head, n);

	return p ? &p->format : NULL;
}

bool unpack_is_packed(const unsigned char *head, size_t n)
{
	return packing_of(head, n) != NULL;
}

size_t unpack_stem(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		size_t n = strlen(packings[i].suffix);

		if (packings[i].begin && len > n && !strcasecmp(path + len - n, packings[i].suffix))
			return len - n;
	}
	return len;
}

size_t unpack_head(const unsigned char *head, size_t n,
	unsigned char *ret, /* NOLINT(readability-non-const-parameter): it is written to */
	size_t size)
{
	const struct packing *p = packing_of(head, n);
	struct stream s = {.in = head, .n_in = n, .out = ret, .n_out = size};
	void *state = p ? p->begin() : NULL;
	size_t before = size + 1;
	int r = 0;

	if (!state)
		return 0;
	while (r >= 0 && s.n_out && s.n_in && s.n_out + s.n_in != before) {
		before = s.n_out + s.n_in;
		r = p->step(state, &s);
	}
	p->end(state);
	return size - s.n_out;
}

size_t unpack_head_of(int fd, unsigned char *ret, size_t size)
{
	/* zstd returns nothing before the end of a block, which has up to 128 KiB. */
	_cleanup_free_ unsigned char *packed = NULL;
	unsigned char magic[8];
	ssize_t n = file_pread_full(fd, magic, sizeof(magic), 0);

	if (n <= 0 || !packing_of(magic, (size_t)n))
		return 0;
	packed = malloc(BUFFER_BYTES);
	n = packed ? file_pread_full(fd, packed, BUFFER_BYTES, 0) : 0;
	return n > 0 ? unpack_head(packed, (size_t)n, ret, size) : 0;
}

/* A file being unpacked. */
struct unpacking {
	const char *path;
	const struct packing *packing;
	void *state;
	int in, out;
	off_t done, max;	/* bytes unpacked so far, and allowed */
	unsigned char *buffers; /* one for input, one for output */
	bool whole;		/* the last part is complete */
};

static void unpacking_release(struct unpacking *u)
{
	if (u->state)
		u->packing->end(u->state);
	free(u->buffers);
}

static int unpacking_write(struct unpacking *u, size_t n, struct lp_err *err)
{
	int r;

	if (u->done + (off_t)n > u->max)
		return lp_err_set(err, -E2BIG,
			"%s unpacks to more than %" PRIdMAX
			" MiB, %d times its size, which does not look like data; if it is, unpack "
			"it "
			"yourself",
			u->path, (intmax_t)(u->max >> 20), UNPACK_RATIO);
	r = file_pwrite_full(u->out, u->buffers + BUFFER_BYTES, n, u->done);
	u->done += (off_t)n;
	return r < 0 ? lp_err_sys(err, r, "cannot unpack %s into a temporary file", u->path) : 0;
}

static int unpacking_damaged(const struct unpacking *u, int r, struct lp_err *err)
{
	if (r == -ENOMEM)
		return lp_err_sys(err, r, "cannot unpack %s", u->path);
	return lp_err_set(err, -EBADMSG,
		"%s is damaged: it cannot be unpacked (%s) beyond %" PRIdMAX " bytes", u->path,
		u->packing->format.name, (intmax_t)u->done);
}

/* Unpack the bytes that were read. */
static int unpacking_step(struct unpacking *u, size_t n, bool last, struct lp_err *err)
{
	struct stream s = {.in = u->buffers, .n_in = n, .last = last};
	bool more = true;

	while (more) {
		size_t before = s.n_in;
		int r;

		s.out = u->buffers + BUFFER_BYTES;
		s.n_out = BUFFER_BYTES;
		r = u->packing->step(u->state, &s);
		if (r < 0)
			return unpacking_damaged(u, r, err);
		u->whole = r == 1 || (u->whole && before == s.n_in && s.n_out == BUFFER_BYTES);
		more = s.n_out < BUFFER_BYTES || s.n_in < before;
		if (s.n_out < BUFFER_BYTES) {
			r = unpacking_write(u, BUFFER_BYTES - s.n_out, err);
			if (r < 0)
				return r;
		}
		more = more && (s.n_in || s.n_out == 0);
	}
	return s.n_in ? unpacking_damaged(u, 0, err) : 0;
}

static int unpacking_run(struct unpacking *u, struct lp_err *err)
{
	off_t at = 0;
	int r = 0;

	u->state = u->packing->begin();
	u->buffers = malloc(2 * BUFFER_BYTES);
	if (!u->state || !u->buffers)
		return lp_err_sys(err, -ENOMEM, "cannot unpack %s", u->path);
	while (r == 0) {
		ssize_t n = file_pread_full(u->in, u->buffers, BUFFER_BYTES, at);

		if (n < 0)
			return lp_err_sys(err, (int)n, "cannot read %s", u->path);
		at += n;
		r = unpacking_step(u, (size_t)n, n < (ssize_t)BUFFER_BYTES, err);
		if (n < (ssize_t)BUFFER_BYTES)
			break;
	}
	if (r == 0 && !u->whole)
		r = lp_err_set(
			err, -EBADMSG, "%s is damaged: the compressed data breaks off", u->path);
	return r;
}

/* Remove the incomplete last line: 1 if something is left, else 0, or a negative errno. */
static int cut_last_line(struct unpacking *u)
{
	while (u->done > 0) {
		size_t n = u->done < (off_t)BUFFER_BYTES ? (size_t)u->done : BUFFER_BYTES;
		ssize_t got = file_pread_full(u->out, u->buffers, n, u->done - (off_t)n);
		const unsigned char *newline;

		if (got < (ssize_t)n)
			return got < 0 ? (int)got : -EIO;
		newline = memrchr(u->buffers, '\n', n);
		u->done -= newline ? u->buffers + n - newline - 1 : (off_t)n;
		if (newline)
			break;
	}
	if (ftruncate(u->out, u->done) < 0)
		return -errno;
	return u->done > 0;
}

/* Unpack an open file into a temporary one. */
static int unpack_fd(int fd, const char *path, const struct packing *packing,
	struct lp_err *ret_damage, struct lp_err *err)
{
	_cleanup_(unpacking_release) struct unpacking u = {
		.path = path, .packing = packing, .in = fd};
	_cleanup_close_ int out = temp_file_make(err);
	struct lp_err failure = {0};
	struct stat st;
	int r, left = 0;

	if (out < 0)
		return out;
	if (fstat(fd, &st) < 0)
		return lp_err_sys(err, -errno, "cannot read %s", path);
	u.out = out;
	u.max = st.st_size > UNPACK_BYTES_MIN / UNPACK_RATIO ? st.st_size * UNPACK_RATIO
							     : UNPACK_BYTES_MIN;
	r = unpacking_run(&u, &failure);
	if (r == -EBADMSG && ret_damage)
		left = cut_last_line(&u);
	if (left < 0)
		return lp_err_sys(err, left, "cannot unpack %s into a temporary file", path);
	if (left > 0)
		*ret_damage = failure;
	else if (r < 0 && err)
		*err = failure;
	return r < 0 && !left ? r : TAKE_FD(out);
}

int unpack_open(const char *path, struct lp_err *ret_damage, struct lp_err *err)
{
	int fd = file_open_input(path, O_RDONLY, err), r;
	const struct packing *packing;
	unsigned char head[8];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = file_pread_full(fd, head, sizeof(head), 0);
	packing = n > 0 ? packing_of(head, (size_t)n) : NULL;
	if (!packing) /* also for a pipe, which is read directly */
		return fd;
	r = unpack_fd(fd, path, packing, ret_damage, err);
	close(fd);
	return r;
}
