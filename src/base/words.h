/* Lists separated by commas, in one or several options: "a,b" "c". */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/option.h"

#define WORDS_MAX 256

struct words {
	char *copies[OPTION_LIST_MAX];
	unsigned n_copies;
	const char *items[WORDS_MAX];
	unsigned n;
};

/* Split the lists. An item without words is an error, because it would mean all. Zero-initialise
 * `ret`, and call words_release() even after a failure. */
int words_split(const struct option_list *list, struct words *ret, struct lp_err *err);
void words_release(struct words *w);

#endif
