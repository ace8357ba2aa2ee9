#include "trace/symbols/symbols.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "trace/namespaces.h"
#include "trace/symbols/demangle.h"
#include "trace/symbols/images.h"
#include "trace/symbols/kallsyms.h"
#include "trace/symbols/paths.h"
#include "trace/symbols/perf_map.h"
#include "trace/symbols/proc_maps.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_MASK UINT64_C(0xfff)
/* Periods before the kernel's symbols are read again because of an unknown address. */
#define KERNEL_AGAIN 6
/* Periods before a missing file is searched again. */
#define MISSING_AGAIN 6
/* Periods before noted files are read again. */
#define PATHS_AGAIN 64

struct process {
	int pid;
	struct proc_maps maps;
	struct symbol_table jit;
	bool told; /* events reported some mappings */
	bool read; /* its maps were read in this period */
	bool jit_read;
	uint64_t used; /* the last period in which it was used */
};

struct symbols {
	char *proc;
	struct images images;
	struct kallsyms kernel;
	uint64_t kernel_read; /* the period after the last reading; 0: never */
	struct elf_image vdso;
	bool vdso_read;
	struct process **processes;
	size_t n_processes, cap_processes;
	struct idmap by_pid;
	struct paths paths;   /* of files that were executed or mapped */
	struct idmap missing; /* hashes of build-ids that were not found */
	uint64_t period;
};

static void process_free(struct process *p)
{
	proc_maps_release(&p->maps);
	symbol_table_release(&p->jit);
	free(p);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_processes; i++)
		process_free(s->processes[i]);
	free(s->processes);
	idmap_release(&s->by_pid);
	idmap_release(&s->missing);
	paths_release(&s->paths);
	images_release(&s->images);
	kallsyms_release(&s->kernel);
	elf_image_release(&s->vdso);
	free(s->proc);
	free(s);
}

struct symbols *symbols_new(const char *proc, const char *debug_dir)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->images.debug_dir = debug_dir;
	s->period = 1;
	s->proc = strdup(proc);
	if (!s->proc) {
		free(s);
		return NULL;
	}
	return s;
}

static struct process *process_get(struct symbols *s, int pid)
{
	struct process *p;
	uint32_t at;

	if (idmap_get(&s->by_pid, (uint64_t)pid, &at)) {
		p = s->processes[at];
		p->used = s->period;
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p ||
		array_reserve(&s->processes, &s->cap_processes, s->n_processes + 1,
			sizeof(struct process *)) < 0 ||
		idmap_put(&s->by_pid, (uint64_t)pid, (uint32_t)s->n_processes) < 0) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->used = s->period;
	s->processes[s->n_processes++] = p;
	return p;
}

/* The process may have ended already. Its parent usually runs, in the same directory and the same
 * mount namespace. If not, another file is found there, or none: build-ids show that. */
static int note_by_parent(struct symbols *s, int parent, const char *path)
{
	char whole[4096];
	bool fits;

	if (path[0] == '/')
		fits = (size_t)snprintf(whole, sizeof(whole), "%s/%d/root%s", s->proc, parent,
			       path) < sizeof(whole);
	else
		fits = (size_t)snprintf(whole, sizeof(whole), "%s/%d/cwd/%s", s->proc, parent,
			       path) < sizeof(whole);
	return fits ? paths_note(&s->paths, whole) : 0;
}

int symbols_executed(struct symbols *s, int pid, int parent, const char *path)
{
	int r = 0;
	uint32_t at;

	if (idmap_get(&s->by_pid, (uint64_t)pid, &at)) {
		struct process *p = s->processes[at];

		proc_maps_release(&p->maps);
		symbol_table_release(&p->jit);
		p->told = p->read = p->jit_read = false;
	}
	if (parent > 0 && path[0] && (path[0] != '/' || namespaces_other_files(s->proc, parent)))
		r = note_by_parent(s, parent, path);
	return r < 0 ? r : paths_note(&s->paths, path);
}

int symbols_survey(struct symbols *s)
{
	_cleanup_closedir_ DIR *dir = opendir(s->proc);
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && dir && (entry = readdir(dir))) {
		_cleanup_(proc_maps_release) struct proc_maps maps = {0};
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || proc_maps_read(s->proc, pid, &maps) < 0)
			continue;
		for (size_t i = 0; r == 0 && i < maps.n; i++)
			r = paths_note(&s->paths, maps.items[i].path);
	}
	return r;
}

int symbols_mapped(struct symbols *s, int pid, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path)
{
	struct process *p = process_get(s, pid);

	if (!p)
		return -ENOMEM;
	if (end <= start || p->maps.n >= PROC_MAPS_MAX)
		return 0;
	p->told = true;
	return proc_maps_add(&p->maps, start, end, offset, inode, path);
}

