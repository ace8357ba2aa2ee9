#include "explain/namesakes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMESAKES_LEAST 3
/* Slow from the beginning: since the first eighth of the time, as elsewhere. */
#define BEGINNING 8
#define NAMED_MAX 8

/* The components of one kind and name. */
struct name {
	const char *text;     /* "disk:sdb" */
	uint32_t n_observers; /* that have components of that kind */
	uint32_t n_slow;
	bool told;
};

struct names {
	struct strmap index;
	struct name *items;
	uint32_t n;
	uint32_t *of; /* [component] */
	bool *slow;   /* [component] */
};

static void names_release(struct names *n)
{
	strmap_release(&n->index);
	free(n->items);
	free(n->of);
	free(n->slow);
}

static const char *name_text(const struct lp_identity *c)
{
	return c->text + strlen(c->observer) + 1;
}

static bool began_at_once(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[f->metric];
	int64_t begin_us = t->start_us - t->step_us;

	return t->n_slots &&
		f->first_us - begin_us <= (lp_table_time(t, t->n_slots - 1) - begin_us) / BEGINNING;
}

/* Was it compared with others of its observer? Otherwise its peers are its namesakes. */
static bool has_neighbours(const struct explain_context *ctx, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &ctx->v->groups[f->group];

	for (uint32_t i = 0; i < g->n_members; i++) {
		if (g->members[i] != f->component &&
			ctx->observer[g->members[i]] == ctx->observer[f->component])
			return true;
	}
	return false;
}

/* Is it a name that the kernel gives to a drive of its own machine, in the order in which it finds
 * them? A LUN has one name on all servers that see it, and may well be slow for all of them. */
static bool is_own_drive(const char *name)
{
	static const char *const letters[] = {"sd", "hd", "vd", "xvd"},
				 *const numbers[] = {"nvme", "mmcblk"};

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
		size_t len = strlen(letters[i]);

		if (!strncmp(name, letters[i], len) && name[len] &&
			!name[len + strspn(name + len, "abcdefghijklmnopqrstuvwxyz")])
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t len = strlen(numbers[i]);

		if (!strncmp(name, numbers[i], len) && isdigit((unsigned char)name[len]))
			return true;
	}
	return false;
}

static bool is_slow(const struct explain_context *ctx, uint32_t finding)
{
	const struct lp_finding *f = &ctx->v->findings[finding];
	const struct finding_facts *facts = &ctx->facts[finding];

	return (facts->fate == FATE_CULPRIT || facts->fate == FATE_WARNING) &&
		facts->resource == RESOURCE_STORAGE && !facts->of_calls &&
		facts->role == LP_ROLE_LATENCY && f->direction == LP_MARK_ABOVE && !f->whole &&
		!f->crowd && !f->straggler;
}

/* The number of observers that have components of a kind. */
static uint32_t count_observers(const struct explain_context *ctx, const char *kind, bool *seen)
{
	uint32_t n = 0;

	memset(seen, 0, ctx->n_observers * sizeof(*seen));
	for (uint32_t c = 0; c < ctx->v->n_components; c++) {
		if (strcmp(ctx->v->components[c]->kind, kind) != 0 || seen[ctx->observer[c]])
			continue;
		seen[ctx->observer[c]] = true;
		n++;
	}
	return n;
}

/* Number the names of the slow components. */
static int names_number(struct names *n, const struct explain_context *ctx, bool *seen)
{
	const struct lp_verdict *v = ctx->v;

	for (uint32_t c = 0; c < v->n_components; c++) {
		const char *text = name_text(v->components[c]);

		if (!n->slow[c])
			continue;
		if (!strmap_get(&n->index, text, &n->of[c])) {
			n->of[c] = n->n;
			n->items[n->n++] = (struct name){.text = text,
				.n_observers = count_observers(ctx, v->components[c]->kind, seen)};
			if (strmap_put(&n->index, text, n->of[c]) < 0)
				return -ENOMEM;
		}
		n->items[n->of[c]].n_slow++;
	}
	return 0;
}

static int names_make(struct names *n, const struct explain_context *ctx)
{
	const struct lp_verdict *v = ctx->v;
	_cleanup_free_ bool *seen = calloc((size_t)ctx->n_observers + 1, sizeof(*seen));

	n->items = calloc((size_t)v->n_components + 1, sizeof(*n->items));
	n->of = calloc((size_t)v->n_components + 1, sizeof(*n->of));
	n->slow = calloc((size_t)v->n_components + 1, sizeof(*n->slow));
	if (!seen || !n->items || !n->of || !n->slow)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];

		if (is_slow(ctx, i) && is_own_drive(v->components[f->component]->name) &&
			began_at_once(v, f) && has_neighbours(ctx, f))
			n->slow[f->component] = true;
	}
	return names_number(n, ctx, seen);
}

static bool is_by_nature(const struct names *n, uint32_t component)
{
	const struct name *name = &n->items[n->of[component]];

	return n->slow[component] && name->n_slow >= NAMESAKES_LEAST &&
		2 * name->n_slow > name->n_observers;
}

/* More work does not accuse it either: it was only a fault because the component is slow. */
static void clear(struct explain_context *ctx, uint32_t finding)
{
	struct finding_facts *facts = &ctx->facts[finding];

	if (is_slow(ctx, finding))
		facts->fate = FATE_CLEARED;
	else if (facts->fate == FATE_CULPRIT && facts->role == LP_ROLE_WORK &&
		ctx->v->findings[finding].direction == LP_MARK_ABOVE)
		facts->fate = FATE_ASIDE;
}

static int tell(struct lp_verdict *v, const struct strbuf *names, uint32_t n)
{
	if (names->failed)
		return -ENOMEM;
	if (n <= NAMED_MAX)
		return lp_verdict_note(v,
			"%s took longer than the others on most observers from the beginning: that "
			"is the nature of the device, not a fault. A topology file can make them "
			"peers of one another",
			names->text);
	return lp_verdict_note(v,
		"%s and %u more took longer than the others on most observers from the beginning: "
		"that is the nature of the devices, not a fault. A topology file can make them "
		"peers of one another",
		names->text, n - NAMED_MAX);
}

int namesakes_filter(struct explain_context *ctx, struct lp_err *err)
{
	_cleanup_(names_release) struct names n = {0};
	_cleanup_(strbuf_release) struct strbuf told = {0};
	uint32_t n_told = 0;
	int r = 0;

	if (ctx->topology || ctx->v->trained || ctx->v->fixed)
		return 0;
	r = names_make(&n, ctx);
	for (uint32_t i = 0; r == 0 && i < ctx->v->n_findings; i++) {
		uint32_t c = ctx->v->findings[i].component;
		struct name *name = &n.items[n.of[c]];

		if (!is_by_nature(&n, c))
			continue;
		clear(ctx, i);
		if (!name->told && n_told++ < NAMED_MAX)
			strbuf_printf(&told, "%s%s", n_told > 1 ? ", " : "", name->text);
		name->told = true;
	}
	if (r == 0 && n_told)
		r = tell(ctx->v, &told, n_told);
	return r < 0 ? lp_err_sys(err, r, "cannot compare components of one name") : 0;
}
