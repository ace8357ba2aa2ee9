/* A table of function calls that a hostile program wrote. The input is its beginning; zeros follow,
 * as many as the input says. */
#include "fuzz.h"
#include "trace/calls/calls_reading.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The first byte chooses the length of the file: that of the input, or that of a table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct calls_reading reading = {0};
	struct lp_err err = {0};
	static int fd = -1;
	off_t length;

	if (size < 1)
		return 0;
	if (fd < 0)
		fd = memfd_create("table", MFD_CLOEXEC);
	length = data[0] & 1 ? (off_t)sizeof(struct calls_table) : (off_t)(size - 1);
	if (fd < 0 || ftruncate(fd, 0) < 0 || ftruncate(fd, length) < 0 ||
		pwrite(fd, data + 1, size - 1, 0) != (ssize_t)(size - 1))
		abort();
	for (int i = 0; i < 2; i++) {
		if (calls_reading_fill(&reading, fd, &err) < 0)
			continue;
		for (size_t f = 0; f < reading.header.n_functions; f++) {
			uint16_t module = reading.functions[f].module;

			if (module != CALLS_NO_MODULE &&
				strlen(reading.modules[module].path) >=
					sizeof(reading.modules[0].path))
				abort();
		}
	}
	calls_reading_release(&reading);
	return 0;
}
