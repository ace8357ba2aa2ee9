#include "explain/surroundings.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/dataset.h"
#include "model/identity.h"
#include <errno.h>
#include <limpet/metric.h>
#include <stdlib.h>
#include <string.h>

/* Nobody reads more remarks than this; further ones are left out. */
#define ITEMS_MAX 10000
#define JOBS_MAX 100000
#define JOB_SLICE_US (600 * US_PER_SEC)
/* Remarks that are at least this far apart are separate. */
#define SAME_US (120 * US_PER_SEC)
/* A job that does less than this share of the work is not mentioned. */
#define JOB_SHARE_LEAST 0.5
#define CONTEXT_MAX 4

/* The condition for a remark about a row. */
enum when {
	WHEN_BELOW, /* the column is below the other one */
	WHEN_ABOVE, /* the column is above the other one */
	WHEN_IS,    /* the column has the value */
	WHEN_MORE,  /* the column is above the value */
	WHEN_GROWS, /* the column is a counter that grew since the previous sample */
};

/* The format of its numbers. */
enum unit { UNIT_PLAIN, UNIT_THOUSAND };

/* The order is that in which a rule is read. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct rule {
	const char *kind, *column;
	enum when when;
	const char *other;
	int64_t value;
	enum unit unit;
	const char *before, *between, *after; /* the text, with both numbers; NULL: no number */
};

static const struct rule rules[] = {
	{"drive", "pcie_lanes", WHEN_BELOW, "pcie_max_lanes", 0, UNIT_PLAIN,
		"link down-trained to x", " (of x", ")"},
	{"drive", "pcie_mts", WHEN_BELOW, "pcie_max_mts", 0, UNIT_THOUSAND, "link down-trained to ",
		" GT/s (of ", ")"},
	{"drive", "sata_mbps", WHEN_BELOW, "sata_max_mbps", 0, UNIT_THOUSAND,
		"link down-trained to ", " Gb/s (of ", ")"},
	{"drive", "running", WHEN_IS, NULL, 0, UNIT_PLAIN, "the kernel took it offline", NULL,
		NULL},
	{"drive", "errors", WHEN_GROWS, NULL, 0, UNIT_PLAIN, "requests to it fail", NULL, NULL},
	{"drive", "timeouts", WHEN_GROWS, NULL, 0, UNIT_PLAIN, "requests to it time out", NULL,
		NULL},
	{"raid", "action", WHEN_IS, NULL, 1, UNIT_PLAIN, "resynchronising", NULL, NULL},
	{"raid", "action", WHEN_IS, NULL, 2, UNIT_PLAIN, "rebuilding", NULL, NULL},
	{"raid", "action", WHEN_IS, NULL, 3, UNIT_PLAIN, "being checked", NULL, NULL},
	{"raid", "action", WHEN_IS, NULL, 4, UNIT_PLAIN, "being repaired", NULL, NULL},
	{"raid", "action", WHEN_IS, NULL, 5, UNIT_PLAIN, "being reshaped", NULL, NULL},
	{"raid", "degraded", WHEN_MORE, NULL, 0, UNIT_PLAIN, "degraded, disks missing: ", NULL,
		NULL},
	{"raid", "works", WHEN_IS, NULL, 0, UNIT_PLAIN, "not working", NULL, NULL},
	{"path", "running", WHEN_IS, NULL, 0, UNIT_PLAIN, "path lost", NULL, NULL},
	{"zpool", "online", WHEN_IS, NULL, 0, UNIT_PLAIN, "pool not online", NULL, NULL},
	{"sensor", "milli_c", WHEN_ABOVE, "max_milli_c", 0, UNIT_THOUSAND,
		"too hot: ", " C (limit ", " C)"},
	{"sensor", "alarm", WHEN_IS, NULL, 1, UNIT_PLAIN, "temperature alarm", NULL, NULL},
	{"smart", "throttles", WHEN_GROWS, NULL, 0, UNIT_PLAIN, "slowed down because of its heat",
		NULL, NULL},
	{"smart", "warnings", WHEN_MORE, NULL, 0, UNIT_PLAIN,
		"critical warning of the drive: ", NULL, NULL},
	{"smart", "media_errors", WHEN_GROWS, NULL, 0, UNIT_PLAIN, "new errors of its medium", NULL,
		NULL},
	{"smart", "percent_used", WHEN_MORE, NULL, 99, UNIT_PLAIN, "worn out, percent used: ", NULL,
		NULL},
	{"ib", "width", WHEN_IS, NULL, 1, UNIT_PLAIN, "link at one lane", NULL, NULL},
	{"ib", "active", WHEN_IS, NULL, 0, UNIT_PLAIN, "port not active", NULL, NULL},
	{"link", "speed_mbps", WHEN_BELOW, "max_mbps", 0, UNIT_PLAIN, "link at ", " Mb/s (of ",
		")"},
	{"lnet", "up", WHEN_IS, NULL, 0, UNIT_PLAIN, "LNet interface down", NULL, NULL},
	{"ost", "recovering", WHEN_IS, NULL, 1, UNIT_PLAIN, "in recovery", NULL, NULL},
	{"mdt", "recovering", WHEN_IS, NULL, 1, UNIT_PLAIN, "in recovery", NULL, NULL},
	{"osd", "recoveries", WHEN_GROWS, NULL, 0, UNIT_PLAIN, "recovering objects", NULL, NULL},
};

