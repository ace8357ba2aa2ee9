#include "lab/fault.h"

#include "lab/net.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return net_link_rate(lab, on, (uint32_t)(lab->config.link_kbit / strength), err);
}

/* Both ends of it: a link that is slow in one direction only is another fault. */
static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	uint64_t slower, faster;
	int r = net_link_rates(lab, on, &slower, &faster, err);

	if (r == 0 && (slower == 0 || faster >= lab->config.link_kbit))
		r = lp_err_set(err, -EIO, "the link has its full rate");
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	uint64_t slower, faster;
	int r;

	snprintf(path, sizeof(path), "/run/netns/%s", on->netns);
	if (access(path, F_OK) < 0)
		return 0;
	r = net_link_rates(lab, on, &slower, &faster, err);
	if (r < 0 || (slower == lab->config.link_kbit && faster == slower))
		return r;
	return net_link_rate(lab, on, lab->config.link_kbit, err);
}

extern const struct fault fault_slow_link;
const struct fault fault_slow_link = {
	.name = "slow-link",
	.summary = "its link is this many times slower, in both directions",
	.diagnosis = "slow-link",
	.strength = "times slower",
	.strength_default = 10,
	.strength_min = 1.1,
	.strength_max = 1000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
