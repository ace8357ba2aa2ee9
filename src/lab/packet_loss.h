/* Packet loss by a rule of nftables in a separate table. */
#ifndef LAB_PACKET_LOSS_H
#define LAB_PACKET_LOSS_H

#include "lab/lab.h"

/* Drop `percent` of the packets that the namespace of `at` receives from the network, in the table
 * limpet_fault_`about`; only those from the address `from` unless that is NULL. */
int packet_loss_add(const struct lab_node *at, const char *about, const char *from, double percent,
	struct lp_err *err);

/* Does the rule exist, with its counter? */
int packet_loss_verify(const struct lab_node *at, const char *about, struct lp_err *err);

/* Remove the table. 0 if there is no such table or namespace. */
int packet_loss_remove(const struct lab_node *at, const char *about, struct lp_err *err);

#endif
