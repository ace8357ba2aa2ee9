#include "report/verdict_facts.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/past.h"
#include "model/identity.h"
#include "model/quantity.h"
#include "report/incident.h"
#include <ctype.h>
#include <inttypes.h>
#include <limpet/metric.h>
#include <string.h>

#define KINDS_MAX 6   /* listed individually; if there are more, all are "components" */
#define METRICS_MAX 8 /* named; if there are more, they are counted */
#define MUTED_MAX 4   /* the same */
#define UNKNOWN_MAX 4 /* the same for reasons why something could not be judged */

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

/* Were all series compared by sample? */
static bool all_by_samples(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_series; i++) {
		if (v->series[i].n_windows && v->series[i].method && !is_by_samples(&v->series[i]))
			return false;
	}
	return true;
}

/* The time-series method has one window per sample; these are not counted with the others. */
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
		{"propagated-error", "passes errors on"},
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

/* Kinds and their numbers; `n` is KINDS_MAX + 1 if there are too many. */
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

/* Is it a component, and not the past of one? */
static bool is_now(const struct lp_verdict *v, uint32_t component)
{
	return !v->past || !past_is_row(v->components[component]);
}

bool verdict_group_is_function(const struct lp_verdict *v, const struct lp_peer_group *g)
{
	return g->n_members && !strcmp(v->components[g->members[0]]->kind, "function");
}

/* Count the members of the groups that were compared and decided, or of those that were not
 * compared. Functions are compared all together. */
static struct kind_counts count_members(const struct lp_verdict *v, bool compared)
{
	struct kind_counts counts = {0};

	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];

		if (compared ? g->undecided : verdict_group_is_function(v, g))
			continue;
		for (uint32_t m = 0; !g->refused == compared && m < g->n_members; m++) {
			if (is_now(v, g->members[m]))
				count_kind(&counts, v->components[g->members[m]]->kind);
		}
	}
	return counts;
}

/* Add the components that were compared: "4 TCP peers", if others have no peers. */
static void add_compared(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t refused = count_refused(v);
	struct kind_counts counts;

	counts = count_members(v, !refused || refused < v->n_groups);
	add_kinds(sb, &counts);
}

/* Is there no group that is known to be well? */
static bool all_undecided(const struct lp_verdict *v)
{
	bool any = false;

	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (!v->groups[i].refused && !v->groups[i].undecided)
			return false;
		any |= v->groups[i].undecided;
	}
	return any;
}

void verdict_add_not_compared(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t refused = count_refused(v);
	struct kind_counts counts;

	if (!refused || refused == v->n_groups)
		return;
	counts = count_members(v, false);
	if (!counts.total)
		return;
	strbuf_puts(sb, "not checked, because there are too few to compare: ");
	add_kinds(sb, &counts);
}

/* Does a table only serve as a weight for another one? */
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

/* "await and rd_sec", or their number. */
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
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX], size[QUANTITY_TEXT_MAX];
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
			quantity_format_span(
				(int64_t)v->params.win_size * v->params.step_us, size));
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

/* An observer with its own storage or CPU counts as a server. */
static bool is_server(const struct lp_verdict *v, const char *observer)
{
	for (uint32_t c = 0; c < v->n_components; c++) {
		const struct lp_identity *id = v->components[c];

		if (!strcmp(id->observer, observer) &&
			(kind_find(id->kind)->resource == RESOURCE_STORAGE ||
				kind_find(id->kind)->resource == RESOURCE_HOST))
			return true;
	}
	return false;
}

static void add_counted(struct strbuf *sb, uint32_t n, const char *what)
{
	strbuf_printf(sb, "%" PRIu32 " %s%s", n, what, n == 1 ? "" : "s");
}

