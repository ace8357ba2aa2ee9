#include "report/verdict_facts.h"

#include "base/array.h"
#include "base/time.h"
#include "model/identity.h"
#include <inttypes.h>
#include <limpet/metric.h>
#include <string.h>

#define KINDS_MAX 6   /* told one by one; with more, all are "components" */
#define METRICS_MAX 8 /* named; more are counted */
#define MUTED_MAX 4   /* the same */
#define UNKNOWN_MAX 4 /* the same, of what could not be judged */

/* Slot i covers the step that ends at its time. */
static int64_t slot_end(const struct lp_verdict *v, uint32_t table, uint32_t slot)
{
	const struct lp_table *t = v->tables[table];

	return lp_table_time(t, slot);
}

int64_t verdict_window_start(const struct lp_verdict *v, const struct lp_series *s, uint32_t window)
{
	return slot_end(v, s->metric, s->first[window]) - v->tables[s->metric]->step_us;
}

int64_t verdict_window_end(const struct lp_verdict *v, const struct lp_series *s, uint32_t window)
{
	return slot_end(v, s->metric, s->last[window]);
}

static void span_widen(struct verdict_span *span, int64_t start_us, int64_t end_us)
{
	bool empty = span->start_us == span->end_us;

	if (empty || start_us < span->start_us)
		span->start_us = start_us;
	if (empty || end_us > span->end_us)
		span->end_us = end_us;
}

static bool is_by_samples(const struct lp_series *s)
{
	return !strcmp(s->method ? s->method : "", "series");
}

/* Was everything compared sample by sample? */
static bool all_by_samples(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_series; i++) {
		if (v->series[i].n_windows && v->series[i].method && !is_by_samples(&v->series[i]))
			return false;
	}
	return true;
}

/* The time-series method has a window a sample, which are not counted beside the others'. */
static bool counts_windows(const struct lp_verdict *v, const struct lp_series *s)
{
	return !is_by_samples(s) || all_by_samples(v);
}

struct verdict_span verdict_span(const struct lp_verdict *v)
{
	struct verdict_span span = {0};

	for (uint32_t i = 0; i < v->n_series; i++) {
		const struct lp_series *s = &v->series[i];

		if (!s->n_windows)
			continue;
		span_widen(&span, verdict_window_start(v, s, 0),
			verdict_window_end(v, s, s->n_windows - 1));
		if (s->n_windows > span.n_windows && counts_windows(v, s))
			span.n_windows = s->n_windows;
	}
	for (uint32_t i = 0; !span.n_windows && i < v->n_tables; i++) {
		if (v->tables[i]->n_slots)
			span_widen(&span, slot_end(v, i, 0) - v->tables[i]->step_us,
				slot_end(v, i, v->tables[i]->n_slots - 1));
	}
	return span;
}

bool verdict_is_still(const struct lp_verdict *v, const struct lp_incident *in)
{
	struct verdict_span span = verdict_span(v);
	int64_t shift_us = (int64_t)v->params.win_shift * v->params.step_us;

	return !in->ended && span.n_windows && in->last_us >= span.end_us - shift_us;
}

int64_t verdict_lasted_us(const struct lp_verdict *v, const struct lp_incident *in)
{
	int64_t end_us = in->last_us;

	/* The last whole window ends before the data does. */
	for (uint32_t i = 0; verdict_is_still(v, in) && i < v->n_tables; i++) {
		int64_t last_us = v->tables[i]->n_slots ? slot_end(v, i, v->tables[i]->n_slots - 1)
							: in->last_us;

		end_us = last_us > end_us ? last_us : end_us;
	}
	return span_between(in->first_us, end_us);
}

const struct lp_suspect *verdict_suspect_of(const struct lp_verdict *v, uint32_t component)
{
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		if (v->suspects[i].component == component)
			return &v->suspects[i];
	}
	for (uint32_t i = 0; i < v->n_absent; i++) {
		if (v->absent[i].component == component)
			return &v->absent[i];
	}
	return NULL;
}

bool verdict_incident_acknowledged(const struct lp_verdict *v, const struct lp_incident *in)
{
	bool any = false;

	for (uint32_t i = 0; i < in->n_components; i++) {
		const struct lp_suspect *s = verdict_suspect_of(v, in->components[i]);

		if (s && !s->acknowledged)
			return false;
		any = any || s;
	}
	return any;
}

