/* A directory for the files of a test. */
#ifndef TEMP_DIR_H
#define TEMP_DIR_H

#include "unit.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_PATH_MAX 512

static char temp_dir_path[] = "/tmp/limpet-test-XXXXXX";

static inline int temp_dir_setup(void **state)
{
	(void)state;
	memset(temp_dir_path + sizeof(temp_dir_path) - 7, 'X', 6);
	return mkdtemp(temp_dir_path) ? 0 : -1;
}

static inline int temp_dir_remove_one(
	const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static inline int temp_dir_teardown(void **state)
{
	(void)state;
	return nftw(temp_dir_path, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "DIR/name"; valid until the eighth call after this one. */
static inline const char *temp_path(const char *name)
{
	static char paths[8][TEMP_PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, TEMP_PATH_MAX, "%s/%s", temp_dir_path, name);
	return path;
}

static inline void temp_mkdir(const char *name)
{
	assert_int_equal(mkdir(temp_path(name), 0755), 0);
}

/* Write a file of `size` bytes. */
static inline const char *temp_write(const char *name, const void *data, size_t size)
{
	const char *path = temp_path(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline const char *temp_text(const char *name, const char *text)
{
	return temp_write(name, text, strlen(text));
}

#endif