#define JOB_KIND "job"

void surroundings_release(struct surroundings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].observer);
		free(s->items[i].kind);
		free(s->items[i].name);
		free(s->items[i].members);
		free(s->items[i].text);
	}
	free(s->items);
	for (size_t i = 0; i < s->n_jobs; i++) {
		free(s->jobs[i].observer);
		free(s->jobs[i].name);
	}
	free(s->jobs);
	*s = (struct surroundings){0};
}

static void add_number(struct strbuf *sb, enum unit unit, int64_t value)
{
	if (unit == UNIT_THOUSAND)
		strbuf_printf(sb, "%g", (double)value / 1000);
	else
		strbuf_printf(sb, "%lld", (long long)value);
}

static char *rule_text(const struct rule *r, int64_t value, int64_t other)
{
	struct strbuf sb = {0};

	strbuf_puts(&sb, r->before);
	if (r->between || r->when == WHEN_MORE)
		add_number(&sb, r->unit, value);
	if (r->between) {
		strbuf_puts(&sb, r->between);
		add_number(&sb, r->unit, other);
		strbuf_puts(&sb, r->after);
	}
	return strbuf_take(&sb);
}

static bool same_component(const struct surrounding *i, const struct lp_component *c)
{
	return !strcmp(i->name, c->name) && !strcmp(i->observer, c->observer);
}

/* The last remark of a rule about a component, or NULL. */
static struct surrounding *find_item(
	struct surroundings *s, const struct lp_component *c, uint32_t rule)
{
	for (size_t i = s->n; i-- > 0;) {
		if (s->items[i].rule == rule && same_component(&s->items[i], c))
			return &s->items[i];
	}
	return NULL;
}

static int add_item(struct surroundings *s, const struct lp_component *c, uint32_t rule,
	int64_t value, int64_t other, int64_t wall_us)
{
	struct surrounding *last = find_item(s, c, rule), *it;
	char members[512] = "";

	if (last && wall_us - last->last_us <= SAME_US) {
		last->last_us = wall_us > last->last_us ? wall_us : last->last_us;
		return 0;
	}
	if (s->n >= ITEMS_MAX)
		return 0;
	if (array_reserve(&s->items, &s->cap, s->n + 1, sizeof(*s->items)) < 0)
		return -ENOMEM;
	lp_component_label(c, "members", members, sizeof(members));
	it = &s->items[s->n];
	*it = (struct surrounding){.observer = strdup(c->observer),
		.kind = strdup(rules[rule].kind),
		.name = strdup(c->name),
		.members = strdup(members),
		.text = rule_text(&rules[rule], value, other),
		.rule = rule,
		.first_us = wall_us,
		.last_us = wall_us};
	s->n++;
	return it->observer && it->kind && it->name && it->members && it->text ? 0 : -ENOMEM;
}

/* Cells of one component. */
struct cells {
	const struct lp_batch *batch;
	const struct lp_batch_kind *kind;
	const struct lp_schema *schema;
	const struct lp_component *component;
	uint32_t row;
};

