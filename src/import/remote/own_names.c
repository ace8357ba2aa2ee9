/* The names of the columns of limpet's own collectors in Prometheus. Sending (serve/push.c) and
 * reading (import/prometheus.c) share this table, which is built from the schemas of the
 * collectors:
 *
 * - a column that node_exporter has, too, has the same name as there, with "limpet" in place of
 *   "node", and the same unit: limpet_disk_read_bytes_total, limpet_cpu_seconds_total{mode="user"};
 * - others are limpet_KIND_COLUMN, with "_total" after counters: limpet_ost_rd_bytes_total.
 *
 * Labels: job="limpet", instance (the observer), kind and name.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collector.h"
#include "import/remote/mapping.h"
#include "import/remote/mapping_builtin.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

#define THEIRS "node"
#define OURS "limpet"

static const struct mapping_column *column_find(
	const struct mapping *m, const char *kind, const char *name)
{
	for (size_t i = 0; i < m->n_groups; i++) {
		const struct mapping_group *g = &m->groups[i];

		for (size_t c = 0; !strcmp(g->kind, kind) && c < g->n_columns; c++) {
			if (!strcmp(g->columns[c].column, name))
				return &g->columns[c];
		}
	}
	return NULL;
}

/* The group of a kind among those from `first` on, added if it is new. NULL: out of memory. */
static struct mapping_group *group_get(struct mapping *m, size_t first, const char *kind)
{
	struct mapping_group *g;

	for (size_t i = first; i < m->n_groups; i++) {
		if (!strcmp(m->groups[i].kind, kind))
			return &m->groups[i];
	}
	if (array_reserve(&m->groups, &m->cap_groups, m->n_groups + 1, sizeof(*m->groups)) < 0)
		return NULL;
	g = &m->groups[m->n_groups++];
	g->prefix = OURS "_";
	g->kind = strdup(kind);
	g->name = strdup("{name}");
	return g->kind && g->name && mapping_condition(&g->where, "kind", kind) == 0 ? g : NULL;
}

/* "limpet_KIND_COLUMN", without characters that Prometheus does not allow. */
static char *metric_name(const char *kind, const struct lp_column *column)
{
	struct strbuf name = {0};

	strbuf_printf(&name, OURS "_%s_%s%s", kind, column->name,
		column->type == LP_COUNTER ? "_total" : "");
	for (char *p = name.text; !name.failed && *p; p++)
		*p = isalnum((unsigned char)*p) ? *p : '_';
	return strbuf_take(&name);
}

static int column_add(struct mapping_group *g, const struct lp_column *column,
	const struct mapping_column *theirs)
{
	struct mapping_column *c;
	struct strbuf name = {0};
	int r = 0;

	if (array_reserve(&g->columns, &g->cap_columns, g->n_columns + 1, sizeof(*c)) < 0)
		return -ENOMEM;
	c = &g->columns[g->n_columns++];
	c->own = *column;
	c->type = column->type == LP_COUNTER ? MAPPING_COUNTER : MAPPING_GAUGE;
	c->scale = theirs ? theirs->scale : 1;
	c->column = strdup(column->name);
	if (theirs)
		strbuf_printf(&name, OURS "%s", theirs->metric + strlen(THEIRS));
	c->metric = theirs ? strbuf_take(&name) : metric_name(g->kind, column);
	for (size_t i = 0; theirs && r == 0 && i < theirs->where.n; i++)
		r = mapping_condition(
			&c->where, theirs->where.items[i].label, theirs->where.items[i].text);
	return c->column && c->metric ? r : -ENOMEM;
}

static int schema_add(
	struct mapping *m, size_t first, const struct mapping *node, const struct lp_schema *schema)
{
	struct mapping_group *g = group_get(m, first, schema->kind);
	int r = g ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < schema->n_columns; i++) {
		const struct lp_column *column = &schema->columns[i];
		bool there = false;

		for (size_t c = 0; c < g->n_columns; c++)
			there |= !strcmp(g->columns[c].column, column->name);
		if (!there)
			r = column_add(g, column, column_find(node, schema->kind, column->name));
	}
	return r;
}

int mapping_load_own(struct mapping *m, struct lp_err *err)
{
	_cleanup_(mapping_release) struct mapping node = {0};
	size_t first = m->n_groups;
	int r = 0;

	for (const struct mapping_text *t = mapping_texts; r == 0 && t->name; t++) {
		if (!strcmp(t->name, "node_exporter.yaml"))
			r = mapping_parse(&node, t->text, strlen(t->text), t->name, err);
	}
	if (r < 0)
		return r;
	for (const struct collector *const *c = collectors; r == 0 && *c; c++)
		r = schema_add(m, first, &node, (*c)->schema);
	return r < 0 ? lp_err_sys(err, r, "cannot name metrics") : 0;
}
