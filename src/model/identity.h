/* Who a component is: its kind, whose row says what it is part of and by what it has peers, and its
 * labels. Its identity itself is in limpet/identity.h. */
#ifndef MODEL_IDENTITY_H
#define MODEL_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

/* A label: one of the "key=value" lines in the text of a component, taken apart; nothing in it is
 * terminated. */
struct label {
	const char *key, *value;
	size_t n_key, n_value;
};

/* The label that begins at `*at`, which moves on to the next; false behind the last. A line without
 * "=" is left out. */
bool label_next(const char **at, struct label *ret);

/* Copy the value of a label into `buf`; false if there is none of that key. */
bool labels_get(const char *labels, const char *key, char *buf, size_t size);

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

/* One row per kind; a kind without a row is part of nothing in particular, and all its components
 * are peers. */
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
