#include "lab/fault.h"

#include "lab/net_hog.h"

#define NAME "write-network-hog"

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};

	return net_hog_start(&h, true, (unsigned)strength, err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};

	return net_hog_verify(&h, true, err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};

	return hog_stop(&h, err);
}

extern const struct fault fault_write_network_hog;
const struct fault fault_write_network_hog = {
	.name = "write-network-hog",
	.summary = "a third party sends to it as fast as the network can",
	.diagnosis = "network-hog",
	.strength = "connections",
	.strength_default = 1,
	.strength_min = 1,
	.strength_max = 16,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
