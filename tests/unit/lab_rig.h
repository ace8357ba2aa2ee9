/* A hand-made lab of two servers and two clients; nothing of it exists. */
#ifndef LAB_RIG_H
#define LAB_RIG_H

#include "lab/lab.h"
#include <stdio.h>

static inline void lab_rig(struct lab *lab)
{
	*lab = (struct lab){.config = {.name = "rig",
				    .fs = "gluster",
				    .n_servers = 2,
				    .n_clients = 2,
				    .seed = 7,
				    .disk_bytes = 1 << 30},
		.dir = "/run/limpet/rig",
		.n_nodes = 4};
	for (unsigned i = 0; i < 4; i++) {
		struct lab_node *n = &lab->nodes[i];
		n->role = i < 2 ? LAB_SERVER : LAB_CLIENT;
		snprintf(n->name, sizeof(n->name), "%c%u", i < 2 ? 's' : 'c', i % 2 + 1);
		snprintf(n->netns, sizeof(n->netns), "limpet-rig-%s", n->name);
		snprintf(n->address, sizeof(n->address), "10.91.%u.%u", i / 2 + 1, i % 2 + 1);
	}
}

#endif
