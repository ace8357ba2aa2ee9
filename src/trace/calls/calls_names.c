#include "trace/calls/calls_names.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "trace/profile/profile.h"
#include "trace/symbols/demangle.h"
#include "trace/symbols/images.h"
#include "trace/symbols/symbols.h"
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calls_names {
	char *proc;
	struct images images;
};

struct calls_names *calls_names_new(const char *proc)
{
	struct calls_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->images.debug_dir = PROFILE_DEBUG_DIR;
	n->proc = strdup(proc);
	if (!n->proc) {
		free(n);
		return NULL;
	}
	return n;
}

void calls_names_free(struct calls_names *n)
{
	if (!n)
		return;
	images_release(&n->images);
	free(n->proc);
	free(n);
}

void calls_names_tick(struct calls_names *n)
{
	images_tick(&n->images);
}

/* Open the file of a module through the program's view of the file system, while the program
 * exists. */
static int module_open(
	const struct calls_names *n, const struct calls_program *p, const struct calls_module *m)
{
	char path[PATH_MAX];
	int fd = -1;

	if (m->path[0] != '/')
		return -1;
	snprintf(path, sizeof(path), "%s/%d/root%s", n->proc, (int)p->pid, m->path);
	if (!p->ended)
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 ? fd : open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static struct build_id build_id_of(const struct calls_module *m)
{
	struct build_id id = {.known = m->build_id_size > 0};

	memcpy(id.bytes, m->build_id, m->build_id_size);
	return id;
}

/* The image of a module; NULL: it cannot be read, or has been replaced. */
static const struct image *image_of(
	struct calls_names *n, const struct calls_program *p, const struct calls_module *m)
{
	struct build_id id = build_id_of(m);
	struct image *image = id.known ? images_find(&n->images, &id) : NULL;
	_cleanup_close_ int fd = image ? -1 : module_open(n, p, m);

	if (image)
		return image;
	if (fd < 0 || images_open(&n->images, fd, m->path, &image) < 0)
		return NULL;
	if (id.known && image->elf.id.known &&
		memcmp(id.bytes, image->elf.id.bytes, BUILD_ID_MAX) != 0)
		return NULL;
	return image;
}

static void function_name(const struct image *image, const struct calls_module *m, uint64_t address,
	char *buf, size_t size)
{
	const struct symbol *symbol =
		image ? symbol_table_find(&image->elf.symbols, address - m->bias) : NULL;

	if (symbol)
		demangle(symbol_name(&image->elf.symbols, symbol), buf, size);
	else if (m->path[0] == '/') /* as samples are named */
		snprintf(buf, size, "%s+0x%" PRIx64, path_basename(m->path),
			(address - m->bias) / 4096 * 4096);
	else /* an address means nothing on another server */
		snprintf(buf, size, "%s", path_basename(m->path));
}

char *calls_names_find(struct calls_names *n, const struct calls_program *p, size_t function)
{
	const struct calls_function *f = &p->reading.functions[function];
	const struct calls_module unknown = {.path = "unknown"};
	const struct calls_module *m =
		f->module == CALLS_NO_MODULE ? &unknown : &p->reading.modules[f->module];
	char program[SAMPLER_COMM_MAX], name[SYMBOLS_FUNCTION_MAX], image[SYMBOLS_IMAGE_MAX];
	char *text;

	profile_program_name(p->name, program);
	function_name(image_of(n, p, m), m, f->address, name, sizeof(name));
	profile_word_make(name, true);
	snprintf(image, sizeof(image), "%s", path_basename(m->path));
	profile_word_make(image, false);
	if (asprintf(&text, "%s:%s:%s", program, image, name) < 0)
		return NULL;
	return text;
}
