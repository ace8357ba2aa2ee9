/* A line to a lab's disk: after any accepted line, the model can still work with the disk. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "lab/disk_control.h"
#include <string.h>

static const struct disk_params params = {
	.size_bytes = 1 << 30,
	.bandwidth_bytes = 30000000,
	.seek_min_us = 2000,
	.seek_max_us = 6000,
};

static void check_model(const struct disk_trouble *t)
{
	struct disk_model m;
	int64_t now = 0;

	disk_model_init(&m, &params, now);
	disk_model_set(&m, t, now);
	for (unsigned i = 0; i < 4; i++) {
		int64_t done = disk_model_serve(&m, now, i * 4096, 4096);

		if (done <= now)
			abort();
		now = done;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *line = strndup((const char *)data, size);
	struct disk_trouble t = DISK_TROUBLE_NONE;
	char reply[DISK_LINE_MAX];
	enum disk_word word;
	struct lp_err err;

	if (!line || disk_control_parse(line, &t, &word, &err) < 0)
		return 0;
	disk_control_show(&t, &(struct disk_counts){0}, reply);
	check_model(&t);
	return 0;
}
