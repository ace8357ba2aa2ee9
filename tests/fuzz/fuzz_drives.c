/* The powers of drives. */
#include "fuzz.h"
#include "trace/stack/drive.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct drives d = {0};
	struct lp_err err = {0};
	int r = drives_parse((const char *)data, size, "drives.yaml", &d, &err);

	if (r < 0 && !err.text[0])
		abort();
	for (size_t i = 0; r == 0 && i < d.n; i++) {
		if (!d.items[i].name || !(d.items[i].active_w > 0))
			abort();
	}
	drives_release(&d);
	return 0;
}
