/* The network of a lab: a namespace per node, and one with the bridge (limpet-NAME-sw) to which all
 * are connected. This machine itself gets neither an interface nor an address. Both ends of a link
 * have a token bucket (tbf) that limits its speed: eth0 in the node's namespace, and an interface
 * with the name of the node in that of the bridge. */
#ifndef LAB_NET_H
#define LAB_NET_H

#include "lab/lab.h"

/* The namespace of the bridge. Returns `buf`. */
#define NETNS_MAX 48
const char *net_switch(const char *lab_name, char buf[NETNS_MAX]);

/* Create namespaces, bridge and links. */
int net_up(const struct lab *lab, struct lp_err *err);

/* Remove the lab's namespaces, with everything in them. Processes in them must have ended. */
int net_down(const char *name, struct lp_err *err);

/* The speed of a node's link, in both directions. */
int net_link_rate(
	const struct lab *lab, const struct lab_node *node, uint32_t kbit, struct lp_err *err);

/* The limits of each end according to the kernel: the slower and the faster one, in kbit/s. 0 if
 * there is none. */
int net_link_rates(const struct lab *lab, const struct lab_node *node, uint64_t *ret_slower,
	uint64_t *ret_faster, struct lp_err *err);

/* Call `fn` for every namespace named limpet-NAME-*; `own` says whether the lab has made it. Stops
 * when it returns a negative errno, and returns it. */
typedef int net_fn(const char *netns, bool own, void *ctx, struct lp_err *err);
int net_each(const char *name, net_fn *fn, void *ctx, struct lp_err *err);

#endif