void symbols_tick(struct symbols *s)
{
	size_t n = 0;

	s->period++;
	images_tick(&s->images);
	idmap_clear(&s->by_pid);
	for (size_t i = 0; i < s->n_processes; i++) {
		struct process *p = s->processes[i];
		char path[512];

		snprintf(path, sizeof(path), "%s/%d", s->proc, p->pid);
		if (!p->told || access(path, F_OK) < 0) {
			process_free(p);
			continue;
		}
		p->read = p->jit_read = false;
		/* This cannot fail: there was room for as many. */
		idmap_put(&s->by_pid, (uint64_t)p->pid, (uint32_t)n);
		s->processes[n++] = p;
	}
	s->n_processes = n;
	if (s->period % MISSING_AGAIN == 0)
		idmap_clear(&s->missing);
	if (s->period % PATHS_AGAIN == 0)
		paths_again(&s->paths);
}

/* Read the mappings of a process, once per period. If it is gone, the reported ones stay. */
static void process_read(struct symbols *s, struct process *p)
{
	struct proc_maps maps;

	if (p->read)
		return;
	p->read = true;
	if (proc_maps_read(s->proc, p->pid, &maps) < 0 || !maps.n)
		return;
	proc_maps_release(&p->maps);
	p->maps = maps;
}

/* Open the mapped file, even if it no longer has a name; if that is not permitted, the file with
 * its name and number. */
