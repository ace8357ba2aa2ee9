/* The executables and shared libraries that count, and their addresses. The address of a function
 * means nothing to a reader after the program has ended or the library is unloaded. */
#include "runtime/calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAITS_MAX 10000
#define NOTE_ALIGN(n) (((n) + 3) & ~(size_t)3)

HOOK void limpet_calls_list(const char *begin, const char *end);
HOOK void limpet_calls_open(const void *image);
HOOK void limpet_calls_close(const void *image);

uint16_t calls_module_of(uintptr_t address)
{
	uint32_t n = __atomic_load_n(&calls_table->header.n_modules, __ATOMIC_ACQUIRE);

	while (n-- > 0) {
		const struct calls_module *module = &calls_table->modules[n];

		if (!module->closed && address >= module->begin && address < module->end)
			return (uint16_t)n;
	}
	return CALLS_NO_MODULE;
}

static const ElfW(Phdr) * headers_of(const void *image, size_t *ret_n)
{
	const ElfW(Ehdr) *elf = image;

	*ret_n = elf->e_phnum;
	return (const ElfW(Phdr) *)((const char *)image + elf->e_phoff);
}

static void set_range(struct calls_module *module, const void *image)
{
	size_t n;
	const ElfW(Phdr) *headers = headers_of(image, &n);
	uintptr_t low = UINTPTR_MAX, high = 0;

	for (size_t i = 0; i < n; i++) {
		if (headers[i].p_type != PT_LOAD)
			continue;
		if (headers[i].p_vaddr < low)
			low = headers[i].p_vaddr;
		if (headers[i].p_vaddr + headers[i].p_memsz > high)
			high = headers[i].p_vaddr + headers[i].p_memsz;
	}
	module->begin = (uintptr_t)image;
	module->end = (uintptr_t)image + (high > low ? high - low : 0);
}

/* The difference between an address in memory and in the file. The ELF header, at the image's
 * start, is in the first segment, at the beginning of the file. */
static uintptr_t bias_of(const void *image)
{
	size_t n;
	const ElfW(Phdr) *headers = headers_of(image, &n);

	for (size_t i = 0; i < n; i++) {
		if (headers[i].p_type == PT_LOAD)
			return (uintptr_t)image - (headers[i].p_vaddr - headers[i].p_offset);
	}
	return (uintptr_t)image;
}

static void take_build_id(struct calls_module *module, const char *notes, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		size_t name = sizeof(*note), text = name + NOTE_ALIGN(note->n_namesz);
		size_t next = text + NOTE_ALIGN(note->n_descsz);

		if (next > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			!memcmp(notes + name, "GNU", 4) &&
			note->n_descsz <= sizeof(module->build_id)) {
			memcpy(module->build_id, notes + text, note->n_descsz);
			module->build_id_size = (uint8_t)note->n_descsz;
			return;
		}
		notes += next;
		size -= next;
	}
}

static void set_build_id(struct calls_module *module, const void *image)
{
	size_t n;
	const ElfW(Phdr) *headers = headers_of(image, &n);

	for (size_t i = 0; i < n && module->build_id_size == 0; i++) {
		if (headers[i].p_type == PT_NOTE)
			take_build_id(module, (const char *)(module->bias + headers[i].p_vaddr),
				headers[i].p_filesz);
	}
}

/* A library is loaded by a link with a name that does not depend on its version. Readers of
 * /proc/PID/maps, such as the sampler, get the name of the file, and all must use the same name. */
static void path_resolve(char *path, size_t size)
{
	char link[32], real[sizeof(((struct calls_module *)0)->path)];
	int fd = open(path, O_PATH | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	close(fd);
	if (n <= 0 || n >= (ssize_t)sizeof(real) - 1 || real[0] != '/')
		return;
	real[n] = '\0';
	snprintf(path, size, "%s", real);
}

/* The loader does not know the path of the executable, and that of a library may be relative. */
static void set_path(struct calls_module *module, const void *image)
{
	char cwd[sizeof(module->path)];
	ssize_t n;
	Dl_info info;

	if (dladdr(image, &info) && info.dli_fname && strchr(info.dli_fname, '/')) {
		if (info.dli_fname[0] == '/' || !getcwd(cwd, sizeof(cwd)))
			cwd[0] = '\0';
		snprintf(module->path, sizeof(module->path), "%s%s%s", cwd, cwd[0] ? "/" : "",
			info.dli_fname);
		path_resolve(module->path, sizeof(module->path));
		return;
	}
	n = readlink("/proc/self/exe", module->path, sizeof(module->path) - 1);
	module->path[n > 0 ? n : 0] = '\0';
}

static void modules_close(uintptr_t address)
{
	for (uint32_t i = 0; i < calls_table->header.n_modules; i++) {
		struct calls_module *module = &calls_table->modules[i];

		if (address < module->begin || address >= module->end || module->closed)
			continue;
		module->closed = 1;
		calls_forget(module->begin, module->end);
		calls_switch_forget(module->begin, module->end);
	}
}

/* Constructors run one at a time, which the loader ensures, but functions of unknown modules appear
 * at any time. */
static bool adding;

static void module_add(const void *image, const char *list, size_t list_size)
{
	uint32_t n = calls_table->header.n_modules;
	struct calls_module *module = &calls_table->modules[n];

	if (n >= CALLS_MAX_MODULES || !calls_reserve(module, sizeof(*module)))
		return;
	set_range(module, image);
	module->bias = bias_of(image);
	set_build_id(module, image);
	set_path(module, image);
	calls_switch_off(module, list, list_size);
	__atomic_store_n(&calls_table->header.n_modules, n + 1, __ATOMIC_RELEASE);
}

/* An inline function may belong to a library that was built without `limpet cc`. */
uint16_t calls_module_find(uintptr_t address)
{
	uint16_t found = calls_module_of(address);
	int saved_errno = errno;
	Dl_info info;

	if (found != CALLS_NO_MODULE || __atomic_exchange_n(&adding, true, __ATOMIC_ACQUIRE))
		return found;
	if (dladdr((const void *)address, &info) && info.dli_fbase)
		module_add(info.dli_fbase, NULL, 0);
	__atomic_store_n(&adding, false, __ATOMIC_RELEASE);
	errno = saved_errno;
	return calls_module_of(address);
}

/* The list of the module that is opened next. */
static const char *list;
static size_t list_size;

void limpet_calls_list(const char *begin, const char *end)
{
	list = begin;
	list_size = (size_t)(end - begin);
}

void limpet_calls_open(const void *image)
{
	int saved_errno = errno;

	calls_start();
	if (calls_table) {
		/* An image that was loaded without registering, and unloaded the same way. */
		modules_close((uintptr_t)image);
		/* Not forever: in the child of a fork() the owner may not exist. */
		for (int i = 0;
			i < WAITS_MAX && __atomic_exchange_n(&adding, true, __ATOMIC_ACQUIRE); i++)
			sched_yield();
		module_add(image, list, list_size);
		__atomic_store_n(&adding, false, __ATOMIC_RELEASE);
	}
	list_size = 0;
	errno = saved_errno;
}

void limpet_calls_close(const void *image)
{
	if (calls_table && !calls_at_exit())
		modules_close((uintptr_t)image);
}
