/* Kinds and labels of components. The row of a kind says which part of the system it belongs to and
 * which components are peers. The identity itself is in limpet/identity.h. */
#ifndef MODEL_IDENTITY_H
#define MODEL_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

/* A label: one "key=value" line of a component; its texts are not NUL-terminated. */
struct label {
	const char *key, *value;
	size_t n_key, n_value;
};

/* The label at `*at`, which moves to the next one; false after the last. A line without "=" is
 * skipped. */
bool label_next(const char **at, struct label *ret);

/* Copy the value of a label into `buf`; false if there is no such label. */
bool labels_get(const char *labels, const char *key, char *buf, size_t size);

/* The resource that a component belongs to. */
enum resource {
	RESOURCE_OTHER = 0,
	RESOURCE_STORAGE,
	RESOURCE_HOST,
	RESOURCE_NETWORK,
	N_RESOURCES
};

/* Which components of a kind are peers if no topology file defines it. */
enum peers_by {
	PEERS_BY_KIND = 0,    /* all of them */
	PEERS_BY_NAME,	      /* those with one name on all observers: function by function */
	PEERS_BY_COMMON_NAME, /* the same for names that several observers have; all others together
			       */
	PEERS_BY_END,	      /* connections: those of one direction and one side */
};

/* One row per kind. A kind without a row belongs to no particular resource, and all its components
 * are peers. */
struct kind {
	const char *name;  /* "disk" */
	const char *words; /* "network interface", for people; NULL: "NAME component" */
	enum resource resource;
	enum peers_by peers_by;
	const char *apart; /* a name for which components are peers of one another only, or NULL */
	bool by_role;	   /* components of servers are not peers of those of clients */
	bool of_calls;	   /* traced system calls: the metric determines the resource */
	bool remade;	   /* its tables are rearranged before they are compared */
};

/* The row of a kind; upper and lower case are the same. For a kind without a row it is all
 * zeros. */
const struct kind *kind_find(const char *name);

#endif
