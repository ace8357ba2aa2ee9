#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/disk.h"
#include "lab/hog.h"
#include <errno.h>

#define NAME "disk-hog"
#define STAT_MAX 4096
#define LOOK_MS 200
#define LOOKS 75
#define SCRIPT_SIZE 256

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};
	char partition[32], script[SCRIPT_SIZE];
	const char *const argv[] = {"sh", "-c", script, NULL};

	if (!*on->loop)
		return lp_err_set(err, -ENODEV, "%s has no disk", on->name);
	disk_partition(on, 2, partition, sizeof(partition));
	/* A whole block is queued at the disk at once, before requests of others. */
	snprintf(script, sizeof(script),
		"while :; do dd if=/dev/%s of=/dev/null bs=%uM iflag=direct 2>&1 || sleep 1; done",
		partition, (unsigned)strength);
	return hog_start(&h, on, argv, err);
}

/* The number of sectors read from a partition: the third number. */
static int sectors_read(const char *partition, unsigned long long *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long sectors = 0;
	char path[64], *at;
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/sys/class/block/%.32s/stat", partition);
	r = file_slurp(path, STAT_MAX, &text, &size, err);
	if (r < 0)
		return r;
	at = text;
	for (unsigned i = 0; i < 3; i++)
		sectors = strtoull(at, &at, 10);
	*ret = sectors;
	return 0;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};
	unsigned long long first = 0, now = 0;
	char partition[32];
	int r = hog_verify(&h, on, err);

	disk_partition(on, 2, partition, sizeof(partition));
	if (r == 0)
		r = sectors_read(partition, &first, err);
	for (unsigned i = 0; r == 0 && i < LOOKS; i++) {
		hog_wait(LOOK_MS);
		r = sectors_read(partition, &now, err);
		if (r == 0 && now > first)
			return 0;
	}
	return r < 0 ? r : lp_err_set(err, -EIO, "nothing is read from %s", partition);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};

	return hog_stop(&h, err);
}

extern const struct fault fault_disk_hog;
const struct fault fault_disk_hog = {
	.name = "disk-hog",
	.summary = "a process reads the unused partition of its disk as fast as it can",
	.diagnosis = "disk-hog",
	.strength = "megabytes per read",
	.strength_default = 2,
	.strength_min = 1,
	.strength_max = 256,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
