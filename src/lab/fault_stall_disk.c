#include "lab/fault.h"

#include "lab/disk_trouble.h"
#include <errno.h>

#define STALL_EVERY_MS 8000

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return disk_trouble_say(lab, on, err, "stall %u %.0f", STALL_EVERY_MS, strength);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	struct disk_shown s;
	int r = disk_trouble_show(lab, on, &s, err);

	if (r == 0 && !(s.stall_for_ms > 0))
		r = lp_err_set(err, -EIO, "the disk never stalls");
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return disk_trouble_undo(lab, on, "stall 0 0", err);
}

extern const struct fault fault_stall_disk;
const struct fault fault_stall_disk = {
	.name = "stall-disk",
	.summary = "its disk does nothing for a while, about every eight seconds",
	.diagnosis = "disk-busy",
	.strength = "milliseconds of silence",
	.strength_default = 1000,
	.strength_min = 50,
	.strength_max = 6000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
