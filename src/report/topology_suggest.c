/* Suggests a topology file to start from. */
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/safe_text.h"
#include "base/strbuf.h"
#include "report/flow.h"
#include "report/topology.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KIND_MAX 256

/* Characters with a meaning in patterns. */
#define PATTERN_SPECIAL "*?[{}\\"

/* The part of the file for a group. A kind has one class ("disk") or several, and a class may be
 * split by observer into several groups ("disk of fs3"). */
struct suggestion {
	const char *kind;
	unsigned class_number; /* number within its kind, from 1 on */
	bool first_of_kind, first_of_class;
	bool by_observer;
	bool classes; /* its kind has several classes */
};

struct plans {
	struct suggestion *of; /* [group] */
	struct strmap kinds;   /* kind -> number of its classes */
	struct strmap classes; /* by the name without the observer */
};

static void plans_release(struct plans *p)
{
	free(p->of);
	strmap_release(&p->kinds);
	strmap_release(&p->classes);
}

/* The group's name, without " of OBSERVER" if discovery added that. */
static char *class_name(const struct lp_verdict *v, const struct lp_peer_group *g)
{
	char tail[KIND_MAX + 8];
	size_t len = strlen(g->name), n;

	snprintf(tail, sizeof(tail), " of %s", v->components[g->members[0]]->observer);
	n = strlen(tail);
	if (g->discovered && len > n && !strcmp(g->name + len - n, tail))
		len -= n;
	return strndup(g->name, len);
}

static int plan_make(const struct lp_verdict *v, uint32_t group, struct plans *p)
{
	const struct lp_peer_group *g = &v->groups[group];
	struct suggestion *plan = &p->of[group];
	_cleanup_free_ char *name = class_name(v, g);
	uint32_t n_classes = 0;

	if (!name)
		return -ENOMEM;
	plan->kind = v->components[g->members[0]]->kind;
	plan->by_observer = strlen(name) < strlen(g->name);
	plan->first_of_kind = !strmap_get(&p->kinds, plan->kind, &n_classes);
	plan->first_of_class = !strmap_get(&p->classes, name, &plan->class_number);
	if (!plan->first_of_class)
		return 0;
	plan->class_number = n_classes + 1;
	if (strmap_put(&p->classes, name, plan->class_number) < 0)
		return -ENOMEM;
	return strmap_put(&p->kinds, plan->kind, plan->class_number);
}

static int plans_make(const struct lp_verdict *v, struct plans *p)
{
	uint32_t n_classes;
	int r = 0;

	p->of = calloc((size_t)v->n_groups + 1, sizeof(*p->of));
	if (!p->of)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < v->n_groups; i++)
		r = plan_make(v, i, p);
	for (uint32_t i = 0; r == 0 && i < v->n_groups; i++)
		p->of[i].classes =
			strmap_get(&p->kinds, p->of[i].kind, &n_classes) && n_classes > 1;
	return r;
}

/* Print the escape sequence of an unsafe UTF-8 character of `n` bytes. */
static void print_escaped(FILE *out, const char *text, size_t n)
{
	uint32_t code = (unsigned char)text[0] & (n > 1 ? 0xffu >> (n + 1) : 0xffu);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3fu);
	fprintf(out, code < 0x100 ? "\\x%02x" : "\\U%08x", code);
}

/* Print text in double quotes, in the syntax of YAML. */
static void print_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		bool safe;
		size_t n = safe_text_next(text, &safe);

		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if (safe)
			fwrite(text, 1, n, out);
		else
			print_escaped(out, text, n);
		text += n;
	}
	fputc('"', out);
}

static void print_names(FILE *out, const struct lp_verdict *v, const struct lp_peer_group *g)
{
	for (uint32_t i = 0; i < g->n_members; i++) {
		fputs("      - ", out);
		print_quoted(out, v->components[g->members[i]]->text);
		fputc('\n', out);
	}
}

/* Print the rule of a class, and the members of all its groups. */
static void print_class(
	FILE *out, const struct lp_verdict *v, const struct plans *p, uint32_t group)
{
	const struct suggestion *plan = &p->of[group];

	fputs("  # ", out);
	flow_print_safe(out, v->groups[group].name);
	fputs(plan->by_observer ? ", and so on\n  - names:\n" : "\n  - names:\n", out);
	for (uint32_t i = group; i < v->n_groups; i++) {
		if (!strcmp(p->of[i].kind, plan->kind) &&
			p->of[i].class_number == plan->class_number)
			print_names(out, v, &v->groups[i]);
	}
	fprintf(out, "    attributes: {class: \"%u%s\"}\n", plan->class_number,
		plan->by_observer ? " of {observer}" : "");
}

