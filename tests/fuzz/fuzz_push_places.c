/* The file that stores how far samples were sent, of arbitrary bytes. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "serve/push_places.h"
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(push_places_release) struct push_places p = {0};
	int r = push_places_parse(&p, (const char *)data, size);

	if (r != 0 && r != -EBADMSG)
		abort();
	for (size_t i = 0; i < p.n; i++) {
		if (p.items[i].begin_us != p.items[i].sent_us)
			abort();
	}
	return 0;
}
