/* An archive that grows: half of it is there at first, then all of it, then it is shorter. */
#include "archive/follow.h"
#include "base/cleanup.h"
#include "fuzz.h"
#include <sys/mman.h>

static void drain(struct follow *f)
{
	struct follow_item item;
	struct lp_err err = {0};

	for (unsigned i = 0; i < 10000 && follow_next(f, INT64_MAX, &item, &err) > 0; i++)
		continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("follow", MFD_CLOEXEC);
	const struct follow_options options = {.from_us = size % 3 ? 0 : 1};
	struct follow *f = NULL;
	char path[64];

	if (fd < 0 || write(fd, data, size / 2) != (ssize_t)(size / 2))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (follow_open(path, &options, INT64_MIN, &f, NULL) < 0)
		return 0;
	drain(f);
	if (write(fd, data + size / 2, size - size / 2) == (ssize_t)(size - size / 2))
		drain(f);
	if (ftruncate(fd, (off_t)(size - size / 4)) == 0)
		drain(f);
	follow_meta(f, "observer");
	follow_close(f);
	return 0;
}