uint32_t verdict_n_limping(const struct lp_verdict *v)
{
	uint32_t n = 0;

	while (n < v->n_incidents && v->incidents[n].level == LP_LEVEL_SUSPECT)
		n++;
	return n;
}

bool verdict_is_well(const struct lp_verdict *v)
{
	return v->status == LP_STATUS_OK && !v->n_muted;
}

const char *verdict_status_name(enum lp_status status)
{
	static const char *const names[] = {
		[LP_STATUS_OK] = "ok",
		[LP_STATUS_SUSPECTS] = "suspects",
		[LP_STATUS_UNKNOWN] = "unknown",
		[LP_STATUS_ABSENT] = "absent",
		[LP_STATUS_WARNINGS] = "warnings",
	};

	return names[status];
}

const char *verdict_level_name(enum lp_level level)
{
	static const char *const names[] = {
		[LP_LEVEL_SUSPECT] = "suspect",
		[LP_LEVEL_WARNING] = "warning",
		[LP_LEVEL_ABSENT] = "absent",
	};

	return names[level];
}

const char *verdict_gone_name(enum lp_gone gone)
{
	static const char *const names[] = {
		[LP_GONE_NOTHING] = NULL,
		[LP_GONE_WORK] = "work",
		[LP_GONE_DATA] = "data",
		[LP_GONE_OBSERVER] = "observer",
	};

	return names[gone];
}

const char *verdict_mark_name(enum lp_mark mark)
{
	static const char *const names[] = {
		[LP_MARK_NONE] = "none",
		[LP_MARK_NORMAL] = "normal",
		[LP_MARK_ABOVE] = "above",
		[LP_MARK_BELOW] = "below",
		[LP_MARK_ABSENT] = "absent",
	};

	return (unsigned)mark < ARRAY_SIZE(names) ? names[mark] : names[0];
}

const char *verdict_cause_words(const char *cause)
{
	static const char *const words[][2] = {
		{"disk-busy", "slow disk"},
		{"disk-hog", "flooded disk"},
		{"network-hog", "flooded network"},
		{"packet-loss", "packet loss"},
		{"slow-link", "slow link"},
		{"bad-link", "bad link"},
		{"disk-errors", "disk errors"},
		{"cpu-hog", "too little CPU"},
		{"server-hung", "hung server"},
		{"server-down", "server down"},
		{"lost-path", "lost path"},
		{"propagated-error", "hands errors on"},
		{"crash", "crashed"},
		{"resource-exhausted", "out of resources"},
		{"rogue-process", "rogue program"},
		{"behaviour", "behaves differently"},
		{"imbalanced", "imbalanced, works harder"},
		{"less-idle", "less idle"},
		{"faster", "faster"},
		{"less-loaded", "less loaded"},
	};

	for (size_t i = 0; cause && i < ARRAY_SIZE(words); i++) {
		if (!strcmp(cause, words[i][0]))
			return words[i][1];
	}
	return cause ? cause : "unknown";
}

struct kind_count {
	const char *kind;
	uint32_t n;
};

/* Kinds with their numbers; `n` is KINDS_MAX + 1 if there are too many. */
struct kind_counts {
	struct kind_count items[KINDS_MAX];
	size_t n;
	uint32_t total;
};

static void count_kind(struct kind_counts *counts, const char *kind)
{
	size_t k = 0;

	counts->total++;
	while (k < counts->n && k < KINDS_MAX && strcmp(counts->items[k].kind, kind) != 0)
		k++;
	if (k == KINDS_MAX) {
		counts->n = KINDS_MAX + 1;
		return;
	}
	if (k == counts->n)
		counts->items[counts->n++] = (struct kind_count){kind, 0};
	counts->items[k].n++;
}

static void add_kind(struct strbuf *sb, const struct kind_count *k)
{
	const char *words = kind_find(k->kind)->words;

	strbuf_printf(sb, "%" PRIu32 " %s%s%s", k->n, words ? words : k->kind,
		words ? "" : " component", k->n == 1 ? "" : "s");
}

