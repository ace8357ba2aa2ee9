#include "explain/coalesce.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "explain/cause.h"
#include "explain/evidence.h"
#include "explain/localise.h"
#include "explain/onset.h"
#include "explain/rank.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* The advice if a whole observer became slow. */
#define WHOLE_ADVICE                                                                               \
	"Look at what the components of this observer share: controller, cables, enclosure, "      \
	"memory, firmware, what else runs there, and what was changed at that time."

/* State while incidents are made. Lists of suspects are indexes into those of the verdict. */
struct coalescing {
	struct explain_context *ctx;
	struct parts parts;
	bool *taken;		   /* [suspect] */
	uint32_t *candidates;	   /* suspects that may be the same problem as the anchor */
	uint32_t *components;	   /* the same as components */
	uint32_t *members;	   /* suspects of the incident */
	uint32_t n_members, n_own; /* n_own of them belong to the part; the others are
				    * consequences */
	size_t cap;
};

static void coalescing_release(struct coalescing *c)
{
	parts_release(&c->parts);
	free(c->taken);
	free(c->candidates);
	free(c->components);
	free(c->members);
}

/* The class of suspects that may be one problem: the same resource in the same kind of trouble, or
 * absent. */
static int trouble_class(const struct explain_context *ctx, const struct lp_suspect *s)
{
	if (context_semantic(ctx, s))
		return -2 - (int)s->component; /* the log accuses no other component */
	return cause_is_absence(s->cause) ? -1 : (int)ctx->facts[s->findings[0]].resource;
}

/* May a suspect be the same problem as the anchor, which lasts from `first_us` to `last_us`? */
static bool may_join(const struct coalescing *c, uint32_t suspect, const struct lp_suspect *anchor,
	int64_t first_us, int64_t last_us)
{
	const struct lp_suspect *s = &c->ctx->v->suspects[suspect];

	return !c->taken[suspect] && c->ctx->follows[suspect] == UINT32_MAX &&
		trouble_class(c->ctx, s) == trouble_class(c->ctx, anchor) &&
		times_overlap(s->first_us, s->last_us, first_us, last_us);
}

/* The suspects without an incident that may be the same problem as `anchor`; `anchor` comes
 * first. */
static uint32_t find_candidates(struct coalescing *c, uint32_t anchor)
{
	const struct lp_verdict *v = c->ctx->v;
	const struct lp_suspect *a = &v->suspects[anchor];
	uint32_t n = 0;

	for (uint32_t i = anchor; i < v->n_suspects; i++) {
		if (i != anchor && !may_join(c, i, a, a->first_us, a->last_us))
			continue;
		c->candidates[n] = i;
		c->components[n++] = v->suspects[i].component;
	}
	return n;
}

static void extend(const struct lp_suspect *s, int64_t *first_us, int64_t *last_us)
{
	if (s->first_us < *first_us)
		*first_us = s->first_us;
	if (s->last_us > *last_us)
		*last_us = s->last_us;
}

static void take(struct coalescing *c, uint32_t suspect)
{
	c->taken[suspect] = true;
	c->members[c->n_members++] = suspect;
}

/* Trouble of a part affects its components at different times. A suspect that overlaps with the
 * incident so far belongs to it, even if it does not overlap with the anchor. */
static void take_later_ones(struct coalescing *c, uint32_t anchor, uint32_t part)
{
	const struct lp_verdict *v = c->ctx->v;
	const struct lp_suspect *a = &v->suspects[anchor];
	int64_t first_us = INT64_MAX, last_us = INT64_MIN;
	bool grown = true;

	for (uint32_t k = 0; k < c->n_members; k++)
		extend(&v->suspects[c->members[k]], &first_us, &last_us);
	while (grown) {
		grown = false;
		for (uint32_t i = anchor; i < v->n_suspects; i++) {
			const struct lp_suspect *s = &v->suspects[i];

			if (!may_join(c, i, a, first_us, last_us) ||
				!parts_has(&c->parts, s->component, part))
				continue;
			take(c, i);
			extend(s, &first_us, &last_us);
			grown = true;
		}
	}
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The members of the incident: the candidates that have the part, then those that follow from
 * them. */
static void take_members(struct coalescing *c, uint32_t anchor, uint32_t n, uint32_t part)
{
	const struct lp_verdict *v = c->ctx->v;

	c->n_members = 0;
	for (uint32_t k = 0; k < n; k++) {
		if (part == UINT32_MAX ? c->candidates[k] == anchor
				       : parts_has(&c->parts, c->components[k], part))
			take(c, c->candidates[k]);
	}
	if (part != UINT32_MAX)
		take_later_ones(c, anchor, part);
	qsort(c->members, c->n_members, sizeof(*c->members), compare_numbers);
	c->n_own = c->n_members;
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		uint32_t leader = c->ctx->follows[i];
		bool ours = false;

		for (uint32_t k = 0; !ours && leader != UINT32_MAX && k < c->n_own; k++)
			ours = c->members[k] == leader;
		if (ours && !c->taken[i])
			take(c, i);
	}
}