static int mapping_open(
	const struct symbols *s, const struct process *p, const struct proc_mapping *m)
{
	char path[4096 + 64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/map_files/%" PRIx64 "-%" PRIx64, s->proc, p->pid,
		m->start, m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%d/root%s", s->proc, p->pid, m->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) /* it has ended; reported mappings stay */
		fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && m->inode && fstat(fd, &st) == 0 && st.st_ino == m->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

static struct image *mapping_image(
	struct symbols *s, const struct process *p, const struct proc_mapping *m)
{
	struct image *image = NULL;
	_cleanup_close_ int fd = mapping_open(s, p, m);

	return fd >= 0 && images_open(&s->images, fd, m->path, &image) == 0 ? image : NULL;
}

/* The image of a process at an address. */
static struct image *process_image(struct symbols *s, int pid, uint64_t address)
{
	struct process *p = process_get(s, pid);
	const struct proc_mapping *m;

	if (!p)
		return NULL;
	process_read(s, p);
	m = proc_maps_find(&p->maps, address);
	return m && m->path[0] == '/' ? mapping_image(s, p, m) : NULL;
}

/* Search for a build-id in the noted files. */
static struct image *path_image(struct symbols *s, const struct build_id *id)
{
	const char *path = paths_find(&s->paths, id);
	_cleanup_close_ int fd = -1;
	struct image *image;

	if (path)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		images_open(&s->images, fd, path, &image);
	return images_find(&s->images, id);
}

static struct image *image_by_id(struct symbols *s, const struct symbols_query *q)
{
	uint64_t hash = hash_bytes(q->id.bytes, sizeof(q->id.bytes));
	struct image *image = images_find(&s->images, &q->id);
	uint32_t at;

	if (image || idmap_get(&s->missing, hash, &at))
		return image;
	process_image(s, q->pid, q->address);
	image = images_find(&s->images, &q->id);
	if (!image)
		image = path_image(s, &q->id);
	if (!image)
		idmap_put(&s->missing, hash, 0);
	return image;
}

/* An address without a symbol is reported by its page. */
static void answer_page(struct symbols_answer *a, uint64_t address)
{
	snprintf(a->function, sizeof(a->function), "%s+0x%" PRIx64, a->image, address & ~PAGE_MASK);
}

static void answer_from(const struct elf_image *e, uint64_t address, struct symbols_answer *a)
{
	const struct symbol *sym = symbol_table_find(&e->symbols, address);

	a->known = true;
	if (sym)
		demangle(symbol_name(&e->symbols, sym), a->function, sizeof(a->function));
	else
		answer_page(a, address);
}

static void answer_image(const struct image *image, uint64_t offset, struct symbols_answer *a)
{
	uint64_t address = offset;

	snprintf(a->image, sizeof(a->image), "%s", image->name);
	elf_image_address(&image->elf, offset, &address);
	answer_from(&image->elf, address, a);
}

/* If the file of a build-id was not found, use the build-id as a name. */
static void answer_nameless(const struct symbols_query *q, struct symbols_answer *a)
{
	snprintf(a->image, sizeof(a->image), "%02x%02x%02x%02x", q->id.bytes[0], q->id.bytes[1],
		q->id.bytes[2], q->id.bytes[3]);
	answer_page(a, q->offset);
}

/* The kernel's library (vdso) is the same in every process. */
static void vdso_read(struct symbols *s)
{
	_cleanup_(proc_maps_release) struct proc_maps own = {0};
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	const struct proc_mapping *m;

	s->vdso_read = true;
	if (!start || proc_maps_read("/proc", getpid(), &own) < 0)
		return;
	m = proc_maps_find(&own, start);
	if (m) /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns an integer */
		elf_image_read_memory((const void *)start, m->end - start, &s->vdso);
}

static void answer_vdso(
	struct symbols *s, const struct proc_mapping *m, uint64_t address, struct symbols_answer *a)
{
	if (!s->vdso_read)
		vdso_read(s);
	snprintf(a->image, sizeof(a->image), "vdso");
	answer_from(&s->vdso, address - m->start, a);
}

/* Memory that may contain code of a run-time compiler: it has no file, or the process shares it
 * only with itself.
 */
static bool is_memory(const char *path)
{
	static const char *const names[] = {
		"//anon", "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV", "/dev/shm/"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	}
	return path[0] != '/';
}

/* A program may also be executed from there. */
static bool has_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

static const struct symbol *jit_find(struct symbols *s, struct process *p, uint64_t address)
{
	if (!p->jit_read) {
		symbol_table_release(&p->jit);
		perf_map_read(s->proc, p->pid, &p->jit);
	}
	p->jit_read = true;
	return symbol_table_find(&p->jit, address);
}

/* Code without a file comes from a run-time compiler, which may name it. Addresses mean nothing on
 * another server. */
static void answer_jit(
	struct symbols *s, struct process *p, uint64_t address, struct symbols_answer *a)
{
	const struct symbol *sym = jit_find(s, p, address);

	snprintf(a->image, sizeof(a->image), "%s", sym ? "jit" : "anon");
	snprintf(a->function, sizeof(a->function), "%s", sym ? symbol_name(&p->jit, sym) : "anon");
	a->known = true;
}

static int find_mapped(struct symbols *s, const struct symbols_query *q, struct symbols_answer *a)
{
	struct process *p = process_get(s, q->pid);
	const struct proc_mapping *m;
	struct image *image;

	if (!p)
		return -ENOMEM;
	process_read(s, p);
	m = proc_maps_find(&p->maps, q->address);
	if (!m)
		return 0;
	if (!strcmp(m->path, "[vdso]")) {
		answer_vdso(s, m, q->address, a);
	} else if (is_memory(m->path) && (!has_file(m->path) || jit_find(s, p, q->address))) {
		answer_jit(s, p, q->address, a);
	} else if ((image = mapping_image(s, p, m))) {
		answer_image(image, q->address - m->start + m->offset, a);
	} else {
		snprintf(a->image, sizeof(a->image), "%s", path_basename(m->path));
		answer_page(a, q->address - m->start + m->offset);
		a->known = true;
	}
	return 0;
}

/* Modules can be loaded at any time, so unknown addresses are looked up again from time to time. */
static void find_kernel(struct symbols *s, uint64_t address, struct symbols_answer *a)
{
	const char *image = "kernel", *name = NULL;

	for (int look = 0; look < 2 && !name; look++) {
		struct kallsyms fresh;
		char path[512];

		name = kallsyms_find(&s->kernel, address, &image);
		if (name || (s->kernel_read && s->kernel_read + KERNEL_AGAIN > s->period))
			break;
		s->kernel_read = s->period;
		snprintf(path, sizeof(path), "%s/kallsyms", s->proc);
		if (kallsyms_read(path, &fresh) < 0)
			break;
		kallsyms_release(&s->kernel);
		s->kernel = fresh;
	}
	snprintf(a->image, sizeof(a->image), "%s", image);
	snprintf(a->function, sizeof(a->function), "%s", name ? name : image);
	a->known = name != NULL;
}

int symbols_find(struct symbols *s, const struct symbols_query *q, struct symbols_answer *ret)
{
	const struct image *image;
	int r;

	*ret = (struct symbols_answer){.image = "unknown", .function = "unknown"};
	if (q->kernel) {
		find_kernel(s, q->address, ret);
		return 0;
	}
	image = q->id.known ? image_by_id(s, q) : NULL;
	if (image) {
		answer_image(image, q->offset, ret);
		return 0;
	}
	r = find_mapped(s, q, ret);
	if (r == 0 && !ret->known && q->id.known)
		answer_nameless(q, ret);
	return r;
}