static bool is_present(const struct cells *c, uint32_t sample)
{
	return c->kind->state[(size_t)c->row * c->batch->cap_samples + sample] & LP_PRESENT;
}

/* A value, or LP_MISSING. A column that was not read is also missing. */
static int64_t cell(const struct cells *c, int column, uint32_t sample)
{
	const int64_t *values = column < 0 ? NULL : c->kind->columns[column];

	return values && is_present(c, sample)
		? values[(size_t)c->row * c->batch->cap_samples + sample]
		: LP_MISSING;
}

static bool rule_holds(const struct rule *r, int64_t value, int64_t other, int64_t before)
{
	if (value == LP_MISSING)
		return false;
	switch (r->when) {
	case WHEN_BELOW:
		return other != LP_MISSING && value < other;
	case WHEN_ABOVE:
		return other != LP_MISSING && value > other;
	case WHEN_IS:
		return value == r->value;
	case WHEN_MORE:
		return value > r->value;
	case WHEN_GROWS:
		return before != LP_MISSING && value > before;
	}
	return false;
}

static int apply_rule(struct surroundings *s, const struct cells *c, uint32_t rule)
{
	const struct rule *r = &rules[rule];
	int column = lp_schema_column(c->schema, r->column), got = 0;
	int other = r->other ? lp_schema_column(c->schema, r->other) : -1;
	uint32_t first = c->batch->carry ? 1 : 0;

	for (uint32_t i = first; column >= 0 && got == 0 && i < c->batch->n_samples; i++) {
		int64_t value = cell(c, column, i), limit = cell(c, other, i);
		int64_t before = i ? cell(c, column, i - 1) : LP_MISSING;

		if (rule_holds(r, value, limit, before))
			got = add_item(s, c->component, rule, value, limit, c->batch->wall_us[i]);
	}
	return got;
}

static int add_job(
	struct surroundings *s, const struct lp_component *c, int64_t slice, double bytes)
{
	for (size_t i = s->n_jobs; i-- > 0;) {
		struct surrounding_job *j = &s->jobs[i];

		if (j->slice == slice && !strcmp(j->name, c->name) &&
			!strcmp(j->observer, c->observer)) {
			j->bytes += bytes;
			return 0;
		}
	}
	if (s->n_jobs >= JOBS_MAX)
		return 0;
	if (array_reserve(&s->jobs, &s->cap_jobs, s->n_jobs + 1, sizeof(*s->jobs)) < 0)
		return -ENOMEM;
	s->jobs[s->n_jobs] = (struct surrounding_job){.observer = strdup(c->observer),
		.name = strdup(c->name),
		.slice = slice,
		.bytes = bytes};
	s->n_jobs++;
	return s->jobs[s->n_jobs - 1].observer && s->jobs[s->n_jobs - 1].name ? 0 : -ENOMEM;
}

/* The reads and writes of a job from one sample to the next. */
static int apply_job(struct surroundings *s, const struct cells *c)
{
	const int columns[] = {
		lp_schema_column(c->schema, "rd_bytes"), lp_schema_column(c->schema, "wr_bytes")};
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < c->batch->n_samples; i++) {
		double bytes = 0;

		for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
			int64_t growth;

			if (lp_counter_growth(cell(c, columns[k], i - 1), cell(c, columns[k], i),
				    64, &growth))
				bytes += (double)growth;
		}
		if (bytes > 0)
			r = add_job(s, c->component, c->batch->wall_us[i] / JOB_SLICE_US, bytes);
	}
	return r;
}

static int take_row(struct surroundings *s, const struct cells *c)
{
	int r = strcmp(c->schema->kind, JOB_KIND) != 0 ? 0 : apply_job(s, c);

	for (uint32_t i = 0; r == 0 && i < ARRAY_SIZE(rules); i++) {
		if (!strcmp(rules[i].kind, c->schema->kind))
			r = apply_rule(s, c, i);
	}
	return r;
}

static bool is_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (!strcmp(rules[i].kind, kind))
			return true;
	}
	return !strcmp(kind, JOB_KIND);
}

int surroundings_batch(
	struct surroundings *s, const struct lp_catalogue *c, const struct lp_batch *b)
{
	int r = 0;