/* The cause of most of the suspects; if there is a tie, that of the worst. */
static const char *common_cause(const struct coalescing *c)
{
	const struct lp_suspect *suspects = c->ctx->v->suspects;
	const char *best = NULL;
	uint32_t best_n = 0;

	for (uint32_t i = 0; i < c->n_own && best_n <= c->n_own / 2; i++) {
		const char *cause = suspects[c->members[i]].cause;
		uint32_t n = 0;

		for (uint32_t k = i; k < c->n_own; k++)
			n += !strcmp(suspects[c->members[k]].cause, cause);
		if (n > best_n) {
			best = cause;
			best_n = n;
		}
	}
	return best;
}

/* The part that is the observer of a component. */
static uint32_t observer_part(const struct coalescing *c, uint32_t component)
{
	const char *observer = c->ctx->v->components[component]->observer;

	for (uint32_t i = c->parts.first_of[component]; i < c->parts.first_of[component + 1]; i++) {
		const char *part = c->parts.names[c->parts.of[i]];

		if (!strncmp(part, "observer:", 9) && !strcmp(part + 9, observer))
			return c->parts.of[i];
	}
	return UINT32_MAX;
}

/* The number of compared components that the observer itself measured. */
static uint32_t count_of_observer(const struct coalescing *c, uint32_t part, uint32_t observer)
{
	uint32_t n = 0;

	for (uint32_t i = c->parts.first_member[part]; i < c->parts.first_member[part + 1]; i++)
		n += c->ctx->observer[c->parts.members[i]] == observer;
	return n;
}

/* Is the whole observer gone, i.e. does none of its compared components have data? */
static bool is_server_down(const struct coalescing *c, uint32_t *ret_part)
{
	const struct explain_context *ctx = c->ctx;
	const struct lp_suspect *suspects = ctx->v->suspects;
	uint32_t component = suspects[c->members[0]].component;
	uint32_t observer = ctx->observer[component], part = observer_part(c, component);

	for (uint32_t i = 0; i < c->n_own; i++) {
		const struct lp_suspect *s = &suspects[c->members[i]];

		if (context_semantic(ctx, s))
			return false;
		if (ctx->observer[s->component] != observer || !cause_is_absence(s->cause) ||
			!ctx->facts[s->findings[0]].no_data)
			return false;
	}
	*ret_part = part;
	return part != UINT32_MAX && c->n_own == count_of_observer(c, part, observer);
}

static void sum_up(const struct coalescing *c, struct lp_incident *incident)
{
	const struct lp_suspect *suspects = c->ctx->v->suspects;
	struct onset all = {0}, onset;

	incident->indicted_us = INT64_MAX;
	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct lp_suspect *s = &suspects[c->members[i]];

		incident->components[i] = s->component;
		incident->severity = fmax(incident->severity, s->severity);
		if (i < 3)
			incident->confidence = i
				? rank_joint_confidence(incident->confidence, s->confidence)
				: s->confidence;
		if (s->persistence > incident->persistence)
			incident->persistence = s->persistence;
		onset = onset_of_suspect(c->ctx, s);
		if (i)
			onset_join(&all, onset);
		else
			all = onset;
		if (s->indicted_us < incident->indicted_us)
			incident->indicted_us = s->indicted_us;
	}
	incident->severity += log2(c->n_members);
	incident->level = LP_LEVEL_ABSENT;
	for (uint32_t i = 0; i < c->n_own; i++) {
		if (suspects[c->members[i]].level != LP_LEVEL_ABSENT)
			incident->level = LP_LEVEL_SUSPECT;
	}
	incident->first_us = all.first_us;
	incident->last_us = all.last_us;
	incident->onset_error_us = all.error_us;
	incident->since_before = all.since_before;
	incident->ended = all.ended;
}

