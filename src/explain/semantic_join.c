#include "explain/semantic_join.h"

#include "base/array.h"
#include "base/time.h"
#include "explain/cause.h"
#include "explain/rank.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Findings about windows begin and end with windows, so this many windows earlier is still the same
 * time. */
#define WINDOWS_EARLY 2

static uint32_t find_component(const struct lp_verdict *v, const struct lp_identity *component)
{
	for (uint32_t c = 0; c < v->n_components; c++) {
		if (!strcmp(v->components[c]->text, component->text))
			return c;
	}
	return UINT32_MAX;
}

static bool is_wanted(const char *component, const char *const *globs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (fnmatch(globs[i], component, 0) == 0)
			return true;
	}
	return !n;
}

/* Add a component that is in no table. */
static int add_component(struct lp_verdict *v, const struct lp_identity *component)
{
	uint32_t n = v->n_components;
	struct lp_identity **components =
		reallocarray(v->components, (size_t)n + 1, sizeof(struct lp_identity *));

	if (!components)
		return -ENOMEM;
	v->components = components;
	for (uint32_t m = 0; m < v->n_tables; m++) {
		uint32_t *rows = reallocarray(v->row_of[m], (size_t)n + 1, sizeof(uint32_t));

		if (!rows)
			return -ENOMEM;
		rows[n] = UINT32_MAX;
		v->row_of[m] = rows;
	}
	v->components[v->n_components++] = lp_identity_ref(component);
	return 0;
}

int semantic_join_components(struct lp_verdict *v, const struct semantic *s,
	const char *const *components, uint32_t n, struct lp_err *err)
{
	int r = 0;

	v->n_traced = s->n_observers;
	for (uint32_t i = 0; r == 0 && i < s->n; i++) {
		const struct lp_identity *component = s->findings[i].component;

		if (is_wanted(component->text, components, n) &&
			find_component(v, component) == UINT32_MAX)
			r = add_component(v, component);
	}
	for (uint32_t i = 0; r == 0 && i < s->n_notes; i++)
		r = lp_verdict_note(v, "%s", s->notes[i]);
	return r < 0 ? lp_err_sys(err, r, "cannot list the suspects") : 0;
}

static struct lp_suspect *find_suspect(struct lp_verdict *v, uint32_t component)
{
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		if (v->suspects[i].component == component)
			return &v->suspects[i];
	}
	return NULL;
}

static int add_suspect(
	struct explain_context *ctx, uint32_t component, const struct semantic_finding *f)
{
	struct lp_verdict *v = ctx->v;
	struct lp_suspect *suspects =
		reallocarray(v->suspects, (size_t)v->n_suspects + 1, sizeof(*suspects));
	const char *name = v->components[component]->text;

	if (!suspects)
		return -ENOMEM;
	v->suspects = suspects;
	v->suspects[v->n_suspects++] = (struct lp_suspect){.component = component,
		.group = UINT32_MAX,
		.cause = f->cause,
		.first_us = f->first_us,
		.last_us = f->last_us,
		.indicted_us = f->first_us,
		.acknowledged =
			ctx->state && state_holds(ctx->state, STATE_ACK, name, ctx->now_us)};
	return 0;
}

/* Use the worse of both findings. A dead or hanging server is as bad as an absent one, and so are
 * errors. */
static void weigh(struct lp_suspect *s, const struct semantic_finding *f)
{
	double severity = rank_severity(RANK_SIZE_ABSENT, f->n, f->n);

	s->severity = severity > s->severity ? severity : s->severity;
	s->confidence = f->confidence > s->confidence ? f->confidence : s->confidence;
	s->persistence = f->n > s->persistence ? f->n : s->persistence;
	s->first_us = f->first_us < s->first_us ? f->first_us : s->first_us;
	s->last_us = f->last_us > s->last_us ? f->last_us : s->last_us;
	s->indicted_us = f->first_us < s->indicted_us ? f->first_us : s->indicted_us;
}

/* Did the operator settle it: is it muted, or was it over when it was cleared? */
static bool is_settled(
	const struct explain_context *ctx, const char *name, const struct semantic_finding *f)
{
	return ctx->state &&
		(state_holds(ctx->state, STATE_MUTE, name, ctx->now_us) ||
			state_cleared(ctx->state, name) > f->last_us);
}

static int join_one(struct explain_context *ctx, const struct semantic_finding *f)
{
	struct lp_verdict *v = ctx->v;
	uint32_t component = find_component(v, f->component);
	struct lp_suspect *s;

	if (component == UINT32_MAX)
		return 0;
	if (is_settled(ctx, f->component->text, f))
		return state_holds(ctx->state, STATE_MUTE, f->component->text, ctx->now_us)
			? verdict_mute(v, component)
			: 0;
	if (!find_suspect(v, component) && add_suspect(ctx, component, f) < 0)
		return -ENOMEM;
	s = find_suspect(v, component);
	weigh(s, f);
	/* The reason why it does nothing is known. */
	s->level = LP_LEVEL_SUSPECT;
	s->gone = LP_GONE_NOTHING;
	ctx->semantic[component] = f;
	return 0;
}

int semantic_join_suspects(
	struct explain_context *ctx, const struct semantic *s, struct lp_err *err)
{
	int r = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	ctx->semantic = calloc((size_t)ctx->v->n_components + 1, sizeof(*ctx->semantic));
	if (!ctx->semantic)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && s && i < s->n; i++)
		r = join_one(ctx, &s->findings[i]);
	if (r < 0)
		return lp_err_sys(err, r, "cannot list the suspects");
	rank_suspects(ctx->v->suspects, ctx->v->n_suspects);
	return 0;
}

bool semantic_explains(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other)
{
	const struct semantic_finding *f = ctx->semantic ? ctx->semantic[other->component] : NULL;
	const struct lp_params *p = &ctx->v->params;
	int64_t early_us = WINDOWS_EARLY * (int64_t)p->win_size * p->step_us;

	if (!f || ctx->semantic[s->component])
		return false;
	if (!strcmp(f->cause, cause_propagated_error.name) ||
		!strcmp(f->cause, cause_resource_exhausted.name))
		return s->last_us >= f->first_us && s->first_us <= f->last_us;
	return s->last_us >= f->first_us && s->first_us >= f->first_us - early_us;
}