static void add_kinds(struct strbuf *sb, const struct kind_counts *counts)
{
	if (counts->n == 0 || counts->n > KINDS_MAX) {
		strbuf_printf(sb, "%" PRIu32 " components", counts->total);
		return;
	}
	for (size_t i = 0; i < counts->n; i++) {
		if (i)
			strbuf_puts(sb, i + 1 == counts->n ? " and " : ", ");
		add_kind(sb, &counts->items[i]);
	}
}

static uint32_t count_refused(const struct lp_verdict *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_groups; i++)
		n += v->groups[i].refused != NULL;
	return n;
}

static void add_groups(struct strbuf *sb, uint32_t n)
{
	strbuf_printf(sb, " in %" PRIu32 " group%s", n, n == 1 ? "" : "s");
}

void verdict_add_population(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t refused = count_refused(v);
	struct kind_counts counts = {0};

	for (uint32_t c = 0; c < v->n_components; c++)
		count_kind(&counts, v->components[c]->kind);
	add_kinds(sb, &counts);
	add_groups(sb, v->n_groups);
	if (refused)
		strbuf_printf(sb, " (%" PRIu32 " not compared)", refused);
}

/* The members of the groups that were compared, or of those that were not. */
static struct kind_counts count_members(const struct lp_verdict *v, bool compared)
{
	struct kind_counts counts = {0};

	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];

		for (uint32_t m = 0; !g->refused == compared && m < g->n_members; m++)
			count_kind(&counts, v->components[g->members[m]]->kind);
	}
	return counts;
}

/* Who was compared: "4 TCP peers in 1 group", where others have no peers. */
static void add_compared(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t refused = count_refused(v);
	struct kind_counts counts;

	if (!refused || refused == v->n_groups) {
		verdict_add_population(sb, v);
		return;
	}
	counts = count_members(v, true);
	add_kinds(sb, &counts);
	add_groups(sb, v->n_groups - refused);
}

/* " Not compared: 1 disk and 1 network interface, for want of peers." */
static void add_not_compared(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t refused = count_refused(v);
	struct kind_counts counts;

	if (!refused || refused == v->n_groups)
		return;
	counts = count_members(v, false);
	strbuf_puts(sb, " Not compared: ");
	add_kinds(sb, &counts);
	strbuf_puts(sb, ", for want of peers.");
}

/* Is a table only there to weigh another one with? */
static bool only_weighs(const struct lp_verdict *v, uint32_t table)
{
	if (v->tables[table]->beside)
		return true;
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (!(*m)->weight || strcmp((*m)->weight, v->tables[table]->metric) != 0)
			continue;
		for (uint32_t i = 0; i < v->n_tables; i++) {
			if (!strcmp(v->tables[i]->metric, (*m)->name))
				return true;
		}
	}
	return false;
}

/* "await and rd_sec", or how many they are. */
static void add_metrics(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t n = 0, told = 0;

	for (uint32_t i = 0; i < v->n_tables; i++)
		n += !only_weighs(v, i);
	if (n > METRICS_MAX || !n) {
		strbuf_printf(sb, "%" PRIu32 " metrics", n);
		return;
	}
	for (uint32_t i = 0; i < v->n_tables; i++) {
		if (only_weighs(v, i))
			continue;
		if (told)
			strbuf_puts(sb, told + 1 == n ? " and " : ", ");
		strbuf_puts(sb, v->tables[i]->metric);
		told++;
	}
}

static void add_traced(struct strbuf *sb, const struct lp_verdict *v)
{
	strbuf_printf(sb, "the system calls of %" PRIu32 " observer%s", v->n_traced,
		v->n_traced == 1 ? "" : "s");
}

