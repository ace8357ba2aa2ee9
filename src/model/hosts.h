/* Which observer has which address, and which observers the names of connections refer to.
 *
 * A connection is called "client3/tcp:10.0.0.7:out": client3 opened it to 10.0.0.7. If both ends
 * are recorded, detection pools all connections of an observer (src/detect/group/verdict_tables.h)
 * into "oss7/tcp:all:in", as it sees them itself, and "oss7/tcp:peers:out", as the others see them.
 * If there are clients as well, connections with other servers are pooled separately, into
 * "oss7/tcp:servers:in" and "oss7/tcp:server-peers:out".
 *
 * A server as a traced client sees it is called "client3/peer:10.0.0.7:24007", by address and port;
 * pooled over all clients and ports it is "oss7/peer:clients".
 */
#ifndef MODEL_HOSTS_H
#define MODEL_HOSTS_H

#include "base/hash.h"
#include <limpet/identity.h>
#include <stdbool.h>

#define HOSTS_NAME_MAX 256

/* The name of a server as all clients see it. */
#define PEER_CLIENTS "clients"

/* The names of pooled connections: an observer's connections as it sees them, as the others see
 * them, and the same for connections between two servers. */
#define POOLED_ALL "all"
#define POOLED_PEERS "peers"
#define POOLED_SERVERS "servers"
#define POOLED_SERVER_PEERS "server-peers"

/* Among an observer's addresses: its loopback interface, by an id that no other has. Several
 * observers can be on one machine, for example traces with names of their own. */
#define HOSTS_LOOPBACK "loopback@"

struct hosts {
	struct strmap by_address; /* UINT32_MAX: several observers have it */
	char **observers;
	char **lists; /* [observer] its known addresses */
	uint32_t n;
	size_t cap, cap_lists;
};

/* Note that an observer has these addresses, separated by commas; 0 or -ENOMEM. */
int hosts_add(struct hosts *h, const char *observer, const char *addresses);
void hosts_release(struct hosts *h);

/* The observer that has an address, NULL if none does or several do (each machine may have a
 * 192.168.122.1 of its own). `h` may be NULL. */
const char *hosts_find(const struct hosts *h, const char *address);

/* Do several observers have this address? */
bool hosts_is_shared(const struct hosts *h, const char *address);
/* Does this observer have the address? */
bool hosts_has(const struct hosts *h, const char *observer, const char *address);
/* Do two observers have the same loopback interface, so that they can talk over it? */
bool hosts_share_loopback(const struct hosts *h, const char *a, const char *b);

enum connection_end {
	CONNECTION_REMOTE, /* one remote address */
	CONNECTION_ALL,	   /* pooled: all of the observer's, as it sees them */
	CONNECTION_PEERS,  /* pooled: the same as the others see them */
};

struct connection {
	const char *observer;	      /* of the component that was parsed: lives as long as that */
	char address[HOSTS_NAME_MAX]; /* of the remote end, without brackets; "other": connections
					 folded into one */
	enum connection_end end;
	bool out;     /* opened by the side that saw it */
	bool servers; /* pooled: between two servers */
};

/* False: it is not a connection. */
bool connection_parse(const struct lp_identity *component, struct connection *ret);

/* The same for a server as a traced client sees it; it is always `out`, and pooled or not
 * (CONNECTION_PEERS, CONNECTION_REMOTE). */
bool peer_parse(const struct lp_identity *component, struct connection *ret);

/* Either. */
bool remote_parse(const struct lp_identity *component, struct connection *ret);

#endif
