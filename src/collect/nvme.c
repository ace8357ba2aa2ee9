/* NVMe drives as they report themselves: the SMART log page. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "collect/nvme_smart.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[SMART_N] = {
	[SMART_WARNINGS] = {"warnings", "bits", LP_GAUGE, 0},
	[SMART_CELSIUS] = {"celsius", "C", LP_GAUGE, 0},
	[SMART_SPARE_PERCENT] = {"spare_percent", "%", LP_GAUGE, 0},
	[SMART_PERCENT_USED] = {"percent_used", "%", LP_GAUGE, 0},
	[SMART_MEDIA_ERRORS] = {"media_errors", "errors", LP_GAUGE, 0},
	[SMART_UNSAFE_SHUTDOWNS] = {"unsafe_shutdowns", "shutdowns", COUNTER},
	[SMART_HOT_MINUTES] = {"hot_minutes", "min", COUNTER},
	[SMART_THROTTLES] = {"throttles", "changes", COUNTER},
};

static const struct lp_schema schema = {"smart", columns, ARRAY_SIZE(columns)};

#define DRIVES_MAX 256
#define READ_US (60 * US_PER_SEC)
/* A drive answers within a millisecond; limpet does not wait long for one that does not. */
#define ANSWER_MS 500

struct drive {
	char name[PARSE_NAME_MAX + 1];
	int64_t values[SMART_N];
	struct collect_row row;
	bool known, heard;
};

struct drives {
	const struct collect_config *config;
	struct drive items[DRIVES_MAX];
	unsigned n;
	int64_t read_us; /* -1: never */
};

static uint64_t little(const uint8_t *p, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = n; i-- > 0;)
		value = value << 8 | p[i];
	return value;
}

/* A counter of 16 bytes. */
static int64_t counter(const uint8_t *p)
{
	uint64_t low = little(p, 8);

	return little(p + 8, 8) || low > INT64_MAX ? INT64_MAX : (int64_t)low;
}

void nvme_smart_decode(const uint8_t log[NVME_SMART_BYTES], int64_t ret[SMART_N])
{
	int64_t kelvin = (int64_t)little(log + 1, 2);

	ret[SMART_WARNINGS] = log[0];
	ret[SMART_CELSIUS] = kelvin ? kelvin - 273 : LP_MISSING;
	ret[SMART_SPARE_PERCENT] = log[3];
	ret[SMART_PERCENT_USED] = log[5];
	ret[SMART_UNSAFE_SHUTDOWNS] = counter(log + 144);
	ret[SMART_MEDIA_ERRORS] = counter(log + 160);
	ret[SMART_HOT_MINUTES] = (int64_t)(little(log + 192, 4) + little(log + 196, 4));
	ret[SMART_THROTTLES] = (int64_t)(little(log + 216, 4) + little(log + 220, 4));
}

/* Read the log page from the drive. In a recorded tree the device is a file with the log page. */
static bool drive_ask(const struct drives *d, const char *name, uint8_t log[NVME_SMART_BYTES])
{
	struct nvme_admin_cmd command = {.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = (uint64_t)(uintptr_t)log,
		.data_len = NVME_SMART_BYTES,
		.cdw10 = 0x02 | (NVME_SMART_BYTES / 4 - 1) << 16,
		.timeout_ms = ANSWER_MS};
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/dev/%s", d->config->root->dir, name) >=
		(int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return file_pread_full(fd, log, NVME_SMART_BYTES, 0) == NVME_SMART_BYTES;
	return S_ISCHR(st.st_mode) && ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) == 0;
}

static int on_controller(void *ctx, const struct tree_match *m)
{
	struct drives *d = ctx;

	for (unsigned i = 0; i < d->n; i++) {
		if (!strcmp(d->items[i].name, m->star[0]))
			return 0;
	}
	if (d->n < DRIVES_MAX)
		snprintf(d->items[d->n++].name, sizeof(d->items[0].name), "%s", m->star[0]);
	return 0;
}

static void drives_close(void *state)
{
	free(state);
}

static int drives_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	struct drives *d = calloc(1, sizeof(*d));

	if (!d)
		return lp_err_sys(err, -ENOMEM, "cannot ask NVMe drives");
	d->config = config;
	d->read_us = -1;
	tree_walk(config->root, "/sys/class/nvme/*", on_controller, d);
	if (!d->n) {
		free(d);
		return lp_err_set(err, -ENOENT, "there are no NVMe drives here");
	}
	*ret_state = d;
	return 0;
}

static void drives_read(struct drives *d)
{
	uint8_t log[NVME_SMART_BYTES];

	tree_walk(d->config->root, "/sys/class/nvme/*", on_controller, d);
	for (unsigned i = 0; i < d->n; i++) {
		d->items[i].heard = drive_ask(d, d->items[i].name, log);
		if (d->items[i].heard)
			nvme_smart_decode(log, d->items[i].values);
	}
}

static int drives_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct drives *d = state;
	int64_t now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	int r = 0;

	if (d->read_us < 0 || *d->config->root->dir || now_us - d->read_us >= READ_US) {
		drives_read(d);
		d->read_us = now_us;
	}
	for (unsigned i = 0; r == 0 && i < d->n; i++) {
		struct drive *it = &d->items[i];
		bool fresh = !it->known || !collect_holds(sink, &it->row);

		if (!it->heard)
			continue;
		if (fresh)
			r = collect_add_named(
				sink, &schema, d->config->observer, it->name, "", &it->row, err);
		it->known = r == 0;
		if (r == 0)
			r = collect_store(sink, &it->row, fresh, it->values, err);
	}
	return r;
}

extern const struct collector collector_nvme;
const struct collector collector_nvme = {
	.name = "nvme",
	.summary = "SMART logs of NVMe drives: wear, errors, temperature (on request)",
	.description =
		"Asks each NVMe drive for its SMART log page every minute: wear, errors of the "
		"medium, spare blocks, temperature, and how often it slowed down because of heat. "
		"It needs root. A drive that is in trouble may take half a second to answer, in "
		"which no sample is taken, so it runs only where it is named.",
	.schema = &schema,
	.on_request = true,
	.open = drives_open,
	.sample = drives_sample,
	.close = drives_close,
};
