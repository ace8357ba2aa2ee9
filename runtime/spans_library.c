/* Functions of any library, which a configuration names. If the program or one of its libraries
 * calls such a function through its table of addresses (its GOT), the address is replaced by that
 * of code that records the call. Libraries that are loaded later by dlopen() are not changed.
 */
#include "runtime/spans.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS_MAX 256
#define THUNK 32 /* bytes of code per function */

struct function {
	char name[SPANS_FUNCTION];
	unsigned op, size, offset, object, returns_size; /* arguments from 1; 0: none */
	void *real;
};

static struct function functions[FUNCTIONS_MAX];
static uint32_t n_functions;
static unsigned char *thunks;

/* The registers that the code in spans_library.S saves: the arguments come first. */
__attribute__((visibility("hidden"))) struct spans_record *spans_library_begin(
	uint64_t number, const uint64_t *args);
__attribute__((visibility("hidden"))) void *spans_library_function(uint64_t number);
__attribute__((visibility("hidden"))) void spans_library_end(
	struct spans_record *r, int64_t result, uint64_t number);
__attribute__((visibility("hidden"))) void spans_library_enter(void);

static int64_t argument(const uint64_t *args, unsigned number, int64_t otherwise)
{
	return number ? (int64_t)args[number - 1] : otherwise;
}

/* A path as an object, identified by its name. */
static struct spans_object object_of(const char *path)
{
	struct spans_object o = {.device = UINT64_C(1) << 63};
	size_t len = strnlen(path, SPANS_NAME_MAX);

	o.inode = UINT64_C(14695981039346656037);
	for (size_t i = 0; i < len; i++)
		o.inode = (o.inode ^ (unsigned char)path[i]) * UINT64_C(1099511628211);
	spans_name(&o, path, len);
	return o;
}

struct spans_record *spans_library_begin(uint64_t number, const uint64_t *args)
{
	const struct function *f = &functions[number];
	struct spans_object object;
	bool named = f->object && args[f->object - 1];
	int saved_errno = errno;
	struct spans_record *r = NULL;

	if (spans_on(SPANS_LIBRARY)) {
		if (named)
			object = object_of((const char *)args[f->object - 1]);
		r = spans_begin(SPANS_LIBRARY, f->op, f->name,
			argument(args, f->offset, SPAN_NO_OFFSET), argument(args, f->size, 0),
			named ? &object : NULL);
	}
	errno = saved_errno;
	return r;
}

void *spans_library_function(uint64_t number)
{
	return functions[number].real;
}

void spans_library_end(struct spans_record *r, int64_t result, uint64_t number)
{
	const struct function *f = &functions[number];

	if (r)
		spans_end(r, f->returns_size && result > 0 ? result : f->size ? r->size : 0);
}

#if defined(__x86_64__)
#define THUNKS_WORK true
#define RELOC_TYPE(info) ELF64_R_TYPE(info)
#define RELOC_SYMBOL(info) ELF64_R_SYM(info)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT

/* mov $number, %r11d; movabs $enter, %r10; jmp *%r10 */
static void thunk_write(unsigned char *at, uint32_t number)
{
	static const unsigned char code[19] = {
		[0] = 0x41, 0xbb, [6] = 0x49, 0xba, [16] = 0x41, 0xff, 0xe2};
	uint64_t enter = (uint64_t)(uintptr_t)spans_library_enter;

	memcpy(at, code, sizeof(code));
	memcpy(at + 2, &number, sizeof(number));
	memcpy(at + 8, &enter, sizeof(enter));
}
#else
#define THUNKS_WORK false /* no function is replaced in this case */
#define RELOC_TYPE(info) 0
#define RELOC_SYMBOL(info) 0
#define JUMP_SLOT 1
#define GLOB_DAT 1
static void thunk_write(unsigned char *at, uint32_t number)
{
	(void)at;
	(void)number;
}
void spans_library_enter(void)
{
}
#endif

/* The necessary part of the dynamic section of an object. */
struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2];
	size_t sizes[2];
};

static struct function *function_find(const char *name)
{
	for (uint32_t i = 0; i < n_functions; i++) {
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	}
	return NULL;
}

/* Write an address into a table that may already be read-only. */
static void slot_write(void **slot, void *value)
{
	long page = sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~((uintptr_t)page - 1));

	if (*slot == value)
		return;
	if (mprotect(start, (size_t)page, PROT_READ | PROT_WRITE) == 0)
		__atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

static void relocation_patch(const struct object *o, const ElfW(Rela) * r)
{
	const char *name;
	struct function *f;

	if (RELOC_TYPE(r->r_info) != JUMP_SLOT && RELOC_TYPE(r->r_info) != GLOB_DAT)
		return;
	name = o->strings + o->symbols[RELOC_SYMBOL(r->r_info)].st_name;
	f = function_find(name);
	if (!f)
		return;
	if (!f->real)
		f->real = dlsym(RTLD_DEFAULT, name);
	if (f->real)
		slot_write((void **)(o->base + r->r_offset), thunks + (f - functions) * THUNK);
}

static uintptr_t address(uintptr_t base, ElfW(Addr) value)
{
	return value < base ? base + value : value; /* glibc has usually added the base */
}

static void object_read(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const void *)address(o->base, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->strings = (const void *)address(o->base, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			o->tables[0] = (const void *)address(o->base, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			o->sizes[0] = d->d_un.d_val;
			break;
		case DT_RELA:
			o->tables[1] = (const void *)address(o->base, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			o->sizes[1] = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

static int object_patch(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct object o = {.base = info->dlpi_addr};

	(void)size;
	(void)ctx;
	if (strstr(info->dlpi_name, "liblimpet-stack") || strstr(info->dlpi_name, "linux-vdso"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			object_read(
				&o, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	}
	for (int t = 0; t < 2 && o.symbols && o.strings; t++) {
		for (size_t i = 0; o.tables[t] && i < o.sizes[t] / sizeof(*o.tables[t]); i++)
			relocation_patch(&o, &o.tables[t][i]);
	}
	return 0;
}

/* "NAME,op,size,offset,object,returns;..." */
static void functions_read(const char *text)
{
	while (*text && n_functions < FUNCTIONS_MAX) {
		struct function *f = &functions[n_functions];
		size_t len = strcspn(text, ",;");
		unsigned *const numbers[] = {
			&f->op, &f->size, &f->offset, &f->object, &f->returns_size};

		if (!len || len >= SPANS_FUNCTION)
			return;
		memcpy(f->name, text, len);
		text += len;
		for (int i = 0; i < 5 && *text == ','; i++)
			*numbers[i] = (unsigned)strtoul(text + 1, (char **)&text, 10);
		if (f->op >= SPAN_OPS || f->size > 6 || f->offset > 6 || f->object > 6)
			return;
		n_functions++;
		text += *text == ';';
	}
}

void spans_library_start(const char *text)
{
	if (!THUNKS_WORK || !text || !*text)
		return;
	functions_read(text);
	thunks = mmap(NULL, FUNCTIONS_MAX * THUNK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thunks == MAP_FAILED) {
		n_functions = 0;
		return;
	}
	for (uint32_t i = 0; i < n_functions; i++)
		thunk_write(thunks + i * THUNK, i);
	if (mprotect(thunks, FUNCTIONS_MAX * THUNK, PROT_READ | PROT_EXEC) < 0)
		n_functions = 0;
	else if (n_functions)
		dl_iterate_phdr(object_patch, NULL);
}
