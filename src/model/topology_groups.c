/* Sorts components into peer groups. */
#include "model/topology_groups.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "model/hosts.h"
#include "model/identity.h"
#include "model/topology_def.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MIN 3
#define VALUE_MAX 512
#define NAMES_TOLD 5

struct sorter {
	const struct topology *t;
	const char *const *split_by;
	uint32_t n_split;
	struct strmap by_name;
	struct lp_peer_group *groups;
	size_t n, cap;
	size_t *caps; /* [group] capacity of its members */
	size_t cap_caps;
	struct strbuf name;
	struct strbuf strays; /* the first names that belong to no group */
	uint32_t n_strays;
	struct roles roles;
	struct strmap names; /* the number of observers that have an interface with this name */
};

static void sorter_release(struct sorter *s)
{
	lp_peer_groups_free(s->groups, (uint32_t)s->n);
	strmap_release(&s->by_name);
	strbuf_release(&s->name);
	strbuf_release(&s->strays);
	strmap_release(&s->names);
	roles_release(&s->roles);
	free(s->caps);
}

/* The first group of the file that accepts a component. */
static const struct topology_group *group_of(
	const struct topology *t, const struct lp_identity *component)
{
	for (size_t i = 0; t && i < t->n_groups; i++) {
		if (pattern_matches(
			    &t->groups[i].match, component->text, strlen(component->text), NULL))
			return &t->groups[i];
	}
	return NULL;
}

static bool listed(const struct topology_group *g, const char *attribute)
{
	for (uint32_t i = 0; g && i < g->n_split; i++) {
		if (!strcmp(g->split_by[i], attribute))
			return true;
	}
	return false;
}

static void name_add(struct sorter *s, const struct lp_identity *component, const char *attribute)
{
	char buf[VALUE_MAX];
	const char *value = topology_attribute(s->t, component, attribute, buf, sizeof(buf));

	strbuf_printf(&s->name, " %s=%s", attribute, value ? value : "(none)");
}

/* Interfaces with the same name are more alike than others. */
static int name_count(struct sorter *s, const struct lp_identity *component)
{
	uint32_t n = 0;

	if (kind_find(component->kind)->peers_by != PEERS_BY_COMMON_NAME)
		return 0;
	strmap_get(&s->names, component->name, &n);
	return strmap_put(&s->names, component->name, n + 1);
}

/* Is the kind divided so that only components with the same name are peers? */
static bool is_divided_by_name(const struct sorter *s, const struct lp_identity *component)
{
	const struct kind *kind = kind_find(component->kind);
	uint32_t n = 0;

	if (kind->apart && !strcmp(component->name, kind->apart))
		return true;
	if (kind->peers_by == PEERS_BY_COMMON_NAME)
		return strmap_get(&s->names, component->name, &n) && n >= MEMBERS_MIN;
	return kind->peers_by == PEERS_BY_NAME;
}

/* Connections are divided by their direction. Pooled connections are separate groups, by the roles
 * of both ends. */
static void connection_add(struct sorter *s, const struct lp_identity *component)
{
	struct connection c;

	if (peer_parse(component, &c) && c.end == CONNECTION_PEERS)
		strbuf_puts(&s->name, " " PEER_CLIENTS);
	else if (connection_parse(component, &c))
		strbuf_printf(&s->name, "%s%s %s", c.servers ? " servers" : "",
			c.end == CONNECTION_ALL && !c.servers ? " all"
				: c.end == CONNECTION_PEERS   ? " peers"
							      : "",
			c.out ? "out" : "in");
}

/* Append how a kind is divided if there is no file, according to its row. */
static void kind_add(struct sorter *s, const struct lp_identity *component)
{
	const char *role = roles_name(&s->roles, component);

	strbuf_puts(&s->name, component->kind);
	if (kind_find(component->kind)->peers_by == PEERS_BY_END)
		connection_add(s, component);
	if (is_divided_by_name(s, component))
		strbuf_printf(&s->name, " %s", component->name);
	if (role)
		strbuf_printf(&s->name, " of %s", role);
}

/* The name of the peer group of a component, "disk priority=1 set=old". */
static void name_make(
	struct sorter *s, const struct lp_identity *component, const struct topology_group *g)
{
	strbuf_reset(&s->name);
	if (g)
		strbuf_puts(&s->name, g->name);
	else
		kind_add(s, component);
	for (uint32_t i = 0; g && i < g->n_split; i++)
		name_add(s, component, g->split_by[i]);
	for (uint32_t i = 0; i < s->n_split; i++) {
		if (!listed(g, s->split_by[i]))
			name_add(s, component, s->split_by[i]);
	}
}

/* The index of the group with the current name, which is added if it is new. */
static int group_get(struct sorter *s, uint32_t *ret)
{
	if (strmap_get(&s->by_name, s->name.text, ret))
		return 0;
	if (array_reserve(&s->groups, &s->cap, s->n + 1, sizeof(*s->groups)) < 0 ||
		array_reserve(&s->caps, &s->cap_caps, s->n + 1, sizeof(*s->caps)) < 0)
		return -ENOMEM;
	*ret = (uint32_t)s->n;
	s->groups[s->n].name = strdup(s->name.text);
	if (!s->groups[s->n].name)
		return -ENOMEM;
	s->n++;
	return strmap_put(&s->by_name, s->name.text, *ret);
}

static int member_add(struct sorter *s, uint32_t group, uint32_t component)
{
	struct lp_peer_group *g = &s->groups[group];

	if (array_reserve(&g->members, &s->caps[group], (size_t)g->n_members + 1,
		    sizeof(*g->members)) < 0)
		return -ENOMEM;
	g->members[g->n_members++] = component;
	return 0;
}

