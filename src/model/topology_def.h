/* The internals of a topology, for topology*.c only. */
#ifndef MODEL_TOPOLOGY_DEF_H
#define MODEL_TOPOLOGY_DEF_H

#include "model/inventory.h"
#include "model/topology.h"
#include "model/topology_pattern.h"
#include "model/topology_table.h"
#include <stdbool.h>

/* A condition on a capture: one of the alternatives must match. */
struct topology_where {
	struct text_part of; /* the capture, or a part of the component's name */
	struct topology_choice {
		bool number;
		uint64_t first, last; /* of numbers */
		struct pattern glob;  /* the pattern for everything else */
	} * choices;
	size_t n_choices;
};

struct topology_setting {
	char *attribute;
	struct text_template value;
};

/* Which components a rule matches, and the attributes that it sets. */
struct topology_rule {
	struct pattern match;
	struct strmap names; /* if not empty, the rule applies only to these */
	struct topology_where *where;
	size_t n_where;
	struct topology_setting *settings;
	size_t n_settings;
	struct topology_table *table; /* or NULL */
};

/* The rules that may set an attribute. */
struct topology_origin {
	char *attribute;
	uint32_t *rules; /* in order: the last one that matches counts */
	size_t n_rules, cap_rules;
};

struct topology_group {
	char *name;
	struct pattern match;
	char **split_by;
	uint32_t n_split;
};

struct topology {
	char *name; /* of the file */
	struct topology_rule *rules;
	size_t n_rules, cap_rules;
	struct topology_origin *origins;
	size_t n_origins, cap_origins;
	struct topology_group *groups;
	size_t n_groups, cap_groups;
	const char **parts; /* NULL-terminated; the strings are in origins, or static */
	const char *issuer;
	struct inventory observers; /* observers that must deliver data; may be empty */
};

/* The attributes that follow from the name of a component. */
enum topology_own { OWN_OBSERVER, OWN_KIND, OWN_NAME, OWN_COMPONENT, N_OWN };
extern const char *const topology_own_names[N_OWN];

/* The enum topology_own for this name, or -1. OWN_COMPONENT, the full name, is for tables and
 * templates. */
int topology_own_find(const char *name);

/* The text of such an attribute. */
const char *topology_own_text(const struct lp_identity *component, enum topology_own which);

/* Is it a valid name of a capture or an attribute: up to 64 letters, digits, - and _? */
bool topology_is_word(const char *text, size_t len);

/* Parse a number: up to 18 digits and nothing else. */
bool topology_number(const char *text, size_t len, uint64_t *ret);

/* The origin of an attribute, or NULL. */
const struct topology_origin *topology_origin_find(const struct topology *t, const char *attribute);

#endif
