/* An ELF file from arbitrary bytes, as a file and in memory: build-id, segments, symbols. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "trace/symbols/elf_image.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What must be true of every table: names end, and a found symbol contains the address. */
static void look(const struct elf_image *e)
{
	uint64_t address = 0;

	for (size_t i = 0; i < e->symbols.n; i++) {
		const struct symbol *s = &e->symbols.items[i];
		const struct symbol *found = symbol_table_find(&e->symbols, s->start);

		if (strlen(symbol_name(&e->symbols, s)) > SYMBOL_NAME_MAX || found != s)
			abort();
	}
	for (unsigned i = 0; i < e->n_segments; i++) {
		if (elf_image_address(e, e->segments[i].offset, &address))
			symbol_table_find(&e->symbols, address);
	}
	symbol_table_find(&e->symbols, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_image e, head;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	if (elf_image_read(fd, NULL, &e) == 0) {
		look(&e);
		if (elf_image_identify(fd, &head) < 0 || memcmp(&head.id, &e.id, sizeof(e.id)) != 0)
			abort();
		elf_image_release(&e);
	}
	if (elf_image_read_memory(data, size, &e) == 0) {
		look(&e);
		elf_image_release(&e);
	}
	return 0;
}
