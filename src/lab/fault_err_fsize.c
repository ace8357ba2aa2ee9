#include "lab/fault.h"

#include "lab/rlimit.h"

static const struct limit limit = {"err-fsize", RLIMIT_FSIZE};

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return rlimit_lower(&limit, lab, on, (rlim_t)(strength * (1 << 20)), err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_verify(&limit, lab, on, err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return rlimit_restore(&limit, lab, on, err);
}

extern const struct fault fault_err_fsize;
const struct fault fault_err_fsize = {
	.name = "err-fsize",
	.summary = "its file system's server may write no large files (RLIMIT_FSIZE)",
	.diagnosis = "crash|propagated-error|server-down|resource-exhausted",
	.fatal = true,
	.strength = "MB of a file",
	.strength_default = 1,
	.strength_min = 0.001,
	.strength_max = 1000000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
