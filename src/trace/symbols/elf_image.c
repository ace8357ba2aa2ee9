#include "trace/symbols/elf_image.h"

#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#define SECTIONS_MAX 65536
#define FILE_BYTES_MAX ((off_t)4 << 30)
/* The maximum number of bytes to read from a file: sections may overlap, and there may be many. */
#define BYTES_MAX ((uint64_t)256 << 20)
#define NOTE_BYTES_MAX ((uint64_t)64 << 10)
/* The maximum size of unpacked symbols. */
#define UNPACKED_MAX ((size_t)64 << 20)
#define UNPACK_MEMORY_MAX ((uint64_t)128 << 20)

DEFINE_CLEANUP(Elf *, elf_end);

/* A file that is being read. */
struct reading {
	Elf *elf;
	struct elf_image *image;
	uint64_t left;	     /* bytes that may still be read */
	bool inner;	     /* it comes from a section of another file: do not look further */
	bool symtab, dynsym; /* these were already read; only one of each counts */
};

/* May this many bytes be read? */
static bool afford(struct reading *g, uint64_t bytes)
{
	if (bytes > g->left)
		return false;
	g->left -= bytes;
	return true;
}

void elf_image_release(struct elf_image *e)
{
	symbol_table_release(&e->symbols);
	*e = (struct elf_image){0};
}

bool elf_image_supported(void)
{
	return true;
}

bool elf_image_address(const struct elf_image *e, uint64_t offset, uint64_t *ret)
{
	for (unsigned i = 0; i < e->n_segments; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

static void segments_read(Elf *elf, struct elf_image *e)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && e->n_segments < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p))
			return;
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			e->segments[e->n_segments++] =
				(struct elf_segment){p.p_offset, p.p_vaddr, p.p_filesz};
	}
}

/* The build-id among some notes. */
static void notes_read(Elf_Data *data, struct elf_image *e)
{
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && !e->id.known &&
		(at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			memcmp(bytes + name_at, "GNU", 4) != 0 || note.n_descsz == 0)
			continue;
		memcpy(e->id.bytes, bytes + desc_at,
			note.n_descsz < BUILD_ID_MAX ? note.n_descsz : BUILD_ID_MAX);
		e->id.known = true;
	}
}

static void build_id_read(Elf *elf, struct elf_image *e)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < ELF_SEGMENTS_MAX && !e->id.known; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_NOTE &&
			p.p_filesz <= NOTE_BYTES_MAX)
			notes_read(elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
					   p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
				e);
	}
}

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF &&
		sym->st_value;
}

/* The functions of a table of symbols. */
static int symbols_add(struct reading *g, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data, *names = NULL;
	Elf_Scn *strings = elf_getscn(g->elf, header->sh_link);
	GElf_Shdr string_header;
	int r = 0;

	if (header->sh_entsize == 0 || !strings || !gelf_getshdr(strings, &string_header) ||
		string_header.sh_type != SHT_STRTAB || !afford(g, header->sh_size) ||
		!afford(g, string_header.sh_size))
		return 0;
	data = elf_getdata(section, NULL);
	names = elf_getdata(strings, NULL);
	if (!data || !names || !names->d_buf)
		return 0;
	for (size_t i = 0; r == 0 && i < header->sh_size / header->sh_entsize; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (!is_function(&sym) || sym.st_name >= names->d_size)
			continue;
		name = (const char *)names->d_buf + sym.st_name;
		r = symbol_table_add(&g->image->symbols, sym.st_value, sym.st_size, name,
			strnlen(name, names->d_size - sym.st_name), 0);
	}
	return r;
}

static int sections_read(struct reading *g);

#ifdef HAVE_LZMA
/* Symbols that are packed into a section: an ELF file, compressed with xz. */
static int debugdata_read(Elf_Data *data, struct elf_image *image)
{
	struct reading g = {.image = image, .left = BYTES_MAX, .inner = true};
	_cleanup_free_ uint8_t *unpacked = NULL;
	uint64_t memory = UNPACK_MEMORY_MAX;
	size_t in = 0, out = 0;
	_cleanup_(elf_endp) Elf *elf = NULL;

	if (!data || !data->d_buf)
		return 0;
	unpacked = malloc(UNPACKED_MAX); /* pages that are not written cost nothing */
	if (!unpacked)
		return -ENOMEM;
	if (lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &in, data->d_size, unpacked,
		    &out, UNPACKED_MAX) != LZMA_OK)
		return 0;
	elf = elf_memory((char *)unpacked, out);
	g.elf = elf;
	return elf && elf_kind(elf) == ELF_K_ELF ? sections_read(&g) : 0;
}
#else
static int debugdata_read(Elf_Data *data, struct elf_image *image)
{
	(void)data;
	(void)image;
	return 0;
}
#endif

