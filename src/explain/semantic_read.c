#include "explain/semantic_read.h"

#include "archive/trace_log.h"
#include "base/time.h"
#include "import/dataset.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256

struct semantic_reading {
	struct traces *t;
	int64_t from_us, to_us;
	uint32_t host; /* of the archive that is being read */
	bool any;
};

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot read the logs of system calls");
}

static bool is_kind(const struct lp_schema *s, const char *kind)
{
	return !strcmp(s->kind, kind);
}

static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct lp_schema *s = &c->schemas[c->components[id].schema];

	(void)ctx;
	return is_kind(s, "sys") || is_kind(s, "peer") || is_kind(s, "errno");
}

static bool column_wanted(void *ctx, const struct lp_schema *s, uint32_t column)
{
	static const char *const names[] = {
		"requests", "responses", "waiting_us", "nsread_n", "calls", "n", NULL};

	(void)ctx;
	for (const char *const *n = names; *n; n++) {
		if (!strcmp(s->columns[column].name, *n))
			return true;
	}
	return false;
}

static int64_t cell(const struct lp_batch *b, const struct lp_batch_kind *k, int column,
	uint32_t component, uint32_t sample)
{
	int64_t value = LP_MISSING;

	if (column >= 0 && k->columns[column])
		value = k->columns[column][(size_t)component * b->cap_samples + sample];
	return value == LP_MISSING ? 0 : value;
}

static bool is_present(const struct lp_batch *b, const struct lp_batch_kind *k, uint32_t component,
	uint32_t sample)
{
	return k->state[(size_t)component * b->cap_samples + sample] & LP_PRESENT;
}

static int read_peers(struct semantic_reading *r, const struct lp_catalogue *c,
	const struct lp_batch *b, const struct lp_batch_kind *k)
{
	const struct lp_schema *s = &c->schemas[k->schema];
	int requests = lp_schema_column(s, "requests"), waiting = lp_schema_column(s, "waiting_us");
	int responses = lp_schema_column(s, "responses"), got = 0;

	for (uint32_t i = 0; i < k->n_components; i++) {
		const struct lp_component *component = &c->components[k->ids[i]];
		uint32_t host, peer;

		if (traces_host(r->t, component->observer, &host) < 0 ||
			traces_peer(r->t, host, component->name, &peer) < 0)
			return -ENOMEM;
		for (uint32_t n = b->carry; got == 0 && n < b->n_samples; n++) {
			if (is_present(b, k, i, n))
				got = traces_add_sample(r->t, peer, b->wall_us[n],
					cell(b, k, requests, i, n), cell(b, k, responses, i, n),
					cell(b, k, waiting, i, n));
		}
	}
	return got;
}

static int read_programs(struct semantic_reading *r, const struct lp_catalogue *c,
	const struct lp_batch *b, const struct lp_batch_kind *k)
{
	const struct lp_schema *s = &c->schemas[k->schema];
	int served = lp_schema_column(s, "nsread_n"), calls = lp_schema_column(s, "calls");

	for (uint32_t i = 0; i < k->n_components; i++) {
		const struct lp_component *component = &c->components[k->ids[i]];
		uint32_t host, number;
		struct traced_program *p;

		if (traces_host(r->t, component->observer, &host) < 0 ||
			traces_program(r->t, host, component->name, &number) < 0)
			return -ENOMEM;
		p = &r->t->programs[number];
		for (uint32_t n = 0; n < b->n_samples; n++) {
			if (!is_present(b, k, i, n))
				continue;
			p->serves = p->serves || cell(b, k, served, i, n) > 0;
			if (n && is_present(b, k, i, n - 1) &&
				cell(b, k, calls, i, n) > cell(b, k, calls, i, n - 1))
				p->active_us = b->wall_us[n];
		}
	}
	return 0;
}

static int read_tallies(struct semantic_reading *r, const struct lp_catalogue *c,
	const struct lp_batch *b, const struct lp_batch_kind *k)
{
	int column = lp_schema_column(&c->schemas[k->schema], "n"), got = 0;

	for (uint32_t i = 0; i < k->n_components; i++) {
		const struct lp_component *component = &c->components[k->ids[i]];
		uint32_t host;

		if (traces_host(r->t, component->observer, &host) < 0)
			return -ENOMEM;
		for (uint32_t n = b->carry; got == 0 && n < b->n_samples; n++) {
			if (is_present(b, k, i, n))
				got = traces_add_tally(r->t, host, component->name, b->wall_us[n],
					cell(b, k, column, i, n));
		}
	}
	return got;
}

/* "glusterfsd.812:storage-read" is of process 812. */
static int read_process(struct semantic_reading *r, const struct lp_component *component)
{
	char comm[NAME_BYTES], *colon, *dot, *end;
	uint32_t host, program;
	bool talks;
	long pid;

	snprintf(comm, sizeof(comm), "%.*s", NAME_BYTES - 1, component->name);
	colon = strrchr(comm, ':');
	if (!colon)
		return 0;
	talks = !strncmp(colon + 1, "tcp-", 4);
	*colon = '\0';
	dot = strrchr(comm, '.');
	if (!dot)
		return 0;
	*dot = '\0';
	pid = strtol(dot + 1, &end, 10);
	if (*end || pid <= 0 || pid > INT32_MAX)
		return 0;
	if (traces_host(r->t, component->observer, &host) < 0 ||
		traces_program(r->t, host, comm, &program) < 0)
		return -ENOMEM;
	r->t->programs[program].talks = r->t->programs[program].talks || talks;
	return traces_name_process(r->t, host, (int32_t)pid, comm);
}