	for (uint32_t k = 0; r == 0 && k < b->n_kinds; k++) {
		struct cells cells = {.batch = b,
			.kind = &b->kinds[k],
			.schema = &c->schemas[b->kinds[k].schema]};

		if (!is_kind(cells.schema->kind))
			continue;
		for (cells.row = 0; r == 0 && cells.row < cells.kind->n_components; cells.row++) {
			cells.component = &c->components[cells.kind->ids[cells.row]];
			r = take_row(s, &cells);
		}
	}
	return r;
}

static bool want_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	return is_kind(c->schemas[c->components[id].schema].kind);
}

/* Frames without such components are not read. */
static int on_archive(void *ctx, struct lp_source *source, struct lp_err *err)
{
	struct lp_batch *batch;
	int r;

	while ((r = lp_source_next(source, &batch, err)) > 0) {
		r = surroundings_batch(ctx, source->catalogue, batch);
		if (r < 0)
			return lp_err_sys(err, r, "cannot read the surroundings of the suspects");
	}
	return r;
}

int surroundings_read(struct surroundings *s, struct lp_dataset *ds, struct lp_err *err)
{
	struct lp_select select = {.component = want_component};
	struct lp_err here = {0};
	int r = dataset_archives(ds, &select, NULL, on_archive, s, &here);

	if (r != -ENOMEM)
		return 0;
	*err = here;
	return r;
}

/* Is `name` in a list that is separated by commas? A controller ("nvme0") stands for its
 * namespaces ("nvme0n1"). */
static bool is_member(const char *members, const char *name)
{
	while (*members) {
		size_t len = strcspn(members, ",");

		if (len && !strncmp(members, name, len) &&
			(!name[len] || (!strncmp(name, "nvme", 4) && name[len] == 'n')))
			return true;
		members += len + (members[len] == ',');
	}
	return false;
}

/* Is a remark about the component, or about something that it depends on? */
static bool concerns(const struct surrounding *i, const struct lp_identity *c)
{
	enum resource mine = kind_find(c->kind)->resource, its = kind_find(i->kind)->resource;
	bool target = mine == RESOURCE_STORAGE && strcmp(c->kind, "disk") != 0;

	if (!strcmp(i->name, c->name) && !strcmp(i->kind, "ost") && !strcmp(c->kind, "osc"))
		return true; /* it concerns every client */
	if (strcmp(i->observer, c->observer) != 0)
		return false;
	if (!strcmp(i->name, c->name) || is_member(i->name, c->name) ||
		is_member(i->members, c->name))
		return mine == its || its == RESOURCE_HOST;
	/* A target of a file system uses disks of its server, but it is unknown which ones. */
	if (target && strcmp(c->kind, "osc") != 0)
		return its == RESOURCE_STORAGE && strcmp(i->kind, c->kind) != 0;
	return mine == its && mine != RESOURCE_STORAGE;
}

static int add_context(struct lp_suspect *s, struct strbuf *sb)
{
	char *text = strbuf_take(sb);
	size_t cap = s->n_context;

	for (uint32_t i = 0; text && i < s->n_context; i++) {
		if (!strcmp(s->context[i], text)) {
			free(text);
			return 0;
		}
	}
	if (!text || array_reserve(&s->context, &cap, s->n_context + 1, sizeof(char *)) < 0) {
		free(text);
		return -ENOMEM;
	}
	s->context[s->n_context++] = text;
	return 0;
}

/* "link down-trained to x1 (of x4)" for the component itself, "raid md0: rebuilding" for others. */
static int tell_item(const struct surrounding *i, const struct lp_identity *c, struct lp_suspect *s)
{
	struct strbuf sb = {0};

	if (strcmp(i->name, c->name) != 0)
		strbuf_printf(&sb, "%s %s: ", i->kind, i->name);
	strbuf_puts(&sb, i->text);
	return add_context(s, &sb);
}

/* The work of each job on a server in a time range. */
struct job_sums {
	struct strmap index;
	double *bytes;
	size_t n, cap;
	const char *most;
	double best, all;
};

