/* Labels of a component: "key=value" lines in one text. */
#ifndef MODEL_LABELS_H
#define MODEL_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* A line, taken apart; nothing in it is terminated. */
struct label {
	const char *key, *value;
	size_t n_key, n_value;
};

/* The label that begins at `*at`, which moves on to the next; false behind the last. A line without
 * "=" is left out. */
bool label_next(const char **at, struct label *ret);

/* Copy the value of a label into `buf`; false if there is none of that key. */
bool labels_get(const char *labels, const char *key, char *buf, size_t size);

#endif
