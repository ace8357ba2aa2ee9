#include "unit.h"

#include "import/unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static char path[64];

static void put(const void *data, size_t n, bool append)
{
	int fd;

	if (!append) {
		strcpy(path, "/tmp/limpet-test-XXXXXX");
		fd = mkstemp(path);
	} else {
		fd = open(path, O_WRONLY | O_APPEND);
	}
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static size_t pack(int how, const void *data, size_t n, unsigned char *out, size_t size)
{
	z_stream z = {0};

	if (how == 0)
		return ZSTD_compress(out, size, data, n, 3);
	if (how == 1) {
		size_t at = 0;

		assert_int_equal(
			lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, n, out, &at, size),
			LZMA_OK);
		return at;
	}
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)data;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	n = z.total_out;
	deflateEnd(&z);
	return n;
}

/* The beginning of the file is that of `text`. */
static void check_head(const char *text)
{
	int fd = open(path, O_RDONLY);
	unsigned char head[100];

	assert_true(fd >= 0);
	assert_int_equal(unpack_head_of(fd, head, sizeof(head)), sizeof(head));
	assert_memory_equal(head, text, sizeof(head));
	close(fd);
}

static void check_holds(const char *text, size_t n)
{
	struct lp_err err = {0};
	char *read_back = malloc(n + 1);
	int fd = unpack_open(path, NULL, &err);
	size_t got = 0;
	ssize_t r;

	assert_true(fd >= 0);
	while ((r = read(fd, read_back + got, n + 1 - got)) > 0)
		got += (size_t)r;
	assert_int_equal(got, n);
	assert_memory_equal(read_back, text, n);
	free(read_back);
	close(fd);
}

/* There and back again, whole, in two parts, cut off, and damaged. */
static void test_all(void **state)
{
	size_t n = 1000000;
	char *text = malloc(2 * n);
	unsigned char *packed = malloc(2 * n);

	(void)state;
	for (size_t i = 0; i < 2 * n; i++)
		text[i] = (char)('a' + (i % n) * (i % n) % 23);
	for (int how = 0; how < 3; how++) {
		size_t len = pack(how, text, n, packed, 2 * n);
		unsigned char head[100];
		struct lp_err err = {0};

		put(packed, len, false);
		check_holds(text, n);
		check_head(text);
		put(packed, len, true);
		check_holds(text, 2 * n);
		unlink(path);
		assert_true(unpack_is_packed(packed, 8));
		assert_int_equal(unpack_head(packed, len, head, sizeof(head)), sizeof(head));
		assert_memory_equal(head, text, sizeof(head));
		put(packed, len - 5, false);
		assert_int_equal(unpack_open(path, NULL, &err), -EBADMSG);
		unlink(path);
		memset(packed + len / 2, 'x', 10);
		put(packed, len, false);
		assert_int_equal(unpack_open(path, NULL, &err), -EBADMSG);
		unlink(path);
	}
	put(text, 100, false);
	check_holds(text, 100);
	unlink(path);
	free(packed);
	free(text);
}

/* Of a damaged file of text the whole lines up to the damage are left. */
static void test_lines_are_kept(void **state)
{
	enum { LINES = 100000 };
	char *text = malloc(LINES * 8 + 1), *kept = malloc(LINES * 8 + 1);
	unsigned char *packed = malloc(LINES * 8);

	(void)state;
	for (int i = 0; i < LINES; i++)
		snprintf(text + (size_t)i * 8, 9, "%07d\n", (i * 7919) % 9999991);
	for (int how = 0; how < 3; how++) {
		size_t len = pack(how, text, LINES * 8, packed, LINES * 8);
		struct lp_err err = {0}, damage = {0};
		ssize_t n;
		int fd;

		put(packed, len / 2, false);
		fd = unpack_open(path, &damage, &err);
		assert_true(fd >= 0);
		assert_int_equal(err.code, 0);
		assert_int_equal(damage.code, -EBADMSG);
		assert_non_null(strstr(damage.text, "is damaged"));
		n = read(fd, kept, LINES * 8);
		assert_true(n >= 8 && n < LINES * 8 && n % 8 == 0);
		assert_memory_equal(kept, text, n);
		close(fd);
		/* Nothing is left of this one. */
		put(packed, 12, false);
		assert_int_equal(unpack_open(path, &damage, &err), -EBADMSG);
		unlink(path);
	}
	free(packed);
	free(kept);
	free(text);
}

static void test_bomb(void **state)
{
	size_t n = (size_t)UNPACK_BYTES_MIN + 1;
	char *zeros = calloc(1, n);
	unsigned char *packed = malloc(1 << 20);
	struct lp_err err = {0};
	size_t len = ZSTD_compress(packed, 1 << 20, zeros, n, 1);

	(void)state;
	put(packed, len, false);
	assert_int_equal(unpack_open(path, NULL, &err), -E2BIG);
	assert_non_null(strstr(err.text, "unpacks to more than 64 MiB"));
	unlink(path);
	free(packed);
	free(zeros);
}

static void test_stem(void **state)
{
	(void)state;
	assert_int_equal(unpack_stem("a.csv.gz"), 5);
	assert_int_equal(unpack_stem("a.csv.XZ"), 5);
	assert_int_equal(unpack_stem("a.csv"), 5);
	assert_int_equal(unpack_stem(".gz"), 3);
}

/* Text whose first block is larger compressed than what is read to recognise a file. */
static void test_large_blocks(void **state)
{
	enum { SIZE = 300000 };
	char *text = malloc(SIZE);
	unsigned char *packed = malloc(2 * SIZE);
	unsigned seed = 1;
	int fd;

	(void)state;
	assert_non_null(text);
	assert_non_null(packed);
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1103515245 + 12345;
		text[i] = (char)('0' + (seed >> 16) % 10);
	}
	for (int how = 0; how < 3; how++) {
		put(packed, pack(how, text, SIZE, packed, 2 * SIZE), false);
		check_head(text);
		unlink(path);
	}
	put(text, SIZE, false); /* not compressed */
	fd = open(path, O_RDONLY);
	assert_int_equal(unpack_head_of(fd, packed, 100), 0);
	close(fd);
	unlink(path);
	free(text);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_lines_are_kept),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_stem),
		cmocka_unit_test(test_large_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
