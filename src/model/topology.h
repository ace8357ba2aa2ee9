/* The operator's knowledge of the system: attributes of components, peers, and shared parts. It
 * comes from a YAML file (docs/topology.md), or is empty. */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include <limpet/err.h>
#include <limpet/verdict.h>
#include <stddef.h>
#include <stdint.h>

struct inventory;
struct topology;

/* Read a file. Errors name file and line. */
int topology_read(const char *path, struct topology **ret, struct lp_err *err);
int topology_parse(
	const char *text, size_t len, const char *name, struct topology **ret, struct lp_err *err);
void topology_free(struct topology *t);

/* The attribute of a component, written into `buf`; NULL if it has none with this name. Every
 * component has "observer", "kind" and "name", even without a file (`t` may be NULL). */
const char *topology_attribute(const struct topology *t, const struct lp_identity *component,
	const char *attribute, char *buf, size_t size);

/* The attributes that the rules of the file set, one after the other; NULL after the last. */
const char *topology_attribute_name(const struct topology *t, size_t i);

/* Are all of these attributes known, because every component has them or a rule sets them? If not,
 * -EINVAL with the most similar name. `t` may be NULL. */
int topology_attributes_check(
	const struct topology *t, const char *const *names, uint32_t n, struct lp_err *err);

/* The attributes that name parts that can fail as a whole ("controller", "enclosure", "server",
 * "observer", ...), NULL-terminated, from the largest part to the smallest. `t` NULL: only
 * "observer". The strings are valid as long as `t`. */
const char *const *topology_parts(const struct topology *t);

/* The observers that must deliver data, according to the file; NULL: it lists none. */
const struct inventory *topology_observers(const struct topology *t);

/* Does the file define peer groups? */
bool topology_has_groups(const struct topology *t);

/* Sort components into peer groups: by the groups of the file, else by kind and, within a kind, by
 * its row (model/identity.h). The attributes `split_by` (n_split may be 0) divide them further.
 * Groups are in the order of first appearance. Groups of fewer than 3 are refused with a reason.
 * Components that fit no group are reported through `warn`.
 */
int topology_groups(const struct topology *t, struct lp_identity *const *components, uint32_t n,
	const char *const *split_by, uint32_t n_split, struct lp_warn *warn,
	struct lp_peer_group **ret_groups, uint32_t *ret_n, struct lp_err *err);

/* Set the reason why a group with fewer than 3 members is not compared; 0 or -ENOMEM. */
int topology_refuse_small(struct lp_peer_group *g);

/* The attribute ("server", "observer") with groups that cut across the priority groups. A workload
 * that a server itself issues looks normal among the other attachments of that server. NULL if the
 * file has no priorities. */
const char *topology_issuer(const struct topology *t);

#endif
