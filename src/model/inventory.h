/* An inventory: the observers that must deliver data. It is a text file with one name per line; '#'
 * begins a comment. */
#ifndef MODEL_INVENTORY_H
#define MODEL_INVENTORY_H

#include "base/hash.h"
#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INVENTORY_NAME_MAX 255

struct inventory {
	char **observers; /* in the order of the file, each once */
	uint32_t n;
	size_t cap;
	struct strmap index;
};

/* Read an inventory; "-" is standard input. Zero-initialise `ret`, and call inventory_release()
 * even after a failure. Errors name file and line; an empty list is an error. */
int inventory_read(const char *path, struct inventory *ret, struct lp_err *err);
int inventory_parse(
	const char *text, size_t len, const char *name, struct inventory *ret, struct lp_err *err);
void inventory_release(struct inventory *inv);

/* Why the text is not a valid name of an observer, or NULL. */
const char *inventory_refuses(const char *text, size_t len);

/* Add a valid name, unless the inventory has it already. 0 or -ENOMEM. */
int inventory_add(struct inventory *inv, const char *text, size_t len);

bool inventory_has(const struct inventory *inv, const char *observer);

#endif
