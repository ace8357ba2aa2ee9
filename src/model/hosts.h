/* Which observer has which address, and which observers the names of connections refer to.
 *
 * The name of a connection is "client3/tcp:10.0.0.7:out": client3 opened it to 10.0.0.7. If both
 * ends are recorded, detection pools all connections of an observer
 * (src/detect/group/verdict_tables.h) into "oss7/tcp:all:in", measured by the observer itself, and
 * "oss7/tcp:peers:out", measured by the others. If there are clients as well, connections with
 * other servers are pooled separately, into "oss7/tcp:servers:in" and "oss7/tcp:server-peers:out".
 *
 * A server that a traced client measures has the name "client3/peer:10.0.0.7:24007", with address
 * and port. Pooled over all clients and ports it is "oss7/peer:clients".
 */
#ifndef MODEL_HOSTS_H
#define MODEL_HOSTS_H

#include "base/hash.h"
#include <limpet/identity.h>
#include <stdbool.h>

#define HOSTS_NAME_MAX 256

/* The name of a server as measured by all its clients. */
#define PEER_CLIENTS "clients"

/* The names of pooled connections: connections of an observer measured by itself and by the others,
 * and the same for connections between two servers. */
#define POOLED_ALL "all"
#define POOLED_PEERS "peers"
#define POOLED_SERVERS "servers"
#define POOLED_SERVER_PEERS "server-peers"

/* The loopback interface among the addresses of an observer, with a unique id. Several observers
 * can be on one machine, for example traces with different names. */
#define HOSTS_LOOPBACK "loopback@"

struct hosts {
	struct strmap by_address; /* UINT32_MAX: several observers have this address */
	char **observers;
	char **lists; /* [observer] its known addresses */
	uint32_t n;
	size_t cap, cap_lists;
};

/* Note that an observer has these addresses, separated by commas; 0 or -ENOMEM. */
int hosts_add(struct hosts *h, const char *observer, const char *addresses);
void hosts_release(struct hosts *h);

/* The observer that has an address; NULL if none or several have it (each machine may have its own
 * 192.168.122.1). `h` may be NULL. */
const char *hosts_find(const struct hosts *h, const char *address);

/* Do several observers have this address? */
bool hosts_is_shared(const struct hosts *h, const char *address);
/* Does this observer have the address? */
bool hosts_has(const struct hosts *h, const char *observer, const char *address);
/* Do two observers have the same loopback interface, so that they can communicate over it? */
bool hosts_share_loopback(const struct hosts *h, const char *a, const char *b);

enum connection_end {
	CONNECTION_REMOTE, /* one remote address */
	CONNECTION_ALL,	   /* pooled: all connections of the observer, measured by itself */
	CONNECTION_PEERS,  /* pooled: the same, measured by the others */
};

struct connection {
	const char *observer;	      /* of the parsed component; valid as long as that */
	char address[HOSTS_NAME_MAX]; /* of the remote end, without brackets; "other": several
				       * combined */
	enum connection_end end;
	bool out;     /* opened by the side that measured it */
	bool servers; /* pooled: between two servers */
};

/* Parse a name; false: it is not a connection. */
bool connection_parse(const struct lp_identity *component, struct connection *ret);

/* The same for a server that a traced client measures; it is always `out`, and either pooled
 * (CONNECTION_PEERS) or not (CONNECTION_REMOTE). */
bool peer_parse(const struct lp_identity *component, struct connection *ret);

/* Either. */
bool remote_parse(const struct lp_identity *component, struct connection *ret);

#endif