void verdict_add_looked_at(struct strbuf *sb, const struct lp_verdict *v)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX], size[TIME_TEXT_MAX];
	struct verdict_span span = verdict_span(v);

	if (!v->n_tables) {
		if (v->n_traced)
			add_traced(sb, v);
		else
			strbuf_puts(sb, "nothing");
		return;
	}
	add_metrics(sb, v);
	strbuf_puts(sb, " of ");
	verdict_add_population(sb, v);
	if (span.n_windows && all_by_samples(v))
		strbuf_printf(sb, ", %" PRIu32 " sample%s", span.n_windows,
			span.n_windows == 1 ? "" : "s");
	else if (span.n_windows)
		strbuf_printf(sb, ", %" PRIu32 " window%s of %s", span.n_windows,
			span.n_windows == 1 ? "" : "s",
			span_format((int64_t)v->params.win_size * v->params.step_us, size));
	if (span.end_us > span.start_us)
		strbuf_printf(sb, " from %s to %s", time_format(span.start_us, from),
			time_format(span.end_us, to));
	if (v->n_traced) {
		strbuf_puts(sb, ", and at ");
		add_traced(sb, v);
	}
}

const char *verdict_thresholds(const struct lp_verdict *v)
{
	if (v->fixed)
		return v->trained ? "given by hand and by training" : "given by hand";
	return v->trained ? "from training" : "from the peers' own spread";
}

void verdict_add_method(struct strbuf *sb, const struct lp_verdict *v)
{
	strbuf_printf(sb, "method %s, thresholds %s", v->method ? v->method : "unknown",
		verdict_thresholds(v));
}

/* "1 muted suspect is out of step: fs3/disk:sdg." A muted suspect is one that the operator knows
 * of, not one that is in step. */
static void add_muted(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t told = v->n_muted <= MUTED_MAX + 1 ? v->n_muted : MUTED_MAX;

	strbuf_printf(sb, "%" PRIu32 " muted suspect%s out of step: ", v->n_muted,
		v->n_muted == 1 ? " is" : "s are");
	for (uint32_t i = 0; i < told; i++)
		strbuf_printf(sb, "%s%s", i ? ", " : "", v->components[v->muted[i]]->text);
	if (told < v->n_muted)
		strbuf_printf(sb, " and %" PRIu32 " more", v->n_muted - told);
	strbuf_putc(sb, '.');
}

/* "fs3/disk:sdg limps: slow disk. 2 more incidents, 1 acknowledged." */
static void add_suspicion(struct strbuf *sb, const struct lp_verdict *v)
{
	const struct lp_incident *worst = &v->incidents[0];
	uint32_t acknowledged = 0, n = verdict_n_limping(v);

	for (uint32_t i = 1; i < n; i++)
		acknowledged += verdict_incident_acknowledged(v, &v->incidents[i]);
	strbuf_printf(sb, "%s limps: %s%s.", worst->part, verdict_cause_words(worst->cause),
		verdict_incident_acknowledged(v, worst) ? " (acknowledged)" : "");
	if (n < 2)
		return;
	strbuf_printf(sb, " %" PRIu32 " more incident%s", n - 1, n == 2 ? "" : "s");
	if (acknowledged)
		strbuf_printf(sb, ", %" PRIu32 " acknowledged", acknowledged);
	strbuf_putc(sb, '.');
}

/* "Nobody limps, but fs3/disk:sdc is absent (lost path), and so are 2 more." */
static void add_absence(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t limping = verdict_n_limping(v), n = v->n_incidents - limping;
	const struct lp_incident *worst;

	if (!n)
		return;
	worst = &v->incidents[limping];
	strbuf_printf(sb, "%s%s is absent: %s%s", limping ? " Besides, " : "Nobody limps, but ",
		worst->part, verdict_cause_words(worst->cause),
		verdict_incident_acknowledged(v, worst) ? " (acknowledged)" : "");
	if (n > 1)
		strbuf_printf(sb, ", and so %s %" PRIu32 " more", n == 2 ? "is" : "are", n - 1);
	strbuf_putc(sb, '.');
}

/* "Warning: fs3/disk:sdg is slow, by little but certainly; and 2 more." */
static void add_warnings(struct strbuf *sb, const struct lp_verdict *v)
{
	strbuf_printf(sb, "Warning: %s is slow, by little but certainly",
		v->components[v->warnings[0].component]->text);
	if (v->n_warnings > 1)
		strbuf_printf(sb, ", and so %s %" PRIu32 " more", v->n_warnings == 2 ? "is" : "are",
			v->n_warnings - 1);
	strbuf_putc(sb, '.');
}