/* There are many components of few observers: count the observers by name. */
static void count_observers(const struct lp_verdict *v, uint32_t *ret_servers, uint32_t *ret_others)
{
	struct strmap seen = {0};
	uint32_t before;

	*ret_servers = *ret_others = 0;
	for (uint32_t c = 0; c < v->n_components; c++) {
		const char *observer = v->components[c]->observer;

		if (!is_now(v, c) || strmap_get(&seen, observer, &before) ||
			strmap_put(&seen, observer, c) < 0)
			continue;
		*(is_server(v, observer) ? ret_servers : ret_others) += 1;
	}
	strmap_release(&seen);
}

void verdict_add_checked(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t servers, others, n = 0;

	count_observers(v, &servers, &others);
	if (!v->n_components) {
		if (v->n_traced)
			add_traced(sb, v);
		else
			strbuf_puts(sb, "nothing");
		return;
	}
	if (v->n_expected && v->n_missing <= v->n_expected)
		strbuf_printf(sb, "%" PRIu32 " of %" PRIu32 " hosts", v->n_expected - v->n_missing,
			v->n_expected);
	else if (servers)
		add_counted(sb, servers, "server");
	if (others && servers && !v->n_expected)
		strbuf_puts(sb, " and ");
	if (others && !v->n_expected)
		add_counted(sb, others, servers ? "client" : "host");
	for (uint32_t c = 0; c < v->n_components; c++)
		n += is_now(v, c);
	strbuf_puts(sb, ", ");
	add_counted(sb, n, "component");
	if (v->past)
		strbuf_printf(sb, " compared with %s own past", n == 1 ? "its" : "their");
}

/* "fs2: disk sdd is slow, 4.1x its peers. 2 more incidents, 1 acknowledged." */
static void add_incidents(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t acknowledged = 0, n = v->n_incidents;

	for (uint32_t i = 1; i < n; i++)
		acknowledged += verdict_incident_acknowledged(v, &v->incidents[i]);
	incident_add_what(sb, v, &v->incidents[0]);
	strbuf_puts(
		sb, verdict_incident_acknowledged(v, &v->incidents[0]) ? " (acknowledged)." : ".");
	if (n < 2)
		return;
	strbuf_putc(sb, ' ');
	add_counted(sb, n - 1, "more incident");
	if (acknowledged)
		strbuf_printf(sb, ", %" PRIu32 " acknowledged", acknowledged);
	strbuf_putc(sb, '.');
}

uint32_t verdict_n_judged(const struct lp_verdict *v)
{
	return v->n_compared >= v->params.k ? v->n_compared : v->n_traced;
}

void verdict_add_well(struct strbuf *sb, const struct lp_verdict *v)
{
	bool some = v->n_muted || v->n_warnings;

	if (all_undecided(v) && !v->n_traced)
		return;
	if (v->n_traced && v->n_compared < v->params.k) {
		strbuf_printf(sb,
			"all %sis well in the system calls of %" PRIu32
			" observer%s: no error passed on to a client, no crash, no hang; there is "
			"too little data to compare components with their peers",
			some ? "else " : "", v->n_traced, v->n_traced == 1 ? "" : "s");
		return;
	}
	if (v->past) {
		strbuf_puts(sb, some ? "nothing else" : "nothing");
		strbuf_puts(sb,
			" has become slow, failed or disappeared, compared with before, among ");
		add_compared(sb, v);
		return;
	}
	strbuf_puts(sb,
		v->n_unknown   ? "everything that could be compared is well: "
			: some ? "all else is well: "
			       : "all is well: ");
	strbuf_printf(sb, "nothing%s is slow, failing or missing among ", some ? " else" : "");
	add_compared(sb, v);
}

/* "no data from oss3; not all could be read: ... and 3 more reasons." */
static void add_reasons(struct strbuf *sb, const struct lp_verdict *v)
{
	uint32_t n = v->n_unknown <= UNKNOWN_MAX + 1 ? v->n_unknown : UNKNOWN_MAX;

	for (uint32_t i = 0; i < n; i++)
		strbuf_printf(sb, "%s%s", i ? "; " : "", v->unknown[i]);
	if (n < v->n_unknown)
		strbuf_printf(sb, " and %" PRIu32 " more reasons", v->n_unknown - n);
	strbuf_putc(sb, '.');
}

