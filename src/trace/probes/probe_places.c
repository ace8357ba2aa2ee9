#include "trace/probes/probe_places.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "trace/descriptor_proc.h"
#include "trace/profile/profile.h"
#include "trace/symbols/demangle.h"
#include "trace/symbols/elf_image.h"
#include "trace/symbols/kallsyms.h"
#include "trace/symbols/proc_maps.h"
#include "trace/symbols/symbols.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void place_release(struct probe_place *p)
{
	free(p->name);
	free(p->path);
	free(p->function);
}

void probe_places_release(struct probe_places *p)
{
	for (size_t i = 0; i < p->n; i++)
		place_release(&p->items[i]);
	free(p->items);
	*p = (struct probe_places){0};
}

/* A pattern may contain blanks, as names in files and in sources do. */
static bool matches(
	const char *image, const char *function, const char *const *patterns, unsigned n)
{
	char both[SYMBOLS_IMAGE_MAX + SYMBOLS_FUNCTION_MAX + 2], pattern[sizeof(both)];

	snprintf(both, sizeof(both), "%s:%s", image, function);
	for (unsigned i = 0; i < n; i++) {
		snprintf(pattern, sizeof(pattern), "%s", patterns[i]);
		profile_word_make(pattern, true);
		if (fnmatch(pattern, function, 0) == 0 || fnmatch(pattern, both, 0) == 0)
			return true;
	}
	return false;
}

/* Takes over the memory of the place. */
static int place_add(struct probe_places *to, struct probe_place *p)
{
	if (to->n >= PROBE_PLACES_MAX) {
		to->left_out++;
		place_release(p);
		return 0;
	}
	if (!p->name || (!p->path && !p->function) ||
		array_reserve(&to->items, &to->cap, to->n + 1, sizeof(*to->items)) < 0) {
		place_release(p);
		return -ENOMEM;
	}
	to->items[to->n++] = *p;
	return 0;
}

unsigned probe_place_best(const uint8_t *code, size_t size, bool *ret_cheap)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	unsigned at = size >= 4 && !memcmp(code, endbr64, 4) ? 4 : 0;
	const uint8_t *c = code + at;
	size_t n = size - at;

	/* push, nop, call, jmp: instructions that the kernel emulates
	 * (arch/x86/kernel/uprobes.c). */
	*ret_cheap = (n >= 1 && (c[0] & 0xf8) == 0x50) ||
		(n >= 2 && (c[0] & 0xf0) == 0x40 && (c[1] & 0xf8) == 0x50) ||
		(n >= 1 && (c[0] == 0x90 || c[0] == 0xe8 || c[0] == 0xe9 || c[0] == 0xeb)) ||
		(n >= 2 && c[0] == 0x0f && c[1] == 0x1f);
	return at;
}

/* A file that a process has mapped. */
struct mapped {
	const char *program, *path; /* path: as limpet can open it */
	bool unwinds;		    /* this file, or one before it */
	char image[SYMBOLS_IMAGE_MAX];
	pid_t pid;
	int fd;
	struct elf_image elf;
};

/* The offset in the file of an address of its symbols. */
static bool offset_of(const struct elf_image *e, uint64_t address, uint64_t *ret)
{
	for (unsigned i = 0; i < e->n_segments; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (address >= s->address && address - s->address < s->size) {
			*ret = s->offset + (address - s->address);
			return true;
		}
	}
	return false;
}

static int symbol_add(
	struct probe_places *to, const struct mapped *m, const char *function, uint64_t address)
{
	struct probe_place p = {.pid = m->pid};
	uint8_t code[8];
	ssize_t n;

	if (!offset_of(&m->elf, address, &p.offset))
		return 0;
	n = file_pread_full(m->fd, code, sizeof(code), (off_t)p.offset);
	p.offset += probe_place_best(code, n > 0 ? (size_t)n : 0, &p.cheap);
	if (asprintf(&p.name, "%s:%s:%s", m->program, m->image, function) < 0)
		p.name = NULL;
	p.path = strdup(m->path);
	return place_add(to, &p);
}

/* Functions of C++, Rust and Go that leave other functions without returning from them, and search
 * for their return addresses. */
static bool is_unwinder(const char *symbol)
{
	static const char *const names[] = {
		"_Unwind_RaiseException", "__cxa_throw", "runtime.morestack"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(symbol, names[i]))
			return true;
	}
	return false;
}

/* A part of a function that is seldom executed, and therefore kept elsewhere. It is jumped to, so
 * the top of the stack is not a return address there: a probe at its end would destroy it. */
