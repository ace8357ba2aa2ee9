#include "trace/symbols/elf_image.h"

#include "own_image.h"
#include "temp_dir.h"
#include "trace/symbols/proc_maps.h"
#include <errno.h>

/* In the symbol table, and nowhere else. */
__attribute__((noinline)) static int landmark(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* The address of the landmark in the file's own terms. */
static uint64_t landmark_address(const struct elf_image *e)
{
	uint64_t at = (uint64_t)(uintptr_t)landmark, address = 0;
	const struct proc_mapping *m;
	struct proc_maps maps;

	assert_int_equal(proc_maps_read("/proc", getpid(), &maps), 0);
	m = proc_maps_find(&maps, at);
	assert_non_null(m);
	assert_true(elf_image_address(e, at - m->start + m->offset, &address));
	proc_maps_release(&maps);
	return address;
}

static const char *landmark_name(const struct elf_image *e)
{
	const struct symbol *s = symbol_table_find(&e->symbols, landmark_address(e));

	return s ? symbol_name(&e->symbols, s) : "-";
}

static void test_own(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_image e, head;

	(void)state;
	assert_int_equal(landmark(1), 2);
	assert_int_equal(elf_image_read(fd, NULL, &e), 0);
	assert_true(e.id.known);
	assert_true(e.n_segments > 0);
	assert_string_equal(landmark_name(&e), "landmark");
	assert_int_equal(elf_image_identify(fd, &head), 0);
	assert_memory_equal(&head.id, &e.id, sizeof(e.id));
	assert_int_equal(head.symbols.n, 0);
	elf_image_release(&e);
	close(fd);
}

/* A stripped file has the symbols of the debug file that was installed for it, unless that is
 * another one's. */
static void test_debug_file(void **state)
{
	char dir[] = "/tmp/limpet-debug-XXXXXX", path[256];
	size_t size, len;
	unsigned char *bytes = own_bytes(&size);
	struct elf_image e;
	FILE *f;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	fd = file_of(bytes, size);
	assert_int_equal(elf_image_identify(fd, &e), 0);
	close(fd);
	len = (size_t)snprintf(path, sizeof(path), "%s/.build-id", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	len += (size_t)snprintf(path + len, sizeof(path) - len, "/%02x", e.id.bytes[0]);
	assert_int_equal(mkdir(path, 0755), 0);
	path[len++] = '/';
	for (size_t i = 1; i < BUILD_ID_MAX; i++)
		len += (size_t)snprintf(path + len, sizeof(path) - len, "%02x", e.id.bytes[i]);
	snprintf(path + len, sizeof(path) - len, ".debug");
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);

	sections_strip(bytes);
	fd = file_of(bytes, size);
	assert_int_equal(elf_image_read(fd, NULL, &e), 0);
	assert_true(e.id.known);
	assert_string_equal(landmark_name(&e), "-");
	elf_image_release(&e);
	assert_int_equal(elf_image_read(fd, dir, &e), 0);
	assert_string_equal(landmark_name(&e), "landmark");
	elf_image_release(&e);
	close(fd);
	assert_int_equal(truncate(path, 100), 0); /* no ELF file any more */
	fd = file_of(bytes, size);
	assert_int_equal(elf_image_read(fd, dir, &e), 0);
	assert_string_equal(landmark_name(&e), "-");
	elf_image_release(&e);
	close(fd);
	free(bytes);
	assert_int_equal(nftw(dir, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Files that end too early are read as far as they go, or not at all. */
static void test_cut(void **state)
{
	size_t size;
	unsigned char *bytes = own_bytes(&size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += cut < 256 ? 1 : size / 16) {
		struct elf_image e;
		int fd = file_of(bytes, cut), r = elf_image_read(fd, NULL, &e);

		assert_true(r == 0 || r == -ENOEXEC);
		if (r == 0)
			elf_image_release(&e);
		close(fd);
		r = elf_image_read_memory(bytes, cut, &e);
		assert_true(r == 0 || r == -ENOEXEC);
		if (r == 0)
			elf_image_release(&e);
	}
	free(bytes);
}

/* Hundreds of sections that all claim to be the one table of symbols. */
static void test_repeated(void **state)
{
	size_t size;
	unsigned char *bytes = own_bytes(&size);
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)bytes;
	Elf64_Shdr *s = (Elf64_Shdr *)(void *)(bytes + h->e_shoff), table = {0};
	struct elf_image e;
	int fd;

	(void)state;
	for (unsigned i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_type == SHT_SYMTAB)
			table = s[i];
	}
	assert_int_equal(table.sh_type, SHT_SYMTAB);
	bytes = realloc(bytes, size + 60000 * sizeof(table));
	assert_non_null(bytes);
	h = (Elf64_Ehdr *)(void *)bytes;
	memcpy(bytes + size, bytes + h->e_shoff, h->e_shnum * sizeof(table));
	h->e_shoff = size;
	for (unsigned i = h->e_shnum; i < 60000; i++)
		memcpy(bytes + size + i * sizeof(table), &table, sizeof(table));
	h->e_shnum = 60000;
	fd = file_of(bytes, size + 60000 * sizeof(table));
	assert_int_equal(elf_image_read(fd, NULL, &e), 0);
	assert_string_equal(landmark_name(&e), "landmark");
	elf_image_release(&e);
	close(fd);
	free(bytes);
}

static void test_other(void **state)
{
	struct elf_image e;
	int fd = file_of("#!/bin/sh\n", 10), dir = open("/", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_image_read(fd, NULL, &e), -ENOEXEC);
	assert_int_equal(elf_image_read(dir, NULL, &e), -ENOEXEC);
	close(fd);
	close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_debug_file),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_other),
	};

	if (!elf_image_supported()) {
		print_message("built without libelf\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