static void print_classes(FILE *out, const struct lp_verdict *v, const struct plans *p)
{
	bool any = false;

	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (!p->of[i].classes || !p->of[i].first_of_class)
			continue;
		if (!any)
			fputs("\n# The classes that throughput shows. If you know what makes the "
			      "difference (a set,\n# a priority), say that in place of the lists.\n"
			      "components:\n",
				out);
		any = true;
		print_class(out, v, p, i);
	}
}

/* Print a group of the file for each kind. */
static void print_groups(FILE *out, const struct lp_verdict *v, const struct plans *p)
{
	_cleanup_(strbuf_release) struct strbuf match = {0};

	if (v->n_groups)
		fputs("\ngroups:\n", out);
	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct suggestion *plan = &p->of[i];

		if (!plan->first_of_kind)
			continue;
		strbuf_reset(&match);
		strbuf_puts(&match, "*/");
		for (const char *c = plan->kind; *c; c++) {
			if (strchr(PATTERN_SPECIAL, *c))
				strbuf_putc(&match, '\\');
			strbuf_putc(&match, *c);
		}
		strbuf_puts(&match, ":*");
		fputs("  - name: ", out);
		print_quoted(out, plan->kind);
		fputs("\n    match: ", out);
		print_quoted(out, match.text ? match.text : "*");
		if (plan->classes || plan->by_observer)
			fprintf(out, "\n    split_by: [%s]", plan->classes ? "class" : "observer");
		fputc('\n', out);
	}
}

/* Numbers in a name are variable: "fs16/disk:6.00" has the shape "fs{n1}/disk:{n2}.{n3}". */
static unsigned shape_of(const char *name, struct strbuf *ret)
{
	unsigned n = 0;

	strbuf_reset(ret);
	while (*name) {
		if (isdigit((unsigned char)*name)) {
			strbuf_printf(ret, "{n%u}", ++n);
			name += strspn(name, "0123456789");
			continue;
		}
		if (strchr(PATTERN_SPECIAL, *name))
			strbuf_putc(ret, '\\');
		strbuf_putc(ret, *name++);
	}
	return n;
}

/* Print a rule to be completed, if the names of the components of a kind have the same shape. */
static void print_guess(
	FILE *out, const struct lp_verdict *v, const struct plans *p, uint32_t group)
{
	_cleanup_(strbuf_release) struct strbuf shape = {0}, other = {0};
	unsigned n = shape_of(v->components[v->groups[group].members[0]]->text, &shape);
	bool same = n && n <= 16;

	for (uint32_t i = group; same && i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];

		for (uint32_t m = 0;
			same && !strcmp(p->of[i].kind, p->of[group].kind) && m < g->n_members;
			m++) {
			shape_of(v->components[g->members[m]]->text, &other);
			same = !shape.failed && !other.failed && !strcmp(shape.text, other.text);
		}
	}
	if (!same)
		return;
	fputs("#   - match: ", out);
	print_quoted(out, shape.text);
	fprintf(out, "\n#     attributes: {controller: \"ctl{n%u}\", server: \"{observer}\"}\n",
		n > 1 ? n - 1 : n);
}

int topology_print_suggestion(FILE *out, const struct lp_verdict *v)
{
	_cleanup_(plans_release) struct plans p = {0};
	int r = plans_make(v, &p);

	if (r < 0)
		return r;
	fputs("# A topology file to start from, made from data (docs/topology.md explains it).\n"
	      "version: 1\n",
		out);
	print_classes(out, v, &p);
	print_groups(out, v, &p);
	fputs("\n# Which parts do components share? Rules (in 'components:') name them, for "
	      "instance:\n",
		out);
	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (p.of[i].first_of_kind)
			print_guess(out, v, &p, i);
	}
	fputs("# and 'parts' says which attributes can fail as a whole, the largest first:\n"
	      "# parts: [controller, server]\n",
		out);
	return 0;
}
