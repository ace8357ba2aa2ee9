/* An inventory of observers from arbitrary bytes. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "model/inventory.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(inventory_release) struct inventory inv = {0};
	struct lp_err err = {0};

	if (inventory_parse((const char *)data, size, "list", &inv, &err) < 0) {
		if (strncmp(err.text, "list", 4) != 0)
			abort();
		return 0;
	}
	if (!inv.n || inv.index.n != inv.n)
		abort();
	for (uint32_t i = 0; i < inv.n; i++) {
		const char *name = inv.observers[i];

		if (inventory_refuses(name, strlen(name)) || !inventory_has(&inv, name))
			abort();
	}
	return 0;
}