static void stray_add(struct sorter *s, const struct lp_identity *component)
{
	if (s->n_strays < NAMES_TOLD)
		strbuf_printf(&s->strays, "%s%s", s->n_strays ? ", " : "", component->text);
	s->n_strays++;
}

static int component_sort(struct sorter *s, const struct lp_identity *component, uint32_t number)
{
	const struct topology_group *g = group_of(s->t, component);
	uint32_t group;
	int r;

	if (!g && s->t && s->t->n_groups) {
		stray_add(s, component);
		return 0;
	}
	name_make(s, component, g);
	r = s->name.failed ? -ENOMEM : group_get(s, &group);
	return r < 0 ? r : member_add(s, group, number);
}

int topology_refuse_small(struct lp_peer_group *g)
{
	const char *why;

	if (g->n_members >= MEMBERS_MIN)
		return 0;
	why = g->n_members == 1 ? "1 component has no peers; a comparison needs at least 3"
				: "of 2 components it is impossible to say which one is off; a "
				  "comparison needs at least 3";
	g->refused = strdup(why);
	return g->refused ? 0 : -ENOMEM;
}

static void strays_tell(const struct sorter *s, struct lp_warn *warn)
{
	if (!s->n_strays || !s->strays.text)
		return;
	lp_warn_raise(warn, "%s: no group matches %u component%s, which %s left out: %s%s",
		s->t->name, s->n_strays, s->n_strays == 1 ? "" : "s",
		s->n_strays == 1 ? "is" : "are", s->strays.text,
		s->n_strays > NAMES_TOLD ? ", ..." : "");
}

int topology_groups(const struct topology *t, struct lp_identity *const *components, uint32_t n,
	const char *const *split_by, uint32_t n_split, struct lp_warn *warn,
	struct lp_peer_group **ret_groups, uint32_t *ret_n, struct lp_err *err)
{
	_cleanup_(sorter_release) struct sorter s = {
		.t = t, .split_by = split_by, .n_split = n_split};
	int r = 0;

	if (!t || !t->n_groups)
		r = roles_find(&s.roles, components, n);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = name_count(&s, components[i]);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = component_sort(&s, components[i], i);
	for (size_t i = 0; r == 0 && i < s.n; i++)
		r = topology_refuse_small(&s.groups[i]);
	if (r < 0)
		return lp_err_sys(err, r, "cannot sort components into groups");
	strays_tell(&s, warn);
	*ret_n = (uint32_t)s.n;
	*ret_groups = TAKE_PTR(s.groups);
	s.n = 0;
	return 0;
}

/* A group of one or two is not compared, and a single unusual observer must be reported, not
 * separated. */
#define OBSERVERS_MIN 2

enum { HAS_IN = 1, HAS_OUT = 2, HAS_POOLED_IN = 4, HAS_POOLED_OUT = 8, HAS_DISK = 16 };

void roles_release(struct roles *r)
{
	strmap_release(&r->observers);
}

/* The role of its observer, as far as a component shows it. */
static uint32_t component_bits(const struct lp_identity *component)
{
	struct connection c;

	if (connection_parse(component, &c)) {
		if (c.end == CONNECTION_ALL)
			return c.out && !c.servers ? HAS_POOLED_OUT : HAS_POOLED_IN;
		return c.end == CONNECTION_PEERS ? 0 : c.out ? HAS_OUT : HAS_IN;
	}
	return !strcmp(component->kind, "disk") ? HAS_DISK : 0;
}

/* A client only opens connections. If the observers at the other ends are unknown (a standby server
 * may only have connections to the monitoring), it must not have disks either. */
static bool is_client(const struct roles *r, uint32_t bits)
{
	if (r->pooled)
		return bits & HAS_POOLED_OUT && !(bits & HAS_POOLED_IN);
	if (r->connected && !(bits & HAS_OUT))
		return false;
	return !(bits & (HAS_IN | HAS_DISK));
}

static int component_note(struct roles *r, const struct lp_identity *component)
{
	uint32_t bits = 0, more = component_bits(component);

	strmap_get(&r->observers, component->observer, &bits);
	r->pooled |= more & (HAS_POOLED_IN | HAS_POOLED_OUT);
	r->connected |= more & (HAS_IN | HAS_OUT);
	return strmap_put(&r->observers, component->observer, bits | more);
}

/* Count the observers of each role, each once. */
static int count_roles(struct roles *r, struct lp_identity *const *components, uint32_t n)
{
	struct strmap counted = {0};
	uint32_t n_clients = 0, n_servers = 0, bits = 0, ignored;
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < n; i++) {
		const char *observer = components[i]->observer;

		if (strmap_get(&counted, observer, &ignored) ||
			!strmap_get(&r->observers, observer, &bits))
			continue;
		n_clients += is_client(r, bits);
		n_servers += !is_client(r, bits);
		got = strmap_put(&counted, observer, 1);
	}
	strmap_release(&counted);
	r->split = n_clients >= OBSERVERS_MIN && n_servers >= OBSERVERS_MIN;
	return got;
}

int roles_find(struct roles *r, struct lp_identity *const *components, uint32_t n)
{
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < n; i++)
		got = component_note(r, components[i]);
	return got < 0 ? got : count_roles(r, components, n);
}

const char *roles_name(const struct roles *r, const struct lp_identity *component)
{
	uint32_t bits;

	if (!r->split || !kind_find(component->kind)->by_role ||
		!strmap_get(&r->observers, component->observer, &bits))
		return NULL;
	return is_client(r, bits) ? "clients" : "servers";
}