/* Is this a table of symbols, and the first of its type? */
static bool table_is_next(struct reading *g, const GElf_Shdr *header)
{
	bool *seen = header->sh_type == SHT_SYMTAB ? &g->symtab
		: header->sh_type == SHT_DYNSYM	   ? &g->dynsym
						   : NULL;

	if (!seen || *seen)
		return false;
	*seen = true;
	return true;
}

/* Read all sections with symbols. */
static int sections_read(struct reading *g)
{
	Elf_Scn *section = NULL;
	size_t names = 0, n = 0;
	int r = 0;

	if (elf_getshdrstrndx(g->elf, &names) < 0)
		return 0;
	while (r == 0 && n++ < SECTIONS_MAX && (section = elf_nextscn(g->elf, section))) {
		GElf_Shdr h;
		const char *name;

		if (!gelf_getshdr(section, &h))
			continue;
		if (table_is_next(g, &h))
			r = symbols_add(g, section, &h);
		if (g->inner || h.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(g->elf, names, h.sh_name);
		if (!name || strcmp(name, ".gnu_debugdata") != 0 || !afford(g, h.sh_size))
			continue;
		g->inner = true; /* one of them is enough */
		r = debugdata_read(elf_rawdata(section, NULL), g->image);
	}
	return r;
}

static int image_open(int fd, Elf **ret)
{
	struct stat st;
	Elf *elf;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX)
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	if (elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOEXEC;
	}
	*ret = elf;
	return 0;
}

int elf_image_identify(int fd, struct elf_image *ret)
{
	_cleanup_(elf_endp) Elf *elf = NULL;
	int r = image_open(fd, &elf);

	if (r < 0)
		return r;
	*ret = (struct elf_image){0};
	segments_read(elf, ret);
	build_id_read(elf, ret);
	return 0;
}

/* Read the symbols of the separate debug file for a build-id. They count only if that file has the
 * same build-id.
 */
static int debug_file_read(const char *dir, struct elf_image *e)
{
	_cleanup_(elf_image_release) struct elf_image other = {0};
	_cleanup_(elf_endp) Elf *elf = NULL;
	_cleanup_close_ int fd = -1;
	char path[512];
	int len = snprintf(path, sizeof(path), "%s/.build-id/%02x/", dir, e->id.bytes[0]);

	if (len < 0 || (size_t)len + sizeof(e->id.bytes) * 2 + sizeof(".debug") > sizeof(path))
		return 0;
	for (size_t i = 1; i < BUILD_ID_MAX; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x", e->id.bytes[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || image_open(fd, &elf) < 0)
		return 0;
	build_id_read(elf, &other);
	if (memcmp(&other.id, &e->id, sizeof(e->id)) != 0)
		return 0;
	return sections_read(
		&(struct reading){.elf = elf, .image = e, .left = BYTES_MAX, .inner = true});
}

int elf_image_read(int fd, const char *debug_dir, struct elf_image *ret)
{
	_cleanup_(elf_image_release) struct elf_image e = {0};
	_cleanup_(elf_endp) Elf *elf = NULL;
	int r = image_open(fd, &elf);

	if (r < 0)
		return r;
	segments_read(elf, &e);
	build_id_read(elf, &e);
	r = sections_read(&(struct reading){.elf = elf, .image = &e, .left = BYTES_MAX});
	if (r == 0 && debug_dir && e.id.known)
		r = debug_file_read(debug_dir, &e);
	if (r < 0)
		return r;
	symbol_table_finish(&e.symbols);
	*ret = e;
	e = (struct elf_image){0};
	return 0;
}

int elf_image_read_memory(const void *data, size_t size, struct elf_image *ret)
{
	_cleanup_(elf_image_release) struct elf_image e = {0};
	_cleanup_free_ char *copy = malloc(size + 1); /* libelf may modify it */
	_cleanup_(elf_endp) Elf *elf = NULL;
	int r;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	segments_read(elf, &e);
	build_id_read(elf, &e);
	r = sections_read(&(struct reading){.elf = elf, .image = &e, .left = BYTES_MAX});
	if (r < 0)
		return r;
	symbol_table_finish(&e.symbols);
	*ret = e;
	e = (struct elf_image){0};
	return 0;
}
