#include "trace/symbols/kallsyms.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KALLSYMS_BYTES_MAX ((size_t)256 << 20)
#define IMAGES_MAX 4096
/* The assumed size of the last function. */
#define LAST_BYTES 4096

void kallsyms_release(struct kallsyms *k)
{
	for (size_t i = 0; i < k->n_images; i++)
		free(k->images[i]);
	free(k->images);
	symbol_table_release(&k->symbols);
	strmap_release(&k->image_index);
	*k = (struct kallsyms){0};
}

static int image_number(struct kallsyms *k, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&k->image_index, name, ret))
		return 0;
	if (k->n_images >= IMAGES_MAX) {
		*ret = 0;
		return 0;
	}
	copy = strdup(name);
	if (!copy ||
		array_reserve(&k->images, &k->cap_images, k->n_images + 1, sizeof(char *)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*ret = (uint32_t)k->n_images;
	k->images[k->n_images++] = copy;
	return strmap_put(&k->image_index, name, *ret);
}

/* "[ext4]" at the end of a line -> "ext4.ko"; "" -> "kernel"; "[bpf]" and similar names stay. */
static int image_of(struct kallsyms *k, char *module, uint32_t *ret)
{
	char name[80];

	if (module[0] != '[')
		return image_number(k, "kernel", ret);
	module[strcspn(module, "]")] = '\0';
	snprintf(name, sizeof(name), "%s%s", module + 1,
		!strcmp(module, "[bpf") || !strncmp(module, "[__builtin", 10) ? "" : ".ko");
	return image_number(k, name, ret);
}

/* "ffffffff81000000 T name\t[module]" */
static int line_parse(struct kallsyms *k, char *line)
{
	char *end, *name, *module;
	uint64_t address = strtoull(line, &end, 16);
	uint32_t image;
	size_t len;

	if (!address || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
		return 0;
	name = end + 3;
	len = strcspn(name, " \t");
	module = name + len + strspn(name + len, " \t");
	if (image_of(k, module, &image) < 0)
		return -ENOMEM;
	return symbol_table_add(&k->symbols, address, 0, name, len, image);
}

int kallsyms_parse(struct kallsyms *k, char *text)
{
	uint32_t kernel;
	int r = image_number(k, "kernel", &kernel);

	while (r == 0 && *text) {
		char *end = strchrnul(text, '\n'), *next = *end ? end + 1 : end;

		*end = '\0';
		r = line_parse(k, text);
		text = next;
	}
	if (r < 0)
		return r;
	symbol_table_finish(&k->symbols);
	if (k->symbols.n)
		k->symbols.items[k->symbols.n - 1].size = LAST_BYTES;
	return 0;
}

int kallsyms_read(const char *path, struct kallsyms *ret)
{
	_cleanup_(kallsyms_release) struct kallsyms k = {0};
	_cleanup_free_ char *text = NULL;
	size_t size;
	int r = file_slurp(path, KALLSYMS_BYTES_MAX, &text, &size, NULL);

	if (r == 0)
		r = kallsyms_parse(&k, text);
	if (r < 0)
		return r;
	*ret = k;
	k = (struct kallsyms){0};
	return 0;
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **ret_image)
{
	const struct symbol *s = symbol_table_find(&k->symbols, address);

	if (!s)
		return NULL;
	*ret_image = k->images[s->tag];
	return symbol_name(&k->symbols, s);
}
