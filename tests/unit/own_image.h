/* The test's own executable, as a file to read symbols from. */
#ifndef OWN_IMAGE_H
#define OWN_IMAGE_H

#include "unit.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of its bytes. */
static inline unsigned char *own_bytes(size_t *ret_size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned char *bytes;
	struct stat st = {0};
	size_t size = 0;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	while (size < (size_t)st.st_size) {
		ssize_t n = read(fd, bytes + size, (size_t)st.st_size - size);

		assert_true(n > 0);
		size += (size_t)n;
	}
	close(fd);
	*ret_size = size;
	return bytes;
}

/* A file with these bytes. */
static inline int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* What a tool does that strips everything that a program does not need to run. */
static inline void sections_strip(unsigned char *bytes)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)bytes;

	h->e_shoff = 0;
	h->e_shnum = h->e_shstrndx = 0;
}

#endif
