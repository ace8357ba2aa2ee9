/* Without libelf there are no symbols: everything is reported by image and page. */
#include "trace/symbols/elf_image.h"

#include <errno.h>

void elf_image_release(struct elf_image *e)
{
	*e = (struct elf_image){0};
}

bool elf_image_supported(void)
{
	return false;
}

int elf_image_identify(int fd, struct elf_image *ret)
{
	(void)fd;
	(void)ret;
	return -ENOEXEC;
}

int elf_image_read(int fd, const char *debug_dir, struct elf_image *ret)
{
	(void)debug_dir;
	return elf_image_identify(fd, ret);
}

int elf_image_read_memory(const void *data, size_t size, struct elf_image *ret)
{
	(void)data;
	(void)size;
	(void)ret;
	return -ENOEXEC;
}

bool elf_image_address(const struct elf_image *e, uint64_t offset, uint64_t *ret)
{
	(void)e;
	(void)offset;
	(void)ret;
	return false;
}
