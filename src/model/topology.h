/* The operator's knowledge of the system: attributes of components, which of them are peers, and
 * the parts that they share. Read from a YAML file (docs/topology.md), or empty. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <limpet/err.h>
#include <limpet/verdict.h>
#include <stddef.h>
#include <stdint.h>

struct inventory;
struct topology;

/* Errors name file and line. */
int topology_read(const char *path, struct topology **ret, struct lp_err *err);
int topology_parse(
	const char *text, size_t len, const char *name, struct topology **ret, struct lp_err *err);
void topology_free(struct topology *t);

/* The attribute of a component, written into `buf`; NULL if it has none of that name. "observer",
 * "kind" and "name" are the component's own and need no file (`t` may be NULL). */
const char *topology_attribute(const struct topology *t, const struct lp_identity *component,
	const char *attribute, char *buf, size_t size);

/* The attributes that the rules of the file set, one after the other; NULL after the last. */
const char *topology_attribute_name(const struct topology *t, size_t i);

/* Has every one of these attributes a meaning: is it the component's own, or set by a rule? -EINVAL
 * with the nearest one there is, if not. `t` may be NULL. */
int topology_attributes_check(
	const struct topology *t, const char *const *names, uint32_t n, struct lp_err *err);

/* The attributes that name parts that can fail as a whole ("controller", "enclosure", "server",
 * "observer", ...), NULL-terminated, from the largest part to the smallest. With `t` NULL:
 * "observer" alone. The strings live as long as `t`. */
const char *const *topology_parts(const struct topology *t);

/* The observers that must be there, according to the file; NULL: it lists none. */
const struct inventory *topology_observers(const struct topology *t);

/* Does the file define peer groups? */
bool topology_has_groups(const struct topology *t);

/* Sort components into peer groups: by the groups of the file, else by kind and, within a kind, by
 * its row (model/identity.h); and further by the attributes `split_by` (n_split may be 0). Groups
 * are in the order of first appearance. Groups of fewer than 3 are refused with a reason.
 * Components that fit no group are reported through `warn`.
 */
int topology_groups(const struct topology *t, struct lp_identity *const *components, uint32_t n,
	const char *const *split_by, uint32_t n_split, struct lp_warn *warn,
	struct lp_peer_group **ret_groups, uint32_t *ret_n, struct lp_err *err);

/* Fill in why a group of fewer than 3 is not compared; 0 or -ENOMEM. */
int topology_refuse_small(struct lp_peer_group *g);

/* The attribute ("server", "observer") whose groups cut across the priority groups. A workload that
 * a server itself issues looks normal among the other attachments of that server. NULL if the file
 * has no priorities. */
const char *topology_issuer(const struct topology *t);

#endif