/* Did the whole observer of a suspect become slow? */
static bool is_whole(const struct coalescing *c, uint32_t suspect)
{
	const struct lp_suspect *s = &c->ctx->v->suspects[suspect];

	return s->n_findings && c->ctx->v->findings[s->findings[0]].whole;
}

/* Fill in an incident about a part (UINT32_MAX: the first member's component). */
static int describe(struct coalescing *c, struct lp_incident *incident, struct location at)
{
	struct lp_verdict *v = c->ctx->v;
	const struct lp_suspect *lead = &v->suspects[c->members[0]];
	uint32_t part = at.part;

	incident->components = calloc((size_t)c->n_members + 1, sizeof(uint32_t));
	if (!incident->components)
		return -ENOMEM;
	incident->n_components = c->n_members;
	incident->cause = common_cause(c);
	incident->n_of_part = part == UINT32_MAX ? 1 : at.n_members;
	if (is_server_down(c, &part)) {
		incident->cause = cause_server_down.name;
		incident->n_of_part = c->n_own;
	} else {
		part = at.part;
	}
	sum_up(c, incident);
	incident->part = strdup(
		part == UINT32_MAX ? v->components[lead->component]->text : c->parts.names[part]);
	incident->advice = strdup(context_semantic(c->ctx, lead) ? lead->advice
			: is_whole(c, c->members[0]) && !cause_is_absence(incident->cause)
			? WHOLE_ADVICE
			: cause_find(incident->cause)->advice);
	if (!incident->part || !incident->advice)
		return -ENOMEM;
	incident->summary = evidence_summary(c->ctx, incident, lead, c->n_own);
	return incident->summary ? 0 : -ENOMEM;
}

/* The observer as a part: its components that are not affected prove nothing.
 */
static struct location whole_location(const struct coalescing *c, uint32_t anchor)
{
	uint32_t component = c->ctx->v->suspects[anchor].component;
	struct location at = {.part = observer_part(c, component)};

	if (at.part != UINT32_MAX)
		at.n_members = count_of_observer(c, at.part, c->ctx->observer[component]);
	return at;
}

/* Add an incident for the part that explains most of the trouble around the anchor, which is the
 * worst suspect without an incident. If the incident does not contain the anchor, the anchor is
 * examined again. */
static int add_incident(struct coalescing *c, uint32_t anchor)
{
	struct lp_verdict *v = c->ctx->v;
	uint32_t n = find_candidates(c, anchor);
	struct location at;

	if (array_reserve(
		    &v->incidents, &c->cap, (size_t)v->n_incidents + 1, sizeof(*v->incidents)) < 0)
		return -ENOMEM;
	at = is_whole(c, anchor) ? whole_location(c, anchor)
				 : localise(&c->parts, c->ctx, c->components, n);
	take_members(c, anchor, n, at.part);
	return describe(c, &v->incidents[v->n_incidents++], at);
}

static int compare_incidents(const void *a, const void *b)
{
	const struct lp_incident *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? 1 : -1;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	return strcmp(x->part, y->part);
}

int coalesce_suspects(struct explain_context *ctx, struct lp_err *err)
{
	_cleanup_(coalescing_release) struct coalescing c = {.ctx = ctx};
	struct lp_verdict *v = ctx->v;
	size_t n = (size_t)v->n_suspects + 1;
	int r;

	if (!v->n_suspects)
		return 0;
	r = parts_init(&c.parts, ctx, err);
	if (r < 0)
		return r;
	c.taken = calloc(n, sizeof(bool));
	c.candidates = calloc(n, sizeof(uint32_t));
	c.components = calloc(n, sizeof(uint32_t));
	c.members = calloc(n, sizeof(uint32_t));
	if (!c.taken || !c.candidates || !c.components || !c.members)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++) {
		while (r == 0 && !c.taken[i] && ctx->follows[i] == UINT32_MAX)
			r = add_incident(&c, i);
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot list the incidents");
	qsort(v->incidents, v->n_incidents, sizeof(*v->incidents), compare_incidents);
	return 0;
}
