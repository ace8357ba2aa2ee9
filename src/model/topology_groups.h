/* Peer groups where no file says who is a peer of whom: what is recorded of an observer says
 * whether it is a server or a client. Their interfaces and processors are no peers. */
#ifndef MODEL_TOPOLOGY_GROUPS_H
#define MODEL_TOPOLOGY_GROUPS_H

#include "base/hash.h"
#include <limpet/identity.h>

struct roles {
	struct strmap observers; /* what each has: bits */
	bool pooled;		 /* it is known which connections are between recorded observers */
	bool connected;		 /* there are connections at all */
	bool split;		 /* there are several of both */
};

/* Look at all components; 0 or -ENOMEM. Release it also after a failure. */
int roles_find(struct roles *r, struct lp_identity *const *components, uint32_t n);
void roles_release(struct roles *r);

/* "servers" or "clients"; NULL where the component's kind is not split by that. */
const char *roles_name(const struct roles *r, const struct lp_identity *component);

#endif
