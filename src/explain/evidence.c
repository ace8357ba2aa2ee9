#include "explain/evidence.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "detect/compare/marks.h"
#include "explain/behaviour.h"
#include "explain/cause.h"
#include "explain/semantic.h"
#include "model/metric_role.h"
#include "model/naming.h"
#include "model/quantity.h"
#include "model/traced_call.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A ratio closer to 1 than this is not mentioned. */
#define LIKE_PEERS 1.15
/* A load this close to that of the peers explains nothing. */
#define LIKE_LOAD 1.5

void evidence_add_windows(struct strbuf *sb, const struct lp_verdict *v, const struct lp_finding *f)
{
	const char *method = v->series[f->series].method;
	bool by_samples = method && !strcmp(method, "series");

	strbuf_printf(sb, "%u of %u %s%s", f->n_anomalous, f->n_windows,
		by_samples ? "sample" : "window", f->n_windows == 1 ? "" : "s");
	if (f->n_aside)
		strbuf_printf(sb, " (the other way in %u of them)", f->n_aside);
}

/* The last window in which the finding's component is anomalous; n_windows if there is none. */
static uint32_t last_anomalous(const struct lp_series *s, uint32_t member)
{
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;

	for (uint32_t w = s->n_windows; w-- > 0;) {
		if (mark_anomalous(marks[w]))
			return w;
	}
	return s->n_windows;
}

/* The number of peers that have data and work in the last window in which the component has
 * none. */
static void add_peers_with_data(struct strbuf *sb, const struct explain_context *ctx,
	const struct lp_finding *f, const char *have)
{
	const struct lp_series *s = &ctx->v->series[f->series];
	uint32_t n = ctx->v->groups[f->group].n_members, some = 0;
	uint32_t window = last_anomalous(s, f->member);

	if (f->whole)
		strbuf_printf(sb, ", while most other observers %s", have);
	if (f->whole || window >= s->n_windows || n < 2)
		return;
	for (uint32_t m = 0; m < n; m++) {
		uint8_t mark = s->marks[(size_t)m * s->n_windows + window];

		some += m != f->member && mark != LP_MARK_NONE && mark != LP_MARK_ABSENT;
	}
	strbuf_printf(sb, ", while %u of %u peers %s", some, n - 1, have);
}

/* " since T" if it lasts to the end of the data, else " from T to T". */
static void add_stretch(
	struct strbuf *sb, int64_t first_us, int64_t last_us, bool since_before, bool ended)
{
	const char *before = since_before ? "before " : "";
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];

	time_format(first_us, first);
	if (ended)
		strbuf_printf(sb, " from %s%s to %s", before, first, time_format(last_us, last));
	else
		strbuf_printf(sb, " since %s%s", before, first);
}

static void add_absence(struct strbuf *sb, const struct explain_context *ctx, uint32_t finding)
{
	const struct lp_finding *f = &ctx->v->findings[finding];
	bool no_data = ctx->facts[finding].no_data;

	if (no_data)
		strbuf_puts(sb, "no data");
	else
		strbuf_printf(sb, "no work (%s 0)", ctx->v->tables[f->metric]->metric);
	strbuf_puts(sb, " in ");
	evidence_add_windows(sb, ctx->v, f);
	strbuf_putc(sb, ',');
	add_stretch(sb, f->first_us, f->last_us, f->since_before, f->ended);
	add_peers_with_data(sb, ctx, f, no_data ? "have some" : "work");
}

bool evidence_is_alike(const struct lp_finding *f)
{
	return f->direction != LP_MARK_ABSENT && f->ratio < LIKE_PEERS && f->ratio > 1 / LIKE_PEERS;
}

/* A vector is above or below its peers in some functions: print their share. */
static void add_behaviour(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_finding *f)
{
	double ratio = f->ratio < 1 ? 1 / f->ratio : f->ratio;

	strbuf_printf(sb, "%s of functions differ ", ctx->v->tables[f->metric]->metric);
	if (isfinite(ratio))
		strbuf_printf(sb, "by %.0f%% ", 100 * (ratio - 1));
	else
		strbuf_puts(sb, "completely ");
	strbuf_puts(sb, "from those of its peers in ");
	evidence_add_windows(sb, ctx->v, f);
}

