/* Sorts components that are given as text. */
#ifndef TOPOLOGY_RIG_H
#define TOPOLOGY_RIG_H

#include "identity_rig.h"
#include "model/topology.h"
#include <errno.h>

#define TOPOLOGY_RIG_MAX 64

static inline int groups_of(const struct topology *t, const char *const *names, uint32_t n,
	const char *const *split_by, uint32_t n_split, struct lp_warn *warn,
	struct lp_peer_group **ret_groups, uint32_t *ret_n)
{
	struct lp_identity *components[TOPOLOGY_RIG_MAX];

	if (n > TOPOLOGY_RIG_MAX)
		return -E2BIG;
	identities_of(names, n, components);
	return topology_groups(t, components, n, split_by, n_split, warn, ret_groups, ret_n, NULL);
}

#endif