static bool is_part(const char *symbol)
{
	return strstr(symbol, ".cold") != NULL;
}

static int image_find(
	struct probe_places *to, struct mapped *m, const char *const *patterns, unsigned n)
{
	const struct symbol_table *t = &m->elf.symbols;
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		char name[SYMBOLS_FUNCTION_MAX];

		m->unwinds |= is_unwinder(symbol_name(t, &t->items[i]));
		if (is_part(symbol_name(t, &t->items[i])))
			continue;
		demangle(symbol_name(t, &t->items[i]), name, sizeof(name));
		profile_word_make(name, true);
		if (matches(m->image, name, patterns, n))
			r = symbol_add(to, m, name, t->items[i].start);
	}
	return r;
}

static bool seen_before(const struct proc_maps *maps, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(maps->items[k].path, maps->items[i].path))
			return true;
	}
	return false;
}

/* Open the mapped file, even if its name no longer exists or now belongs to another file. If that
 * is not permitted, open the file with its name, provided that it is the same file. */
static int mapping_open(
	const char *proc, pid_t pid, const struct proc_mapping *m, char ret_path[PATH_MAX])
{
	struct stat st;
	int fd;

	snprintf(ret_path, PATH_MAX, "%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc, (int)pid,
		m->start, m->end);
	fd = open(ret_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(ret_path, PATH_MAX, "%s/%d/root%s", proc, (int)pid, m->path);
	fd = open(ret_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == m->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int mapping_find(struct probe_places *to, const char *proc, struct mapped *m,
	const struct proc_mapping *mapping, const char *const *patterns, unsigned n)
{
	char path[PATH_MAX];
	int r = 0;

	m->path = path;
	snprintf(m->image, sizeof(m->image), "%s", path_basename(mapping->path));
	profile_word_make(m->image, false);
	m->fd = mapping_open(proc, m->pid, mapping, path);
	if (m->fd < 0)
		return 0;
	if (elf_image_read(m->fd, PROFILE_DEBUG_DIR, &m->elf) == 0)
		r = image_find(to, m, patterns, n);
	elf_image_release(&m->elf);
	close(m->fd);
	return r;
}

static void program_name(const char *proc, pid_t pid, char ret[SAMPLER_COMM_MAX])
{
	char path[PATH_MAX], comm[64];
	_cleanup_close_ int dir = -1;

	snprintf(path, sizeof(path), "%s/%d", proc, (int)pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	profile_program_name(proc_text(dir, "comm", comm, sizeof(comm)), ret);
}

int probe_places_find(struct probe_places *p, const char *proc, pid_t pid,
	const char *const *patterns, unsigned n, bool times, struct lp_err *err)
{
	_cleanup_(proc_maps_release) struct proc_maps maps = {0};
	char program[SAMPLER_COMM_MAX];
	struct mapped m = {.program = program, .pid = pid};
	size_t first = p->n;
	int r;

	if (!elf_image_supported())
		return lp_err_set(err, -ENOEXEC,
			"limpet was built without libelf, which it needs to find functions");
	r = proc_maps_read(proc, pid, &maps);
	if (r < 0)
		return lp_err_sys(err, r, "cannot inspect process %d", (int)pid);
	program_name(proc, pid, program);
	for (size_t i = 0; r == 0 && i < maps.n; i++) {
		if (maps.items[i].path[0] == '/' && !seen_before(&maps, i))
			r = mapping_find(p, proc, &m, &maps.items[i], patterns, n);
	}
	for (size_t i = first; i < p->n; i++) {
		p->items[i].calls_only = m.unwinds && !times;
		p->calls_only += p->items[i].calls_only;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot find functions") : 0;
}

int probe_places_find_kernel(struct probe_places *p, const char *kallsyms,
	const char *const *patterns, unsigned n, struct lp_err *err)
{
	_cleanup_(kallsyms_release) struct kallsyms k = {0};
	int r = kallsyms_read(kallsyms, &k);

	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", kallsyms);
	for (size_t i = 0; r == 0 && i < k.symbols.n; i++) {
		const char *function = symbol_name(&k.symbols, &k.symbols.items[i]);
		const char *image = k.images[k.symbols.items[i].tag];
		struct probe_place place = {.cheap = true};

		if (!matches(image, function, patterns, n))
			continue;
		if (asprintf(&place.name, "kernel:%s:%s", image, function) < 0)
			place.name = NULL;
		place.function = strdup(function);
		r = place_add(p, &place);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot find functions") : 0;
}
