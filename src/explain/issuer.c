#include "explain/issuer.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* The server itself causes latency only if it also works more, by this factor. */
#define LOAD_MIN 1.5

/* One attachment in one metric. */
struct attachment {
	uint32_t server, metric, series, member;
};

struct issuers {
	uint32_t *server; /* [component] UINT32_MAX: none */
	struct attachment *attachments;
	size_t n, cap;
};

static void issuers_release(struct issuers *is)
{
	free(is->server);
	free(is->attachments);
}

static int number_servers(
	struct issuers *is, const struct explain_context *ctx, const char *attribute)
{
	struct strmap map = {0};
	uint32_t n = 0;
	int r = 0;

	is->server = calloc((size_t)ctx->v->n_components + 1, sizeof(*is->server));
	if (!is->server)
		return -ENOMEM;
	for (uint32_t c = 0; r == 0 && c < ctx->v->n_components; c++) {
		char buf[256];
		const char *name = topology_attribute(
			ctx->topology, ctx->v->components[c], attribute, buf, sizeof(buf));

		is->server[c] = UINT32_MAX;
		if (name && !strmap_get(&map, name, &is->server[c])) {
			is->server[c] = n++;
			r = strmap_put(&map, name, is->server[c]);
		}
	}
	strmap_release(&map);
	return r;
}

static int compare_attachments(const void *a, const void *b)
{
	const struct attachment *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

/* All attachments, sorted by server and metric. */
static int list_attachments(struct issuers *is, const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_series; i++) {
		const struct lp_peer_group *g = &v->groups[v->series[i].group];

		if (array_reserve(&is->attachments, &is->cap, is->n + g->n_members,
			    sizeof(*is->attachments)) < 0)
			return -ENOMEM;
		for (uint32_t m = 0; m < g->n_members; m++) {
			uint32_t server = is->server[g->members[m]];

			if (server != UINT32_MAX)
				is->attachments[is->n++] =
					(struct attachment){server, v->series[i].metric, i, m};
		}
	}
	if (is->n)
		qsort(is->attachments, is->n, sizeof(*is->attachments), compare_attachments);
	return 0;
}

/* The first attachment of a server and metric. */
static size_t find_first(const struct issuers *is, uint32_t server, uint32_t metric)
{
	struct attachment key = {.server = server, .metric = metric};
	size_t low = 0, high = is->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_attachments(&is->attachments[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint8_t mark_at(const struct lp_verdict *v, const struct attachment *a, uint32_t window)
{
	const struct lp_series *s = &v->series[a->series];

	return window < s->n_windows ? s->marks[(size_t)a->member * s->n_windows + window]
				     : LP_MARK_NONE;
}

/* Are most other attachments of the server above their peers in this window, too, including those
 * of other priorities? */
static bool is_shared(const struct lp_verdict *v, const struct issuers *is,
	const struct lp_finding *f, size_t first, uint32_t window)
{
	uint32_t n = 0, above = 0, elsewhere = 0;

	for (size_t i = first;
		i < is->n && is->attachments[i].server == is->attachments[first].server &&
		is->attachments[i].metric == f->metric;
		i++) {
		const struct attachment *a = &is->attachments[i];
		uint8_t mark = mark_at(v, a, window);

		if (mark == LP_MARK_NONE || (a->series == f->series && a->member == f->member))
			continue;
		n++;
		above += mark == LP_MARK_ABOVE;
		elsewhere += mark == LP_MARK_ABOVE && a->series != f->series;
	}
	return above * 2 > n && above >= 2 && elsewhere;
}

static bool is_workload(
	const struct explain_context *ctx, const struct issuers *is, uint32_t finding)
{
	const struct lp_verdict *v = ctx->v;
	const struct lp_finding *f = &v->findings[finding];
	const struct lp_series *s = &v->series[f->series];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	uint32_t server = is->server[f->component], n = 0, shared = 0;
	size_t first;

	if (server == UINT32_MAX)
		return false;
	first = find_first(is, server, f->metric);
	for (uint32_t w = 0; w < s->n_windows; w++) {
		if (marks[w] != LP_MARK_ABOVE)
			continue;
		n++;
		shared += is_shared(v, is, f, first, w);
	}
	return n && shared * 2 > n;
}

/* Can it be load at all? If all devices of a server are slower for the same work, the server has a
 * fault. */
static bool may_be_load(const struct explain_context *ctx, uint32_t finding)
{
	const struct lp_finding *f = &ctx->v->findings[finding];

	if (f->direction != LP_MARK_ABOVE || ctx->facts[finding].fate == FATE_CLEARED)
		return false;
	switch (ctx->facts[finding].role) {
	case LP_ROLE_WORK:
	case LP_ROLE_BUSY:
		return true;
	case LP_ROLE_LATENCY:
	case LP_ROLE_SERVICE:
		return isnan(f->load_ratio) || f->load_ratio > LOAD_MIN;
	default:
		return false;
	}
}

int issuer_filter(struct explain_context *ctx, struct lp_err *err)
{
	const char *attribute = ctx->topology ? topology_issuer(ctx->topology) : NULL;
	_cleanup_(issuers_release) struct issuers is = {0};
	int r;

	if (!attribute || !ctx->v->n_findings)
		return 0;
	r = number_servers(&is, ctx, attribute);
	if (r == 0)
		r = list_attachments(&is, ctx->v);
	if (r < 0)
		return lp_err_sys(err, r, "cannot compare the attachments of servers");
	for (uint32_t i = 0; i < ctx->v->n_findings; i++) {
		if (may_be_load(ctx, i) && is_workload(ctx, &is, i))
			ctx->facts[i].fate = FATE_WORKLOAD;
	}
	return 0;
}
