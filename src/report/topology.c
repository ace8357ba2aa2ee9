#include "report/topology.h"

#include "report/flow.h"
#include "report/json.h"
#include <stdbool.h>
#include <string.h>

#define VALUE_MAX 512

/* Does any rule describe a component? */
static bool described(const struct topology *t, const struct lp_identity *component)
{
	char buf[VALUE_MAX];
	const char *name;

	for (size_t i = 0; (name = topology_attribute_name(t, i)); i++) {
		if (topology_attribute(t, component, name, buf, sizeof(buf)))
			return true;
	}
	return false;
}

static void print_attribute(FILE *out, const char *name, const char *value)
{
	fputs("  ", out);
	flow_print_safe(out, name);
	fputc('=', out);
	flow_print_safe(out, value);
}

static void print_attributes(
	FILE *out, const struct topology *t, const struct lp_identity *component)
{
	char buf[VALUE_MAX];
	const char *name;

	for (size_t i = 0; (name = topology_attribute_name(t, i)); i++) {
		const char *value = topology_attribute(t, component, name, buf, sizeof(buf));

		if (value)
			print_attribute(out, name, value);
	}
}

static void print_group(FILE *out, const struct lp_verdict *v, const struct lp_peer_group *g,
	const struct topology *t)
{
	flow_print_line(out, "%s: %u component%s%s", g->name, g->n_members,
		g->n_members == 1 ? "" : "s", g->discovered ? ", found in the data" : "");
	if (g->refused)
		flow_print_line(out, "  not compared; %s", g->refused);
	for (uint32_t i = 0; i < g->n_members; i++) {
		const struct lp_identity *component = v->components[g->members[i]];

		fputs("  ", out);
		flow_print_safe(out, component->text);
		print_attributes(out, t, component);
		fputc('\n', out);
	}
}

static void print_undescribed(FILE *out, const struct lp_verdict *v, const struct topology *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_components; i++) {
		if (described(t, v->components[i]))
			continue;
		if (!n++)
			fprintf(out, "\nno rule matches:\n");
		flow_print_line(out, "  %s", v->components[i]->text);
	}
}

void topology_print_text(FILE *out, const struct lp_verdict *v, const struct topology *t)
{
	const char *const *parts = topology_parts(t);

	for (uint32_t i = 0; i < v->n_groups; i++)
		print_group(out, v, &v->groups[i], t);
	if (t && topology_attribute_name(t, 0))
		print_undescribed(out, v, t);
	fprintf(out, "\nparts that can fail as a whole:");
	for (; *parts; parts++) {
		fputc(' ', out);
		flow_print_safe(out, *parts);
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < v->n_notes; i++) {
		fputc('\n', out);
		flow_print_line(out, "%s", v->notes[i]);
	}
}

static json_t *component_json(const struct lp_identity *component, const struct topology *t)
{
	json_t *attributes = json_object();
	char buf[VALUE_MAX];
	const char *name;

	for (size_t i = 0; (name = topology_attribute_name(t, i)); i++) {
		const char *value = topology_attribute(t, component, name, buf, sizeof(buf));

		if (value)
			json_object_set_new(attributes, name, json_text(value));
	}
	return json_pack(
		"{s:o,s:o}", "component", json_text(component->text), "attributes", attributes);
}

static json_t *group_json(
	const struct lp_verdict *v, const struct lp_peer_group *g, const struct topology *t)
{
	json_t *components = json_array();

	for (uint32_t i = 0; i < g->n_members; i++)
		json_array_append_new(components, component_json(v->components[g->members[i]], t));
	return json_pack("{s:o,s:b,s:o,s:o}", "name", json_text(g->name), "discovered",
		g->discovered, "refused", g->refused ? json_text(g->refused) : json_null(),
		"components", components);
}

json_t *topology_json(const struct lp_verdict *v, const struct topology *t)
{
	json_t *groups = json_array(), *undescribed = json_array(), *parts = json_array(),
	       *notes = json_array();

	for (uint32_t i = 0; i < v->n_groups; i++)
		json_array_append_new(groups, group_json(v, &v->groups[i], t));
	for (uint32_t i = 0; topology_attribute_name(t, 0) && i < v->n_components; i++) {
		if (!described(t, v->components[i]))
			json_array_append_new(undescribed, json_text(v->components[i]->text));
	}
	for (const char *const *p = topology_parts(t); *p; p++)
		json_array_append_new(parts, json_text(*p));
	for (uint32_t i = 0; i < v->n_notes; i++)
		json_array_append_new(notes, json_text(v->notes[i]));
	return json_pack("{s:o,s:o,s:o,s:o}", "groups", groups, "undescribed", undescribed, "parts",
		parts, "notes", notes);
}
