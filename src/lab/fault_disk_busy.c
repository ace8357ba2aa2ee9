#include "lab/fault.h"

#include "lab/disk_trouble.h"
#include <errno.h>

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return disk_trouble_say(lab, on, err, "busy %g", strength);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	struct disk_shown s;
	int r = disk_trouble_show(lab, on, &s, err);

	if (r == 0 && !(s.busy_percent > 0))
		r = lp_err_set(err, -EIO, "the disk has no hidden load");
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return disk_trouble_undo(lab, on, "busy 0", err);
}

extern const struct fault fault_disk_busy;
const struct fault fault_disk_busy = {
	.name = "disk-busy",
	.summary = "its disk is kept busy from outside, invisibly to the server",
	.diagnosis = "disk-busy",
	.strength = "percent of its time",
	.strength_default = 65,
	.strength_min = 1,
	.strength_max = 95,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
