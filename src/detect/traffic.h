/* Where work comes from: servers of a file system receive theirs through their network interfaces,
 * so a disk's work that no interface carried is that of a program on the server itself.
 *
 * Interfaces that were not recorded decide nothing.
 */
#ifndef DETECT_TRAFFIC_H
#define DETECT_TRAFFIC_H

#include <limpet/verdict.h>

/* Are two components of one observer? */
bool traffic_same_observer(const struct lp_verdict *v, uint32_t a, uint32_t b);

/* Did the additional work of a finding's component (its `load_ratio`) come from clients? At least
 * half of it must show on an interface of its observer. True if no interface was recorded. */
bool traffic_brings(const struct lp_verdict *v, const struct lp_finding *f);

/* Is a finding about an interface that only carries what another one of its observer usually does?
 * If one link of a bond is down, or the traffic is divided in another way, all interfaces together
 * carry no more than those of the peers. */
bool traffic_moved(const struct lp_verdict *v, const struct lp_finding *f);

/* Is a finding about a disk that does work for its server's clients, and at least as much again
 * that no client can have asked for? */
bool traffic_lacks(const struct lp_verdict *v, const struct lp_finding *f);

/* Bytes per second that all interfaces of an observer receive and send; NaN: unknown. */
struct traffic {
	double own, usual; /* its own, and those of its peers */
	double floor;	   /* less does not matter: the metrics' floors */
};

/* The traffic of a component's observer in that time. */
struct traffic traffic_of_observer(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

/* The part of it that its peers do not have and no client asked for, as a share of its own.
 * Requests of clients also make the observer's disks work more. 0: none, too little, or unknown. */
double traffic_excess(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us);

#endif