static int job_sums_add(struct job_sums *j, const struct surrounding_job *job)
{
	uint32_t at;

	if (!strmap_get(&j->index, job->name, &at)) {
		at = (uint32_t)j->n;
		if (array_reserve(&j->bytes, &j->cap, j->n + 1, sizeof(*j->bytes)) < 0 ||
			strmap_put(&j->index, job->name, at) < 0)
			return -ENOMEM;
		j->bytes[j->n++] = 0;
	}
	if (at >= j->n || !j->bytes)
		return -ENOMEM; /* cannot happen: every job in the index has its place */
	j->bytes[at] += job->bytes;
	j->all += job->bytes;
	if (j->bytes[at] > j->best) {
		j->best = j->bytes[at];
		j->most = job->name;
	}
	return 0;
}

/* Name the job that did the most on the suspect's server during the trouble. */
static int tell_job(
	const struct surroundings *s, const struct lp_identity *c, struct lp_suspect *suspect)
{
	struct job_sums sums = {0};
	struct strbuf sb = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_jobs; i++) {
		const struct surrounding_job *j = &s->jobs[i];

		if (j->slice >= suspect->first_us / JOB_SLICE_US &&
			j->slice <= suspect->last_us / JOB_SLICE_US &&
			!strcmp(j->observer, c->observer))
			r = job_sums_add(&sums, j);
	}
	if (r == 0 && sums.most && sums.best >= JOB_SHARE_LEAST * sums.all) {
		strbuf_printf(&sb, "job %s does %.0f%% of the reading and writing on its server",
			sums.most, 100 * sums.best / sums.all);
		r = add_context(suspect, &sb);
	}
	strmap_release(&sums.index);
	free(sums.bytes);
	return r;
}

static int tell_suspect(
	const struct surroundings *s, const struct lp_verdict *v, struct lp_suspect *suspect)
{
	const struct lp_identity *c = v->components[suspect->component];
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n && suspect->n_context < CONTEXT_MAX; i++) {
		const struct surrounding *it = &s->items[i];

		if (it->first_us - SAME_US <= suspect->last_us &&
			it->last_us + SAME_US >= suspect->first_us && concerns(it, c))
			r = tell_item(it, c, suspect);
	}
	if (r == 0 && s->n_jobs && kind_find(c->kind)->resource == RESOURCE_STORAGE)
		r = tell_job(s, c, suspect);
	return r;
}

/* Remarks about a suspect are also evidence. */
static int add_evidence(struct lp_suspect *s)
{
	size_t cap = s->n_evidence;

	if (!s->n_context)
		return 0;
	if (array_reserve(&s->evidence, &cap, s->n_evidence + s->n_context, sizeof(char *)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_context; i++) {
		char *text = strdup(s->context[i]);

		if (!text)
			return -ENOMEM;
		s->evidence[s->n_evidence++] = text;
	}
	return 0;
}

static int tell_list(const struct surroundings *s, const struct lp_verdict *v,
	struct lp_suspect *suspects, uint32_t n)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		r = tell_suspect(s, v, &suspects[i]);
		if (r == 0)
			r = add_evidence(&suspects[i]);
	}
	return r;
}

/* An incident gets the remarks about the component that it began with. */
static int tell_incident(struct lp_incident *incident, const struct lp_suspect *lead)
{
	struct strbuf sb = {0};
	char *summary;

	if (!lead->n_context || !incident->summary)
		return 0;
	strbuf_printf(&sb, "%s; %s", incident->summary, lead->context[0]);
	summary = strbuf_take(&sb);
	if (!summary)
		return -ENOMEM;
	free(incident->summary);
	incident->summary = summary;
	return 0;
}

int surroundings_tell(const struct surroundings *s, struct lp_verdict *v)
{
	int r = tell_list(s, v, v->suspects, v->n_suspects);

	if (r == 0)
		r = tell_list(s, v, v->warnings, v->n_warnings);
	if (r == 0)
		r = tell_list(s, v, v->absent, v->n_absent);
	for (uint32_t i = 0; r == 0 && i < v->n_incidents; i++) {
		for (uint32_t k = 0; r == 0 && k < v->n_suspects; k++) {
			if (v->incidents[i].n_components &&
				v->suspects[k].component == v->incidents[i].components[0])
				r = tell_incident(&v->incidents[i], &v->suspects[k]);
		}
	}
	return r;
}
