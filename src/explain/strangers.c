#include "explain/strangers.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* At least this many observers, and more than half of those with connections to it, must accuse an
 * unrecorded host. */
#define WITNESSES_LEAST 3

/* Did its observer open the connection, or all of them? */
static bool is_opened(const struct lp_identity *component, enum connection_end end)
{
	struct connection c;

	return connection_parse(component, &c) && c.out && c.end == end && !c.servers;
}

/* Mark the observers that have pooled connections with other observers. */
static void mark_watched(const struct explain_context *ctx, bool *watched)
{
	for (uint32_t c = 0; c < ctx->v->n_components; c++) {
		if (is_opened(ctx->v->components[c], CONNECTION_ALL))
			watched[ctx->observer[c]] = true;
	}
}

static bool accuses(const struct explain_context *ctx, uint32_t component)
{
	for (uint32_t i = ctx->first_of[component]; i < ctx->first_of[component + 1]; i++) {
		if (ctx->facts[ctx->by_component[i]].fate == FATE_CULPRIT)
			return true;
	}
	return false;
}

/* Do most observers that have a connection with that host accuse it? The name of the connection is
 * the address of the host. */
static bool many_accuse(const struct explain_context *ctx, uint32_t component)
{
	const struct lp_identity *own = ctx->v->components[component];
	uint32_t n = 0, n_accuse = 0;

	for (uint32_t c = 0; c < ctx->v->n_components; c++) {
		const struct lp_identity *id = ctx->v->components[c];

		if (strcmp(id->kind, own->kind) != 0 || strcmp(id->name, own->name) != 0)
			continue;
		n++;
		n_accuse += accuses(ctx, c);
	}
	return n_accuse >= WITNESSES_LEAST && 2 * n_accuse > n;
}

/* Is it a connection with an unrecorded host, which is weak evidence? */
static bool is_weak(const struct explain_context *ctx, const bool *watched, uint32_t component)
{
	return is_opened(ctx->v->components[component], CONNECTION_REMOTE) &&
		watched[ctx->observer[component]] && accuses(ctx, component) &&
		!many_accuse(ctx, component);
}

int strangers_filter(struct explain_context *ctx, struct lp_err *err)
{
	const struct lp_verdict *v = ctx->v;
	_cleanup_free_ bool *watched = calloc((size_t)ctx->n_observers + 1, sizeof(*watched));
	_cleanup_free_ bool *weak = calloc((size_t)v->n_components + 1, sizeof(*weak));

	if (!watched || !weak)
		return lp_err_sys(err, -ENOMEM, "cannot judge connections");
	mark_watched(ctx, watched);
	for (uint32_t c = 0; c < v->n_components; c++)
		weak[c] = is_weak(ctx, watched, c);
	for (uint32_t i = 0; i < v->n_findings; i++) {
		if (weak[v->findings[i].component] && ctx->facts[i].fate == FATE_CULPRIT)
			ctx->facts[i].fate = FATE_CLEARED;
	}
	return 0;
}
