#include "lab/fault.h"

#include "lab/packet_loss.h"
#include <stddef.h>

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < lab->config.n_clients; i++)
		r = packet_loss_add(lab_client(lab, i), on->name, on->address, strength, err);
	return r;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < lab->config.n_clients; i++)
		r = packet_loss_verify(lab_client(lab, i), on->name, err);
	return r;
}

/* On all clients, even if one fails. */
static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	int worst = 0;

	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		int r = packet_loss_remove(lab_client(lab, i), on->name, worst ? NULL : err);

		worst = worst ? worst : r;
	}
	return worst;
}

extern const struct fault fault_send_pktloss;
const struct fault fault_send_pktloss = {
	.name = "send-pktloss",
	.summary = "packets that it sends are lost on their way to the clients",
	.diagnosis = "packet-loss",
	.strength = "percent of packets",
	.strength_default = 5,
	.strength_min = 0.1,
	.strength_max = 90,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
