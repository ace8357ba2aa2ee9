#include "lab/fault.h"

#include "lab/ballast.h"
#include <errno.h>

#define NAME "err-inodes"
/* Clients that delete files free some space, before and after. */
#define FREE_MAX 0.05

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	struct ballast_free f = {0};
	int r = ballast_take_inodes(lab, on, NAME, err);

	(void)strength;
	if (r == 0)
		r = ballast_free(lab, on, &f, err);
	if (r == 0 && f.inodes > FREE_MAX)
		r = lp_err_set(err, -EIO, "%.0f%% of its inodes are free", f.inodes * 100);
	return r;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return ballast_verify(lab, on, NAME, "0", err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return ballast_remove(lab, on, NAME, err);
}

extern const struct fault fault_err_inodes;
const struct fault fault_err_inodes = {
	.name = NAME,
	.summary = "the file system on its disk has no free inodes",
	.diagnosis = "propagated-error|crash|server-hung|resource-exhausted",
	.fatal = true,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
