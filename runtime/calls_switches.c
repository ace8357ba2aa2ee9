/* Functions that are initially off, by lists: the one with which a module was built, and the one
 * that the environment names. Lists contain names, so the symbols in the file of a module are
 * searched once, when it is loaded. Without a list this is skipped. */
#include "runtime/calls_list.h"

#include "runtime/calls.h"
#include "runtime/calls_words.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OFF_MAX = 4 * CALLS_MAX_FUNCTIONS, NAME_MAX_BYTES = 1024 };

/* Addresses of functions that are initially off. Those of an unloaded module become 0. */
static uintptr_t *off;
static uint32_t n_off;

/* Present if the program is C++. */
extern char *__cxa_demangle(const char *mangled, char *buf, size_t *size, int *ret_status)
	__attribute__((weak));

/* The file of a module, and its lists. */
struct looked {
	const char *file;
	size_t size;
	struct calls_list own, all;
	bool has_own, has_all;
	char prefix[CALLS_PROGRAM_MAX + sizeof(((struct calls_module *)0)->path)];
};

static bool file_map(const char *path, struct looked *ret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	void *map = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ret->file = map == MAP_FAILED ? NULL : map;
	ret->size = ret->file ? (size_t)st.st_size : 0;
	return ret->file != NULL;
}

static bool within(const struct looked *l, uint64_t offset, uint64_t size)
{
	return offset <= l->size && size <= l->size - offset;
}

/* The section of that type, or NULL. */
static const ElfW(Shdr) * section_of(const struct looked *l, uint32_t type)
{
	const ElfW(Ehdr) *elf = (const void *)l->file;
	const ElfW(Shdr) * sections;

	if (!within(l, 0, sizeof(*elf)) || elf->e_shoff % sizeof(uint64_t) ||
		!within(l, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*sections)))
		return NULL;
	sections = (const void *)(l->file + elf->e_shoff);
	for (size_t i = 0; i < elf->e_shnum; i++) {
		if (sections[i].sh_type == type && sections[i].sh_link < elf->e_shnum &&
			within(l, sections[i].sh_offset, sections[i].sh_size) &&
			within(l, sections[sections[i].sh_link].sh_offset,
				sections[sections[i].sh_link].sh_size))
			return &sections[i];
	}
	return NULL;
}

/* The name of a symbol for readers. */
static void symbol_word(const char *symbol, char *ret, size_t size)
{
	int status = -1;
	char *plain = symbol[0] == '_' && symbol[1] == 'Z' && __cxa_demangle
		? __cxa_demangle(symbol, NULL, NULL, &status)
		: NULL;

	snprintf(ret, size, "%s", plain ? plain : symbol);
	free(plain);
	calls_word_make(ret, true);
}

static bool is_off(const struct looked *l, const char *symbol)
{
	char name[sizeof(l->prefix) + NAME_MAX_BYTES];
	size_t n = (size_t)snprintf(name, sizeof(name), "%s", l->prefix);
	bool on = true;

	symbol_word(symbol, name + n, sizeof(name) - n);
	if (!(l->has_all && calls_list_says(&l->all, name, &on)) && l->has_own)
		calls_list_says(&l->own, name, &on);
	return !on;
}

static void symbols_look(const struct looked *l, uintptr_t bias)
{
	const ElfW(Shdr) *table = section_of(l, SHT_SYMTAB), *texts;
	const ElfW(Sym) * symbols;

	if (!table)
		table = section_of(l, SHT_DYNSYM);
	if (!table)
		return;
	texts = (const void *)(l->file + ((const ElfW(Ehdr) *)(const void *)l->file)->e_shoff);
	texts += table->sh_link;
	symbols = (const void *)(l->file + table->sh_offset);
	if (!texts->sh_size || l->file[texts->sh_offset + texts->sh_size - 1])
		return;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols) && n_off < OFF_MAX; i++) {
		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || !symbols[i].st_value ||
			symbols[i].st_name >= texts->sh_size ||
			!is_off(l, l->file + texts->sh_offset + symbols[i].st_name))
			continue;
		off[n_off] = bias + symbols[i].st_value;
		__atomic_store_n(&n_off, n_off + 1, __ATOMIC_RELEASE);
	}
}

static bool make_room(void)
{
	void *map;

	if (off)
		return true;
	map = mmap(NULL, OFF_MAX * sizeof(*off), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	off = map == MAP_FAILED ? NULL : map;
	return off != NULL;
}

static void prefix_make(const struct calls_module *m, struct looked *l)
{
	const char *slash = strrchr(m->path, '/');
	size_t n;

	calls_word_program(calls_table->header.program, l->prefix, CALLS_PROGRAM_MAX);
	n = strlen(l->prefix);
	l->prefix[n++] = ':';
	snprintf(l->prefix + n, sizeof(l->prefix) - n - 1, "%s", slash ? slash + 1 : m->path);
	calls_word_make(l->prefix + n, false);
	memcpy(l->prefix + strlen(l->prefix), ":", 2);
}

void calls_switch_off(const struct calls_module *m, const char *list, size_t list_size)
{
	const char *path = secure_getenv(CALLS_LIST_VARIABLE);
	static struct looked l;

	l = (struct looked){0};
	l.has_own = list_size && calls_list_take(list, list_size, &l.own);
	l.has_all = path && path[0] == '/' && calls_list_read(path, &l.all);
	if ((l.has_own || l.has_all) && make_room() && file_map(m->path, &l)) {
		prefix_make(m, &l);
		symbols_look(&l, (uintptr_t)m->bias);
		munmap((void *)(uintptr_t)l.file, l.size);
	}
	calls_list_release(&l.own);
	calls_list_release(&l.all);
}

void calls_switch_forget(uintptr_t begin, uintptr_t end)
{
	for (uint32_t i = 0; i < n_off; i++) {
		if (off[i] >= begin && off[i] < end)
			off[i] = 0;
	}
}

bool calls_starts_off(uintptr_t function)
{
	uint32_t n = __atomic_load_n(&n_off, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		if (off[i] == function)
			return true;
	}
	return false;
}