static void add_well_in_calls(struct strbuf *sb, const struct lp_verdict *v)
{
	strbuf_printf(sb,
		"All %swell in the system calls of %" PRIu32
		" observer%s: no error that a server handed on, no crash, no hang. Too "
		"little data to compare anybody with peers.",
		v->n_muted ? "else is " : "", v->n_traced, v->n_traced == 1 ? "" : "s");
}

static void add_well(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t n = verdict_span(v).n_windows;
	bool some = v->n_muted || v->n_warnings;

	if (v->n_traced && v->n_compared < v->params.k) {
		add_well_in_calls(sb, v);
		return;
	}
	if (v->n_unknown)
		strbuf_puts(sb, "What could be compared is well: ");
	else
		strbuf_puts(sb, some ? "All else is well: " : "All well: ");
	add_compared(sb, v);
	strbuf_printf(sb, ", %" PRIu32 " %s%s, nobody%s is out of step%s.", n,
		all_by_samples(v) ? "sample" : "window", n == 1 ? "" : "s", some ? " else" : "",
		v->n_asymmetries ? " for the worse" : "");
	add_not_compared(sb, v);
}

uint32_t verdict_n_reasons_told(const struct lp_verdict *v)
{
	return v->n_unknown <= UNKNOWN_MAX + 1 ? v->n_unknown : UNKNOWN_MAX;
}

/* "no data from oss3; not all could be read: ... and 3 more reasons." */
static void add_reasons(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t told = verdict_n_reasons_told(v);

	for (uint32_t i = 0; i < told; i++)
		strbuf_printf(sb, "%s%s", i ? "; " : "", v->unknown[i]);
	if (told < v->n_unknown)
		strbuf_printf(sb, " and %" PRIu32 " more reasons", v->n_unknown - told);
	strbuf_putc(sb, '.');
}

void verdict_add_headline(struct strbuf *sb, const struct lp_verdict *v)
{
	bool suspects = v->n_incidents > 0;

	if (verdict_n_limping(v))
		add_suspicion(sb, v);
	add_absence(sb, v);
	if (v->n_unknown) {
		strbuf_puts(sb, suspects ? " Not everything could be judged: " : "UNKNOWN: ");
		add_reasons(sb, v);
	}
	if (v->n_muted) {
		strbuf_puts(sb, suspects || v->n_unknown ? " " : "");
		add_muted(sb, v);
	}
	if (v->n_warnings) {
		strbuf_puts(sb, suspects || v->n_unknown || v->n_muted ? " " : "");
		add_warnings(sb, v);
	}
	if (suspects || (v->n_unknown && v->n_compared < v->params.k && !v->n_traced))
		return;
	strbuf_puts(sb, v->n_unknown || v->n_muted || v->n_warnings ? " " : "");
	add_well(sb, v);
}

static void add_onset(struct strbuf *sb, const struct lp_incident *in)
{
	char from[TIME_TEXT_MAX], error[TIME_TEXT_MAX];

	strbuf_printf(
		sb, "%s%s", in->since_before ? "before " : "", time_format(in->first_us, from));
	if (!in->since_before && in->onset_error_us > 0)
		strbuf_printf(sb, " (give or take %s)", span_format(in->onset_error_us, error));
}

void verdict_add_when(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in)
{
	bool still = verdict_is_still(v, in);
	char to[TIME_TEXT_MAX], span[TIME_TEXT_MAX];

	/* What logs tell of is not over with its last event. */
	strbuf_puts(sb, still ? "since " : in->ended ? "limped from " : "from ");
	add_onset(sb, in);
	if (still)
		strbuf_puts(sb, ", still at the end of the data");
	else
		strbuf_printf(sb, " to %s", time_format(in->last_us, to));
	strbuf_printf(sb, " (%s%s)", in->since_before ? "at least " : "",
		span_format(verdict_lasted_us(v, in), span));
}

void verdict_add_peers(struct strbuf *sb, const struct lp_verdict *v, uint32_t group)
{
	const struct lp_peer_group *g = &v->groups[group];
	uint32_t others = g->n_members ? g->n_members - 1 : 0;

	strbuf_printf(sb, "against %" PRIu32 " other%s of group %s", others, others == 1 ? "" : "s",
		g->name);
}