void evidence_of_finding(const struct explain_context *ctx, uint32_t finding, struct strbuf *sb)
{
	const struct lp_finding *f = &ctx->v->findings[finding];
	const struct lp_table *t = ctx->v->tables[f->metric];
	bool finite = isfinite(f->ratio) && f->ratio > 0;

	if (f->direction == LP_MARK_ABSENT) {
		add_absence(sb, ctx, finding);
		return;
	}
	if (f->n_dimensions) {
		add_behaviour(sb, ctx, f);
		return;
	}
	strbuf_printf(sb, "%s ", t->metric);
	if (evidence_is_alike(f)) {
		strbuf_puts(sb, "is distributed differently from its peers (median ");
		quantity_add_ratio(sb, f->ratio);
		strbuf_puts(sb, ")");
	} else if (finite) {
		quantity_add_ratio(sb, f->ratio);
		strbuf_puts(sb,
			ctx->v->past	   ? " its own past ("
				: f->whole ? " its own past, relative to other observers ("
					   : " its peers (");
		quantity_add(sb, f->own, t->unit);
		strbuf_puts(sb, f->whole ? " instead of " : " against ");
		quantity_add(sb, f->peers, t->unit);
		strbuf_puts(sb, ")");
	} else {
		quantity_add(sb, f->own, t->unit);
		strbuf_puts(sb, " where its peers have ");
		quantity_add(sb, f->peers, t->unit);
	}
	strbuf_puts(sb, " in ");
	evidence_add_windows(sb, ctx->v, f);
	if (f->straggler) {
		strbuf_puts(sb, ": it worked on alone, ");
		strbuf_printf(sb, "%.1f times as long as its peers did", f->distance);
	}
	if (f->mild)
		strbuf_printf(
			sb, ", small but certain (%.1f times the bar for a warning)", f->distance);
	if (f->explained_by_load && isfinite(f->load_ratio)) {
		strbuf_puts(sb, ", as its load (");
		quantity_add_ratio(sb, f->load_ratio);
		strbuf_puts(sb, ") explains");
	} else if (f->explained_by_idle) {
		strbuf_puts(sb, "; its peers are idle now and then, and as fast when they work");
	}
}

/* The component's load in relation to its latency: the answer to "is it just busier?". */
static void add_load(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_suspect *s)
{
	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &ctx->v->findings[s->findings[i]];
		double load = f->load_ratio;

		if (!role_is_time(ctx->facts[s->findings[i]].role) || !isfinite(load) ||
			f->direction == LP_MARK_ABSENT || f->explained_by_load)
			continue;
		if (load <= LIKE_LOAD && load >= 1 / LIKE_LOAD)
			strbuf_puts(sb, "throughput is like its peers' (");
		else
			strbuf_puts(sb,
				load > 1 ? "throughput is above its peers' ("
					 : "throughput is below its peers' (");
		quantity_add_ratio(sb, load);
		strbuf_puts(sb, ")");
		return;
	}
}

/* Is a finding about more traffic of an observer's interfaces? */
static bool is_more_traffic(const struct lp_verdict *v, const struct lp_finding *f)
{
	return f->direction == LP_MARK_ABOVE && !strcmp(v->components[f->component]->kind, "net") &&
		lp_metric_role("net", v->tables[f->metric]->metric) == LP_ROLE_WORK;
}

struct traffic evidence_traffic(const struct lp_verdict *v, const struct lp_suspect *s)
{
	const struct traffic none = {NAN, NAN, 0};

	if (strcmp(s->cause, cause_network_hog.name) != 0)
		return none;
	for (uint32_t i = 0; i < v->n_findings; i++) {
		if (is_more_traffic(v, &v->findings[i]) &&
			traffic_same_observer(v, v->findings[i].component, s->component))
			return none;
	}
	return traffic_of_observer(v, s->component, s->first_us, s->last_us);
}

static void add_traffic(struct strbuf *sb, const struct lp_verdict *v, const struct lp_suspect *s)
{
	struct traffic t = evidence_traffic(v, s);

	if (!(t.own > t.usual))
		return;
	strbuf_puts(sb, "its server's interfaces carry ");
	quantity_add(sb, t.own, "bytes/s");
	strbuf_puts(sb, ", those of its peers ");
	quantity_add(sb, t.usual, "bytes/s");
}

static bool is_told(const struct lp_suspect *s, const char *text)
{
	for (uint32_t i = 0; text && i < s->n_evidence; i++) {
		if (!strcmp(s->evidence[i], text))
			return true;
	}
	return false;
}

/* Append the content of `sb` to the evidence, unless the evidence has it already, and empty it. */
static int take_sentence(struct lp_suspect *s, size_t *cap, struct strbuf *sb)
{
	char *text;

	if (!sb->len && !sb->failed)
		return 0;
	text = strbuf_take(sb);
	if (is_told(s, text)) { /* "no data" is the same for all metrics */
		free(text);
		return 0;
	}
	if (!text || array_reserve(&s->evidence, cap, s->n_evidence + 1, sizeof(char *)) < 0) {
		free(text);
		return -ENOMEM;
	}
	s->evidence[s->n_evidence++] = text;
	return 0;
}

/* The same. `in_numbers`: the table of findings shows it as well. */
static int take_measured(struct lp_suspect *s, size_t *cap, struct strbuf *sb, bool in_numbers)
{
	uint32_t before = s->n_evidence;
	int r = take_sentence(s, cap, sb);

	if (r == 0 && s->n_evidence > before && before < 64 && in_numbers)
		s->measured |= UINT64_C(1) << before;
	return r;
}

static bool is_in_suspect(const struct lp_suspect *s, uint32_t finding)
{
	for (uint32_t i = 0; i < s->n_findings; i++) {
		if (s->findings[i] == finding)
			return true;
	}
	return false;
}