/* The host of an archive, and how long it was recorded. */
static int read_host(struct semantic_reading *r, const struct lp_source *source)
{
	const char *observer = lp_archive_meta_get(source, "observer");
	struct traced_host *h;

	if (traces_host(r->t, observer && *observer ? observer : "?", &r->host) < 0)
		return -ENOMEM;
	h = &r->t->hosts[r->host];
	if (source->first_us && (!h->first_us || source->first_us < h->first_us))
		h->first_us = source->first_us;
	if (source->last_us > h->last_us)
		h->last_us = source->last_us;
	return 0;
}

static int read_catalogue(struct semantic_reading *r, const struct lp_catalogue *c)
{
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < c->n_components; i++) {
		if (is_kind(&c->schemas[c->components[i].schema], "call"))
			got = read_process(r, &c->components[i]);
	}
	return got;
}

static bool has_peers(const struct lp_catalogue *c)
{
	for (uint32_t i = 0; i < c->n_schemas; i++) {
		if (is_kind(&c->schemas[i], "sys") || is_kind(&c->schemas[i], "peer"))
			return true;
	}
	return false;
}

/* Names and samples of one archive. What is damaged in them is told when tables are read. */
static int read_rows(void *ctx, struct lp_source *source, struct lp_err *err)
{
	const struct lp_catalogue *c = source->catalogue;
	struct semantic_reading *r = ctx;
	struct lp_batch *b;
	int got = read_host(r, source);

	r->any = r->any || trace_log_present(source);
	if (got == 0)
		got = read_catalogue(r, c);
	while (got == 0 && has_peers(c) && lp_source_next(source, &b, NULL) == 1) {
		for (uint32_t i = 0; got == 0 && i < b->n_kinds; i++) {
			const struct lp_batch_kind *k = &b->kinds[i];

			if (is_kind(&c->schemas[k->schema], "peer"))
				got = read_peers(r, c, b, k);
			else if (is_kind(&c->schemas[k->schema], "sys"))
				got = read_programs(r, c, b, k);
			else if (is_kind(&c->schemas[k->schema], "errno"))
				got = read_tallies(r, c, b, k);
		}
	}
	return got < 0 ? no_memory(err) : 0;
}

static int take_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct semantic_reading *r = ctx;
	int64_t end_us = (e->start_ns + e->dur_ns) / 1000;

	(void)record;
	if (end_us < r->from_us || (r->to_us && e->start_ns / 1000 >= r->to_us))
		return 0;
	return traces_add_event(r->t, r->host, e);
}

static int take_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct semantic_reading *r = ctx;

	(void)record;
	return traces_add_descriptor(r->t, r->host, d);
}

/* Read the logs of an archive that has some. */
static int read_archive(struct semantic_reading *r, struct lp_source *source,
	const struct trace_log_reader *to, struct lp_err *err)
{
	int got;

	if (!trace_log_present(source))
		return 0;
	if (read_host(r, source) < 0)
		return no_memory(err);
	r->t->hosts[r->host].traced = true;
	got = trace_log_read(source, to, err);
	return got == -ENOMEM ? no_memory(err) : got;
}

static int read_events(void *ctx, struct lp_source *source, struct lp_err *err)
{
	return read_archive(
		ctx, source, &(struct trace_log_reader){.event = take_event, .ctx = ctx}, err);
}

static int read_descriptors(void *ctx, struct lp_source *source, struct lp_err *err)
{
	return read_archive(ctx, source,
		&(struct trace_log_reader){.descriptor = take_descriptor, .ctx = ctx}, err);
}

static int end_silences(struct traces *t)
{
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < t->n_peers; i++)
		got = traces_end_silence(t, i);
	return got;
}

/* Events, then descriptors: which of these matter is known only when all events are in. */
static int read_logs(
	struct lp_dataset *ds, struct semantic_reading *r, struct lp_warn *warn, struct lp_err *err)
{
	struct lp_select times = {.from_us = r->from_us, .to_us = r->to_us};
	struct lp_err here = {0};
	int damage = dataset_archives(ds, &times, warn, read_events, r, err), got;

	if (damage < 0 && damage != -EBADMSG)
		return damage;
	if (traces_want_names(r->t) < 0)
		return no_memory(err);
	times.from_us = 0; /* what was opened before is still behind its descriptor */
	got = dataset_archives(ds, &times, damage ? NULL : warn, read_descriptors, r, &here);
	if (got == 0 || (got == -EBADMSG && damage))
		return damage;
	*err = here;
	return got;
}

int semantic_read(struct lp_dataset *ds, const struct hosts *hosts, int64_t from_us, int64_t to_us,
	struct lp_warn *warn, struct traces *t, bool *ret_any, struct lp_err *err)
{
	struct semantic_reading r = {.t = t, .from_us = from_us, .to_us = to_us};
	struct lp_select rows = {.from_us = from_us,
		.to_us = to_us,
		.component = component_wanted,
		.column = column_wanted};
	int got = dataset_archives(ds, &rows, NULL, read_rows, &r, err);

	if (got == 0 && (end_silences(t) < 0 || traces_know_servers(t, hosts) < 0))
		got = no_memory(err);
	*ret_any = r.any;
	if (got < 0 || !r.any)
		return got;
	got = read_logs(ds, &r, warn, err);
	if ((got == 0 || got == -EBADMSG) && traces_know_missing(t, hosts) < 0)
		got = no_memory(err);
	traces_guess_servers(t);
	return got;
}
