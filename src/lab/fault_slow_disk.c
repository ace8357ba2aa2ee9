#include "lab/fault.h"

#include "lab/disk_trouble.h"
#include <errno.h>

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return disk_trouble_say(lab, on, err, "slow %g", strength);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	struct disk_shown s;
	int r = disk_trouble_show(lab, on, &s, err);

	if (r == 0 && !(s.slow > 1))
		r = lp_err_set(err, -EIO, "the disk is not slowed");
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return disk_trouble_undo(lab, on, "slow 1", err);
}

extern const struct fault fault_slow_disk;
const struct fault fault_slow_disk = {
	.name = "slow-disk",
	.summary = "its disk takes this many times as long per request",
	.diagnosis = "disk-busy",
	.strength = "times as long",
	.strength_default = 4,
	.strength_min = 1.1,
	.strength_max = 100,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