/* The functions of each metric, and what they have in common. */
static int add_functions(const struct explain_context *ctx, struct lp_suspect *s, size_t *cap)
{
	struct strbuf sb = {0};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->n_findings; i++) {
		const struct lp_finding *f = &ctx->v->findings[s->findings[i]];

		if (!f->n_dimensions)
			continue;
		behaviour_add_functions(&sb, ctx, f);
		r = take_measured(s, cap, &sb, true);
		if (r == 0) {
			behaviour_add_hint(&sb, ctx, f);
			r = take_sentence(s, cap, &sb);
		}
	}
	return r;
}

/* Other unusual facts about the component, which do not accuse it. */
static int add_others(const struct explain_context *ctx, struct lp_suspect *s, size_t *cap)
{
	int r = 0;

	for (uint32_t i = ctx->first_of[s->component];
		r == 0 && i < ctx->first_of[s->component + 1]; i++) {
		struct strbuf sb = {0};
		uint32_t finding = ctx->by_component[i];

		if (is_in_suspect(s, finding) || ctx->facts[finding].fate == FATE_CLEARED)
			continue;
		evidence_of_finding(ctx, finding, &sb);
		r = take_sentence(s, cap, &sb);
	}
	return r;
}

/* Why another component causes the trouble. */
static int add_leader(const struct explain_context *ctx, struct lp_suspect *s,
	const struct lp_suspect *leader, size_t *cap)
{
	bool absent = s->n_findings && ctx->v->findings[s->findings[0]].direction == LP_MARK_ABSENT;
	struct strbuf sb = {0};

	if (leader && cause_is_absence(leader->cause))
		strbuf_printf(&sb, "it carries the load of %s, a path to the same LUN that is lost",
			ctx->v->components[leader->component]->text);
	else if (leader)
		strbuf_printf(&sb, "%s of the same server is the cause (%s)",
			ctx->v->components[leader->component]->text, leader->cause);
	else if (cause_is_absence(s->cause) && !absent)
		strbuf_puts(&sb,
			"it works while its peers are idle: the preferred path to this LUN may be "
			"lost");
	return take_sentence(s, cap, &sb);
}

/* The evidence in the logs of system calls comes first. */
static int add_semantic(const struct semantic_finding *f, struct lp_suspect *s, size_t *cap)
{
	struct strbuf sb = {0};
	int r = 0;

	for (uint32_t i = 0; f && r == 0 && i < f->n_evidence; i++) {
		strbuf_puts(&sb, f->evidence[i]);
		r = take_sentence(s, cap, &sb);
	}
	if (f && r == 0)
		r = traced_calls_add_all(&s->calls, &s->n_calls, f->calls, f->n_calls);
	return r;
}

int evidence_fill(
	const struct explain_context *ctx, struct lp_suspect *s, const struct lp_suspect *leader)
{
	const struct semantic_finding *f = context_semantic(ctx, s);
	struct strbuf sb = {0};
	size_t cap = 0;
	int r = add_semantic(f, s, &cap);

	for (uint32_t i = 0; r == 0 && i < s->n_findings; i++) {
		evidence_of_finding(ctx, s->findings[i], &sb);
		r = take_measured(s, &cap, &sb, !ctx->v->findings[s->findings[i]].n_dimensions);
	}
	if (r == 0) {
		add_load(&sb, ctx, s);
		r = take_measured(s, &cap, &sb, true);
	}
	if (r == 0) {
		add_traffic(&sb, ctx->v, s);
		r = take_measured(s, &cap, &sb, true);
	}
	if (r == 0)
		r = add_functions(ctx, s, &cap);
	if (r == 0)
		r = add_others(ctx, s, &cap);
	if (r == 0)
		r = add_leader(ctx, s, leader, &cap);
	if (r == 0)
		s->advice = strdup(f ? f->advice : cause_find(s->cause)->advice);
	return r == 0 && s->advice ? 0 : -ENOMEM;
}

char *evidence_summary(const struct explain_context *ctx, const struct lp_incident *incident,
	const struct lp_suspect *lead, uint32_t n_own)
{
	struct strbuf sb = {0};

	if (!strcmp(incident->cause, cause_server_down.name)) {
		strbuf_puts(&sb, "no data from ");
		naming_add_part(&sb, incident->part);
		add_stretch(&sb, incident->first_us, incident->last_us, incident->since_before,
			incident->ended);
		return strbuf_take(&sb);
	}
	if (strchr(incident->part, '/')) /* a component, by the name that commands take */
		strbuf_puts(&sb, incident->part);
	else
		naming_add_part(&sb, incident->part);
	strbuf_printf(&sb, " %s", cause_find(incident->cause)->is);
	if (context_semantic(ctx, lead)) {
		strbuf_printf(&sb, ": %s", lead->evidence[0]);
		return strbuf_take(&sb);
	}
	if (n_own > 1)
		strbuf_printf(&sb, ": %u of its %u components", n_own, incident->n_of_part);
	if (lead->n_findings) {
		strbuf_puts(&sb, n_own > 1 ? ", the worst with " : ": ");
		evidence_of_finding(ctx, lead->findings[0], &sb);
	}
	strbuf_putc(&sb, ',');
	add_stretch(&sb, incident->first_us, incident->last_us, incident->since_before,
		incident->ended);
	return strbuf_take(&sb);
}
