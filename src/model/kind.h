/* Kinds of components: what each is part of, and by what its components are peers. One row per
 * kind; a kind without a row is part of nothing in particular, and all its components are peers. */
#ifndef MODEL_KIND_H
#define MODEL_KIND_H

#include <stdbool.h>

/* What a component is part of. */
enum resource {
	RESOURCE_OTHER = 0,
	RESOURCE_STORAGE,
	RESOURCE_HOST,
	RESOURCE_NETWORK,
	N_RESOURCES
};

/* Which components of a kind are peers, where no topology file says it. */
enum peers_by {
	PEERS_BY_KIND = 0,    /* all of them */
	PEERS_BY_NAME,	      /* those of one name on all observers: function by function */
	PEERS_BY_COMMON_NAME, /* the same for names that several observers have; the others together
			       */
	PEERS_BY_END,	      /* connections: those of one direction, and of one side */
};

struct kind {
	const char *name;  /* "disk" */
	const char *words; /* "network interface", for people; NULL: "NAME component" */
	enum resource resource;
	enum peers_by peers_by;
	const char *apart; /* a name whose components are peers of one another only, or NULL */
	bool by_role;	   /* those of servers and those of clients are no peers */
	bool of_calls;	   /* what tracing saw of system calls: metrics say the resource */
	bool remade;	   /* tables of it are put together anew before they are compared */
};

/* The row of a kind, whatever the case of its letters. One that has none gets a row of zeros. */
const struct kind *kind_find(const char *name);

#endif
