#include "lab/fault.h"

#include "lab/packet_loss.h"
#include <stddef.h>

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	(void)lab;
	return packet_loss_add(on, on->name, NULL, strength, err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	(void)lab;
	return packet_loss_verify(on, on->name, err);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	(void)lab;
	return packet_loss_remove(on, on->name, err);
}

extern const struct fault fault_receive_pktloss;
const struct fault fault_receive_pktloss = {
	.name = "receive-pktloss",
	.summary = "packets that it receives are lost",
	.diagnosis = "packet-loss",
	.strength = "percent of packets",
	.strength_default = 5,
	.strength_min = 0.1,
	.strength_max = 90,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