static void add_warned(struct strbuf *sb, const struct lp_verdict *v)
{
	strbuf_puts(sb, "Warning: ");
	incident_add_warning(sb, v, &v->warnings[0]);
	strbuf_putc(sb, '.');
	if (v->n_warnings < 2)
		return;
	strbuf_putc(sb, ' ');
	add_counted(sb, v->n_warnings - 1, "more warning");
	strbuf_putc(sb, '.');
}

/* The same as a sentence at the beginning of a paragraph. */
static void add_well_sentence(struct strbuf *sb, const struct lp_verdict *v)
{
	size_t at = sb->len;

	verdict_add_well(sb, v);
	if (sb->len == at)
		return;
	strbuf_putc(sb, '.');
	if (!sb->failed)
		sb->text[at] = (char)toupper((unsigned char)sb->text[at]);
}

void verdict_add_muted(struct strbuf *sb, const struct lp_verdict *v, uint32_t max)
{
	uint32_t n = v->n_muted <= max + 1 ? v->n_muted : max;

	strbuf_puts(sb, "Muted, and still out of step: ");
	for (uint32_t i = 0; i < n; i++)
		strbuf_printf(sb, "%s%s", i ? ", " : "", v->components[v->muted[i]]->text);
	if (n < v->n_muted)
		strbuf_printf(sb, " and %" PRIu32 " more", v->n_muted - n);
	strbuf_putc(sb, '.');
}

static void separate(struct strbuf *sb)
{
	if (sb->len)
		strbuf_putc(sb, ' ');
}

void verdict_add_headline(struct strbuf *sb, const struct lp_verdict *v)
{
	if (v->n_incidents)
		add_incidents(sb, v);
	if (v->n_unknown) {
		strbuf_puts(sb, v->n_incidents ? " Not everything could be judged: " : "UNKNOWN: ");
		add_reasons(sb, v);
	}
	if (v->n_muted) {
		separate(sb);
		verdict_add_muted(sb, v, MUTED_MAX);
	}
	if (v->n_warnings) {
		separate(sb);
		add_warned(sb, v);
	}
	if (v->n_incidents || (v->n_unknown && !verdict_n_judged(v)))
		return;
	separate(sb);
	add_well_sentence(sb, v);
}

static void add_onset(struct strbuf *sb, const struct lp_incident *in)
{
	char from[TIME_TEXT_MAX], error[QUANTITY_TEXT_MAX];

	strbuf_printf(
		sb, "%s%s", in->since_before ? "before " : "", time_format(in->first_us, from));
	if (!in->since_before && in->onset_error_us > 0)
		strbuf_printf(
			sb, " (give or take %s)", quantity_format_span(in->onset_error_us, error));
}

void verdict_add_when(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in)
{
	bool still = verdict_is_still(v, in);
	char to[TIME_TEXT_MAX], span[QUANTITY_TEXT_MAX];

	/* Trouble found in logs does not end with its last event. */
	strbuf_puts(sb, still ? "since " : in->ended ? "limped from " : "from ");
	add_onset(sb, in);
	if (still)
		strbuf_puts(sb, ", still at the end of the data");
	else
		strbuf_printf(sb, " to %s", time_format(in->last_us, to));
	strbuf_printf(sb, " (%s%s)", in->since_before ? "at least " : "",
		quantity_format_span(verdict_lasted_us(v, in), span));
}

void verdict_add_peers(struct strbuf *sb, const struct lp_verdict *v, uint32_t group)
{
	const struct lp_peer_group *g = &v->groups[group];
	uint32_t others = g->n_members ? g->n_members - 1 : 0;

	strbuf_printf(sb, "against %" PRIu32 " other%s of group %s", others, others == 1 ? "" : "s",
		g->name);
}
