/* Peer groups if no file defines them: the recorded components of an observer show whether it is a
 * server or a client. Interfaces and processors of the two are not peers. */
#ifndef MODEL_TOPOLOGY_GROUPS_H
#define MODEL_TOPOLOGY_GROUPS_H

#include "base/hash.h"
#include <limpet/identity.h>

struct roles {
	struct strmap observers; /* [observer] bits for its components */
	bool pooled;		 /* the connections between recorded observers are known */
	bool connected;		 /* there are connections */
	bool split;		 /* there are several servers and several clients */
};

/* Find the roles from all components; 0 or -ENOMEM. Release it even after a failure. */
int roles_find(struct roles *r, struct lp_identity *const *components, uint32_t n);
void roles_release(struct roles *r);

/* "servers" or "clients"; NULL if the component's kind is not split by role. */
const char *roles_name(const struct roles *r, const struct lp_identity *component);

#endif
