#include "model/topology.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "model/topology_def.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const topology_own_names[N_OWN] = {"observer", "kind", "name", "component"};

int topology_own_find(const char *name)
{
	for (int i = 0; i < N_OWN; i++) {
		if (!strcmp(topology_own_names[i], name))
			return i;
	}
	return -1;
}

bool topology_number(const char *text, size_t len, uint64_t *ret)
{
	uint64_t number = 0;

	if (!len || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = number;
	return true;
}

const char *topology_own_text(const struct lp_identity *component, enum topology_own which)
{
	switch (which) {
	case OWN_OBSERVER:
		return component->observer;
	case OWN_KIND:
		return component->kind;
	case OWN_NAME:
		return component->name;
	default:
		return component->text;
	}
}

static void rule_release(struct topology_rule *rule)
{
	for (size_t i = 0; i < rule->n_where; i++) {
		for (size_t c = 0; c < rule->where[i].n_choices; c++)
			pattern_release(&rule->where[i].choices[c].glob);
		free(rule->where[i].choices);
	}
	free(rule->where);
	for (size_t i = 0; i < rule->n_settings; i++) {
		free(rule->settings[i].attribute);
		text_template_release(&rule->settings[i].value);
	}
	free(rule->settings);
	topology_table_free(rule->table);
	strmap_release(&rule->names);
	pattern_release(&rule->match);
}

static void group_release(struct topology_group *g)
{
	for (uint32_t i = 0; i < g->n_split; i++)
		free(g->split_by[i]);
	free(g->split_by);
	free(g->name);
	pattern_release(&g->match);
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_rules; i++)
		rule_release(&t->rules[i]);
	for (size_t i = 0; i < t->n_origins; i++) {
		free(t->origins[i].attribute);
		free(t->origins[i].rules);
	}
	for (size_t i = 0; i < t->n_groups; i++)
		group_release(&t->groups[i]);
	free(t->rules);
	free(t->origins);
	free(t->groups);
	free(t->parts);
	inventory_release(&t->observers);
	free(t->name);
	free(t);
}

const struct topology_origin *topology_origin_find(const struct topology *t, const char *attribute)
{
	for (size_t i = 0; t && i < t->n_origins; i++) {
		if (!strcmp(t->origins[i].attribute, attribute))
			return &t->origins[i];
	}
	return NULL;
}

static bool choice_holds(const struct topology_choice *c, const char *text, size_t len)
{
	uint64_t number;

	if (!c->number)
		return pattern_matches(&c->glob, text, len, NULL);
	return topology_number(text, len, &number) && number >= c->first && number <= c->last;
}

static bool where_holds(const struct topology_where *w, const struct lp_identity *component,
	const struct pattern_match *match)
{
	size_t len;
	const char *text = text_part_get(&w->of, component, match, &len);

	for (size_t i = 0; i < w->n_choices; i++) {
		if (choice_holds(&w->choices[i], text, len))
			return true;
	}
	return false;
}

static bool rule_holds(const struct topology_rule *rule, const struct lp_identity *component,
	struct pattern_match *ret_match)
{
	uint32_t ignored;

	if (rule->names.n && !strmap_get(&rule->names, component->text, &ignored))
		return false;
	if (!pattern_matches(&rule->match, component->text, strlen(component->text), ret_match))
		return false;
	for (size_t i = 0; i < rule->n_where; i++) {
		if (!where_holds(&rule->where[i], component, ret_match))
			return false;
	}
	return true;
}

/* The value that a rule sets. A line of a table overrides the general value. */
static bool rule_get(const struct topology_rule *rule, const struct lp_identity *component,
	const char *attribute, char *buf, size_t size)
{
	struct pattern_match match;
	const char *value;

	if (!rule_holds(rule, component, &match))
		return false;
	value = rule->table ? topology_table_get(rule->table, attribute, component, &match) : NULL;
	if (value) {
		snprintf(buf, size, "%s", value);
		return true;
	}
	for (size_t i = 0; i < rule->n_settings; i++) {
		if (strcmp(rule->settings[i].attribute, attribute) != 0)
			continue;
		text_template_expand(&rule->settings[i].value, component, &match, buf, size);
		return true;
	}
	return false;
}

const char *topology_attribute(const struct topology *t, const struct lp_identity *component,
	const char *attribute, char *buf, size_t size)
{
	int own = topology_own_find(attribute);
	const struct topology_origin *origin;

	if (own >= 0) {
		snprintf(buf, size, "%s", topology_own_text(component, (enum topology_own)own));
		return buf;
	}
	origin = topology_origin_find(t, attribute);
	for (size_t i = origin ? origin->n_rules : 0; i-- > 0;) { /* the last one counts */
		if (rule_get(&t->rules[origin->rules[i]], component, attribute, buf, size))
			return buf[0] ? buf : NULL; /* "" removes the value of an earlier rule */
	}
	return NULL;
}

int topology_attributes_check(
	const struct topology *t, const char *const *names, uint32_t n, struct lp_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct meant m = {.word = names[i]};

		if (topology_own_find(names[i]) >= 0 || topology_origin_find(t, names[i]))
			continue;
		for (size_t k = 0; k < N_OWN; k++)
			meant_consider(&m, topology_own_names[k]);
		for (size_t k = 0; t && k < t->n_origins; k++)
			meant_consider(&m, t->origins[k].attribute);
		return lp_err_set(err, -EINVAL, "no component has an attribute '%.64s'%s%s",
			names[i], meant_question(&m),
			m.edits ? ""
				: "; there are observer, kind, name and those that the rules of "
				  "a topology file set");
	}
	return 0;
}

const struct inventory *topology_observers(const struct topology *t)
{
	return t && t->observers.n ? &t->observers : NULL;
}

bool topology_has_groups(const struct topology *t)
{
	return t && t->n_groups;
}

const char *const *topology_parts(const struct topology *t)
{
	static const char *const alone[] = {"observer", NULL};

	return t ? t->parts : alone;
}

const char *topology_attribute_name(const struct topology *t, size_t i)
{
	return t && i < t->n_origins ? t->origins[i].attribute : NULL;
}

const char *topology_issuer(const struct topology *t)
{
	return t ? t->issuer : NULL;
}
