#include "trace/stack/places.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "trace/symbols/elf_image.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs in a command that are looked at. */
#define PROGRAMS_MAX 64

static bool is_range(const struct stack_place *p)
{
	return p->kind != PLACE_MARK;
}

/* Is a symbol the function, or a part that the compiler split off it ("f.cold"), or the same in
 * Fortran ("f_")? */
static bool is_function(const char *symbol, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(symbol, function, len) &&
		(!symbol[len] || symbol[len] == '.' || !strcmp(symbol + len, "_"));
}

int place_function(int fd, const char *function, struct place_ranges *ret)
{
	_cleanup_(elf_image_release) struct elf_image image = {0};
	int r = elf_image_supported() ? elf_image_read(fd, NULL, &image) : -ENOTSUP;

	for (size_t i = 0; i < image.symbols.n && r == 0; i++) {
		const struct symbol *s = &image.symbols.items[i];

		if (!s->size || !is_function(symbol_name(&image.symbols, s), function))
			continue;
		r = array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items));
		if (r == 0)
			ret->items[ret->n++] = (struct place_range){s->start, s->start + s->size};
	}
	return r;
}

static void ranges_release(struct place_ranges *r)
{
	free(r->items);
}

/* Append the ranges of a region to the others. 1: it has some. */
static int region_add(int fd, const struct stack_place *p, struct strbuf *sb)
{
	_cleanup_(ranges_release) struct place_ranges ranges = {0};
	int r = p->kind == PLACE_FUNCTION ? place_function(fd, p->what, &ranges)
					  : place_lines(fd, p->what, p->first, p->last, &ranges);

	if (r < 0)
		return r;
	if (!ranges.n)
		return 0;
	strbuf_printf(sb, "|%s|", p->name);
	for (size_t i = 0; i < ranges.n; i++)
		strbuf_printf(sb, "%s%" PRIx64 "-%" PRIx64, i ? "," : "", ranges.items[i].first,
			ranges.items[i].end);
	return 1;
}

/* All regions in one program. 0: one is missing, `*ret_missing`. */
static int program_add(const struct stack_config *c, const char *path, struct strbuf *sb,
	const struct stack_place **ret_missing)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	*ret_missing = NULL;
	if (fd < 0)
		return -errno;
	strbuf_puts(sb, path);
	for (size_t i = 0; i < c->n_regions; i++) {
		int r = is_range(&c->regions[i]) ? region_add(fd, &c->regions[i], sb) : 1;

		if (r <= 0) {
			*ret_missing = &c->regions[i];
			return r;
		}
	}
	return 1;
}

/* The file of a word of the command: as it stands, or the first one on $PATH. */
static bool program_path(const char *word, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");

	if (strchr(word, '/'))
		return realpath(word, ret) != NULL && access(ret, X_OK) == 0;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, word);
		if (access(file, X_OK) == 0 && realpath(file, ret))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

static bool is_elf(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[4];

	return fd >= 0 && read(fd, magic, 4) == 4 && !memcmp(magic, "\177ELF", 4);
}

/* May a word of the command be the application? */
static bool is_application(const struct stack_config *c, const char *word)
{
	const char *slash = strrchr(word, '/');

	return !c->application || !strcmp(c->application, slash ? slash + 1 : word);
}

static int missing_error(const struct stack_place *p, int error, const char *name,
	const char *program, struct lp_err *err)
{
	if (error == -ENOTSUP)
		return lp_err_set(err, error,
			"%s:%zu: limpet was built without libdw and libelf, which it needs to find "
			"'%s'",
			name, p->line, p->name);
	if (p->kind == PLACE_FUNCTION)
		return lp_err_set(err, -ENOENT, "%s:%zu: there is no function '%s' in %s", name,
			p->line, p->what, program);
	return lp_err_set(err, -ENOENT,
		"%s:%zu: there is no code of '%s' in %s, or it has no line numbers (compile it "
		"with -g)",
		name, p->line, p->name, program);
}

static const struct stack_place *first_range(const struct stack_config *c)
{
	for (size_t i = 0; i < c->n_regions; i++) {
		if (is_range(&c->regions[i]))
			return &c->regions[i];
	}
	return NULL;
}

int places_find(
	const struct stack_config *c, char *const *command, struct strbuf *ret, struct lp_err *err)
{
	const char *name = c->name ? c->name : "the configuration";
	const struct stack_place *range = first_range(c), *missing = range;
	char path[PATH_MAX], last[PATH_MAX] = "";
	int error = 0;

	if (!range)
		return 0;
	for (int i = 0; i < PROGRAMS_MAX && command[i]; i++) {
		struct strbuf sb = {0};
		const struct stack_place *lacks;
		int r;

		if (!is_application(c, command[i]) || !program_path(command[i], path) ||
			!is_elf(path))
			continue;
		r = program_add(c, path, &sb, &lacks);
		if (r == 1) {
			strbuf_puts(ret, sb.text);
			strbuf_release(&sb);
			return ret->failed ? lp_err_sys(err, -ENOMEM, "cannot find regions") : 0;
		}
		strbuf_release(&sb);
		missing = lacks ? lacks : range;
		error = r;
		snprintf(last, sizeof(last), "%s", path);
	}
	if (!*last)
		return lp_err_set(err, -ENOENT,
			"%s:%zu: limpet looks for '%s' in the program, but the command has no "
			"program%s%s",
			name, range->line, range->name, c->application ? " called " : "",
			c->application ? c->application : "");
	return missing_error(missing, error, name, last, err);
}
