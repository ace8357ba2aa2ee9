#include "explain/layers.h"

#include <string.h>

#define LAYER_KIND "layer"
#define SERVER_LAYER "server"

/* Clients wait longer for a server than for its peers. At least this share of the additional time
 * passes outside of the server. */
#define OUTSIDE_LEAST 0.25

static bool is_below_server(const struct lp_identity *component)
{
	return !strcmp(component->kind, LAYER_KIND) &&
		(!strcmp(component->name, "storage") || !strcmp(component->name, "block"));
}

static bool is_of_server(const struct lp_identity *component)
{
	return !strcmp(component->kind, LAYER_KIND) && !strcmp(component->name, SERVER_LAYER);
}

/* Is it slow, and evidence against its component? */
static bool is_slow(const struct explain_context *ctx, uint32_t finding)
{
	return ctx->facts[finding].fate == FATE_CULPRIT &&
		ctx->facts[finding].role == LP_ROLE_SERVICE &&
		ctx->v->findings[finding].direction == LP_MARK_ABOVE;
}

/* Are files or disks of the observer compared in this metric? */
static bool has_below(const struct explain_context *ctx, const struct lp_finding *f)
{
	const struct lp_verdict *v = ctx->v;

	for (uint32_t c = 0; c < v->n_components; c++) {
		if (ctx->observer[c] == ctx->observer[f->component] &&
			v->row_of[f->metric][c] != UINT32_MAX && is_below_server(v->components[c]))
			return true;
	}
	return false;
}

/* Do clients wait for the answers of a server while the server does not work on them? */
static bool is_outside(const struct lp_finding *answers, const struct lp_finding *server)
{
	double waited = answers->own - answers->peers, worked = server->own - server->peers;

	return waited > 0 && waited - worked >= OUTSIDE_LEAST * waited;
}

static bool is_of_network(const struct explain_context *ctx, uint32_t finding)
{
	const struct lp_verdict *v = ctx->v;
	const struct lp_finding *f = &v->findings[finding];
	bool network = false;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *other = &v->findings[i];

		if (ctx->observer[other->component] != ctx->observer[f->component] ||
			!is_slow(ctx, i) ||
			!times_overlap(f->first_us, f->last_us, other->first_us, other->last_us))
			continue;
		if (is_below_server(v->components[other->component]))
			return false;
		network |=
			!strcmp(v->tables[other->metric]->metric, "answer") && is_outside(other, f);
	}
	return network && has_below(ctx, f);
}

void layers_filter(struct explain_context *ctx)
{
	const struct lp_verdict *v = ctx->v;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		if (is_of_server(v->components[v->findings[i].component]) && is_slow(ctx, i) &&
			is_of_network(ctx, i))
			ctx->facts[i].resource = RESOURCE_NETWORK;
	}
}
