/* Information about addresses from an ELF file: its build-id, its segments, its symbols.
 *
 * Files are not trusted: everything is checked, with bounded memory and time. Errors in a file only
 * reduce the number of its symbols.
 */
#ifndef TRACE_ELF_IMAGE_H
#define TRACE_ELF_IMAGE_H

#include "trace/symbols/symbol_table.h"

#define BUILD_ID_MAX 20
#define ELF_SEGMENTS_MAX 64

struct build_id {
	unsigned char bytes[BUILD_ID_MAX]; /* shorter ones end with zeros, as in the kernel */
	bool known;
};

/* A part of the file that is executable in memory. */
struct elf_segment {
	uint64_t offset, address, size;
};

/* Zero-initialise it. */
struct elf_image {
	struct build_id id;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	unsigned n_segments;
	struct symbol_table symbols;
};

void elf_image_release(struct elf_image *e);

/* Read build-id and segments only. 0, -ENOEXEC (it is not an ELF file), or another errno. */
int elf_image_identify(int fd, struct elf_image *ret);

/* Read everything: the static and the dynamic symbols, those in .gnu_debugdata, and those of the
 * debug file for its build-id below `debug_dir` (NULL: none). Returns the same as
 * elf_image_identify(). */
int elf_image_read(int fd, const char *debug_dir, struct elf_image *ret);

/* The same for a file in memory. */
int elf_image_read_memory(const void *data, size_t size, struct elf_image *ret);

/* The address, as in the symbols of the file, of an offset in it; false: it is not code. */
bool elf_image_address(const struct elf_image *e, uint64_t offset, uint64_t *ret);

/* Was limpet built with the libraries to read symbols? */
bool elf_image_supported(void);

#endif
