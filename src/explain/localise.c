#include "explain/localise.h"

#include "base/array.h"
#include "base/hash.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 256
/* A part must exceed what the best of all parts reaches by chance by this much. */
#define SURPRISE_MARGIN 1.0

/* State while the index is made. */
struct making {
	struct parts *p;
	struct strmap map;
	struct strmap hosts; /* address -> a component of the observer that has it */
	size_t cap_names, cap_of, n_of;
};

static int add_part(struct making *m, const char *attribute, const char *value)
{
	char name[2 * NAME_MAX_BYTES];
	uint32_t part;

	snprintf(name, sizeof(name), "%s:%s", attribute, value);
	if (!strmap_get(&m->map, name, &part)) {
		char *copy;

		if (array_reserve(
			    &m->p->names, &m->cap_names, (size_t)m->p->n + 1, sizeof(char *)) < 0)
			return -ENOMEM;
		copy = strdup(name);
		if (!copy)
			return -ENOMEM;
		part = m->p->n++;
		m->p->names[part] = copy;
		if (strmap_put(&m->map, name, part) < 0)
			return -ENOMEM;
	}
	if (array_reserve(&m->p->of, &m->cap_of, m->n_of + 1, sizeof(uint32_t)) < 0)
		return -ENOMEM;
	m->p->of[m->n_of++] = part;
	return 0;
}

/* The addresses of observers, if the topology has them. */
static int find_hosts(struct making *m, const struct explain_context *ctx)
{
	int r = 0;

	for (uint32_t c = 0; ctx->topology && r == 0 && c < ctx->v->n_components; c++) {
		char address[NAME_MAX_BYTES];

		if (topology_attribute(ctx->topology, ctx->v->components[c], "address", address,
			    sizeof(address)))
			r = strmap_put(&m->hosts, address, c);
	}
	return r;
}

/* "client3/tcp:10.0.0.7:out" is also about 10.0.0.7, and so about the observer with this address,
 * if it is known. */
static int add_remote(
	struct making *m, const struct explain_context *ctx, const struct lp_identity *component)
{
	const char *observer = NULL;
	struct connection c;
	uint32_t host;

	if (!remote_parse(component, &c) || c.end != CONNECTION_REMOTE)
		return 0;
	if (strmap_get(&m->hosts, c.address, &host))
		observer = ctx->v->components[host]->observer;
	else
		observer = hosts_find(ctx->hosts, c.address);
	if (observer)
		return add_part(m, "observer", observer);
	return strcmp(c.address, "other") != 0 ? add_part(m, "remote", c.address) : 0;
}

static int add_parts(struct making *m, const struct explain_context *ctx, uint32_t component)
{
	const char *const *attributes = topology_parts(ctx->topology);
	const struct lp_identity *c = ctx->v->components[component];
	char value[NAME_MAX_BYTES];
	bool observer = false;
	int r = 0;

	m->p->first_of[component] = (uint32_t)m->n_of;
	for (; r == 0 && attributes && *attributes; attributes++) {
		observer = observer || !strcmp(*attributes, "observer");
		if (topology_attribute(ctx->topology, c, *attributes, value, sizeof(value)))
			r = add_part(m, *attributes, value);
	}
	if (r == 0 && !observer)
		r = add_part(m, "observer", c->observer);
	return r == 0 ? add_remote(m, ctx, c) : r;
}

static void find_groups(struct parts *p, const struct lp_verdict *v)
{
	for (uint32_t c = 0; c < v->n_components; c++)
		p->group_of[c] = UINT32_MAX;
	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t i = 0; !v->groups[g].refused && i < v->groups[g].n_members; i++)
			p->group_of[v->groups[g].members[i]] = g;
	}
}

/* Turn "parts of a component" into "components of a part". */
static int find_members(struct parts *p, uint32_t n_components)
{
	p->first_member = calloc((size_t)p->n + 2, sizeof(uint32_t));
	p->members = calloc((size_t)p->first_of[n_components] + 1, sizeof(uint32_t));
	if (!p->first_member || !p->members)
		return -ENOMEM;
	/* Shifted by two, so that filling moves each start to its right value. */
	for (uint32_t c = 0; c < n_components; c++) {
		for (uint32_t i = p->first_of[c]; i < p->first_of[c + 1]; i++)
			p->first_member[p->of[i] + 2] += p->group_of[c] != UINT32_MAX;
	}
	for (uint32_t i = 2; i <= p->n + 1; i++)
		p->first_member[i] += p->first_member[i - 1];
	for (uint32_t c = 0; c < n_components; c++) {
		for (uint32_t i = p->first_of[c]; i < p->first_of[c + 1]; i++) {
			if (p->group_of[c] != UINT32_MAX)
				p->members[p->first_member[p->of[i] + 1]++] = c;
		}
	}
	return 0;
}

