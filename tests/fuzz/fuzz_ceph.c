/* Answers of Ceph's admin socket. */
#include "base/cleanup.h"
#include "collect/ceph_parse.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	int64_t values[CEPH_N] = {0}, slowest = 0;

	if (!text)
		return 0;
	ceph_parse_perf(text, values);
	for (unsigned i = 0; i < CEPH_N; i++) {
		if (values[i] < 0)
			abort();
	}
	if (ceph_parse_historic(text, &slowest) && slowest < 0)
		abort();
	return 0;
}
