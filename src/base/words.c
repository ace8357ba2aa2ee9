#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void words_release(struct words *w)
{
	for (unsigned i = 0; i < w->n_copies; i++)
		free(w->copies[i]);
}

int words_split(const struct option_list *list, struct words *ret, struct lp_err *err)
{
	for (unsigned i = 0; i < list->n; i++) {
		char *copy = strdup(list->items[i]), *save = NULL;
		unsigned before = ret->n;

		if (!copy)
			return lp_err_sys(err, -ENOMEM, "cannot read options");
		ret->copies[ret->n_copies++] = copy;
		for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
			if (ret->n == WORDS_MAX)
				return lp_err_set(
					err, -EINVAL, "a list of more than %d items", WORDS_MAX);
			ret->items[ret->n++] = w;
		}
		if (ret->n == before)
			return lp_err_set(err, -EINVAL,
				"'%.64s' names nothing (want a name, or several separated by "
				"commas)",
				list->items[i]);
	}
	return 0;
}