int parts_init(struct parts *p, const struct explain_context *ctx, struct lp_err *err)
{
	uint32_t n = ctx->v->n_components;
	struct making m = {.p = p};
	int r = 0;

	*p = (struct parts){0};
	p->first_of = calloc((size_t)n + 1, sizeof(uint32_t));
	p->group_of = calloc((size_t)n + 1, sizeof(uint32_t));
	p->groups = calloc((size_t)ctx->v->n_groups + 1, sizeof(bool));
	p->affected_of_group = calloc((size_t)ctx->v->n_groups + 1, sizeof(uint32_t));
	p->affected = calloc((size_t)n + 1, sizeof(bool));
	if (!p->first_of || !p->group_of || !p->groups || !p->affected_of_group || !p->affected)
		r = -ENOMEM;
	if (r == 0)
		r = find_hosts(&m, ctx);
	for (uint32_t c = 0; r == 0 && c < n; c++)
		r = add_parts(&m, ctx, c);
	strmap_release(&m.map);
	strmap_release(&m.hosts);
	if (r == 0) {
		p->first_of[n] = (uint32_t)m.n_of;
		find_groups(p, ctx->v);
		p->seen = calloc((size_t)p->n + 1, sizeof(bool));
		r = p->seen ? find_members(p, n) : -ENOMEM;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot list the parts of the system") : 0;
}

void parts_release(struct parts *p)
{
	for (uint32_t i = 0; p->names && i < p->n; i++)
		free(p->names[i]);
	free(p->names);
	free(p->first_of);
	free(p->of);
	free(p->first_member);
	free(p->members);
	free(p->group_of);
	free(p->affected);
	free(p->affected_of_group);
	free(p->seen);
	free(p->groups);
	*p = (struct parts){0};
}

bool parts_has(const struct parts *p, uint32_t component, uint32_t part)
{
	for (uint32_t i = p->first_of[component]; i < p->first_of[component + 1]; i++) {
		if (p->of[i] == part)
			return true;
	}
	return false;
}

/* The log-likelihood of k of n at their own rate. */
static double log_likelihood(double k, double n)
{
	double l = 0;

	if (k > 0)
		l += k * log(k / n);
	if (k < n)
		l += (n - k) * log((n - k) / n);
	return l;
}

double localise_surprise(double a, double n, double b, double m)
{
	if (n <= 0 || a <= 0 || a * m <= b * n)
		return 0;
	return log_likelihood(a, n) + log_likelihood(b, m) - log_likelihood(a + b, n + m);
}

/* Mark the affected components; if `yes` is false, unmark them. */
static void note_affected(struct parts *p, const uint32_t *affected, uint32_t n, bool yes)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t c = affected[k];

		p->affected[c] = yes;
		if (p->group_of[c] != UINT32_MAX)
			p->affected_of_group[p->group_of[c]] += yes ? 1 : (uint32_t)-1;
		for (uint32_t i = p->first_of[c]; !yes && i < p->first_of[c + 1]; i++)
			p->seen[p->of[i]] = false;
	}
}

/* Choose the groups in which components of the part are affected: only these are compared. */
static uint32_t choose_groups(struct parts *p, uint32_t part, bool yes)
{
	uint32_t n = 0;

	for (uint32_t i = p->first_member[part]; i < p->first_member[part + 1]; i++) {
		if (p->affected[p->members[i]]) {
			p->groups[p->group_of[p->members[i]]] = yes;
			n++;
		}
	}
	return n;
}

/* Two of many may be chance: in that case most of the part must be affected. */
static bool is_enough(const struct location *l)
{
	return l->n_affected > 2 || (l->n_affected == 2 && l->n_members <= 4);
}

/* Compute how well a part distinguishes the affected components from the others. */
static struct location judge_part(struct parts *p, const struct lp_verdict *v, uint32_t part)
{
	struct location l = {.part = part, .n_affected = choose_groups(p, part, true)};
	double compared = 0, all_affected = 0;

	for (uint32_t g = 0; g < v->n_groups; g++) {
		compared += p->groups[g] ? v->groups[g].n_members : 0;
		all_affected += p->groups[g] ? p->affected_of_group[g] : 0;
	}
	for (uint32_t i = p->first_member[part]; i < p->first_member[part + 1]; i++)
		l.n_members += p->groups[p->group_of[p->members[i]]];
	l.surprise = localise_surprise(
		l.n_affected, l.n_members, all_affected - l.n_affected, compared - l.n_members);
	choose_groups(p, part, false);
	return l;
}

/* More surprising, or equally surprising and smaller. */
static bool is_better(const struct location *a, const struct location *b)
{
	double equal = 1e-9 * (1 + fabs(b->surprise));

	return a->surprise > b->surprise + equal ||
		(a->surprise > b->surprise - equal && b->part != UINT32_MAX &&
			a->n_members < b->n_members);
}

struct location localise(
	struct parts *p, const struct explain_context *ctx, const uint32_t *affected, uint32_t n)
{
	struct location best = {.part = UINT32_MAX, .surprise = log(1.0 + p->n) + SURPRISE_MARGIN};

	note_affected(p, affected, n, true);
	for (uint32_t k = 0; n > 1 && k < n; k++) {
		for (uint32_t i = p->first_of[affected[k]]; i < p->first_of[affected[k] + 1]; i++) {
			struct location l;

			if (p->seen[p->of[i]])
				continue;
			p->seen[p->of[i]] = true;
			l = judge_part(p, ctx->v, p->of[i]);
			if (is_enough(&l) && is_better(&l, &best))
				best = l;
		}
	}
	note_affected(p, affected, n, false);
	return best;
}
