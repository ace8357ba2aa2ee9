/* The functions of the kernel and of its modules, from /proc/kallsyms. */
#ifndef TRACE_KALLSYMS_H
#define TRACE_KALLSYMS_H

#include "base/hash.h"
#include "trace/symbols/symbol_table.h"

/* Zero-initialise it. */
struct kallsyms {
	struct symbol_table symbols; /* tag: position in `images` */
	char **images;		     /* "kernel", "ext4.ko"; the kernel is the first */
	size_t n_images, cap_images;
	struct strmap image_index;
};

void kallsyms_release(struct kallsyms *k);

/* Parse the text of such a file; modifies `text`. Data, and lines that cannot be parsed, are left
 * out; so is everything if the kernel hides addresses. 0 or -ENOMEM. */
int kallsyms_parse(struct kallsyms *k, char *text);
int kallsyms_read(const char *path, struct kallsyms *ret);

/* The function at an address and its image, or NULL. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **ret_image);

#endif
