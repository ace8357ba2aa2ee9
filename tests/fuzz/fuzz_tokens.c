/* A file of tokens, of arbitrary bytes. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "serve/tokens.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(token_list_release) struct token_list l = {0};
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct lp_err err = {0};

	if (!text)
		return 0;
	if (token_list_parse(&l, text, &err) < 0) {
		if (strncmp(err.text, "line ", 5) != 0)
			abort();
		return 0;
	}
	for (size_t i = 0; i < l.n; i++) {
		if (!token_name_is_good(l.items[i].name))
			abort();
	}
	return 0;
}
