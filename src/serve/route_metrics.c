/* GET /metrics, for Prometheus. */
#include "serve/alerts.h"
#include "serve/ingest.h"
#include "serve/route.h"
#ifdef HAVE_PUSH
#include "serve/push.h"
#endif

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include "report/number.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RATIOS_MAX 1000 /* components that are off; more would not help */

/* Write a label; its value may contain any bytes. */
static void put_label(FILE *out, const char *key, const char *value, const char *before)
{
	json_t *text = json_text(value);
	const char *p = json_string_value(text);

	fprintf(out, "%s%s=\"", before, key);
	for (; p && *p; p++) {
		if (*p == '\n')
			fputs("\\n", out);
		else if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else
			fputc(*p, out);
	}
	fputc('"', out);
	json_decref(text);
}

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_value(FILE *out, double value)
{
	char text[NUMBER_TEXT_MAX];

	fprintf(out, " %s\n", isfinite(value) ? number_format(value, text) : "NaN");
}

static void put_one(FILE *out, const char *name, const char *type, const char *help, double value)
{
	put_head(out, name, type, help);
	fputs(name, out);
	put_value(out, value);
}

/* Open incidents that are counted together: with the same cause and level, muted or not. */
struct tally {
	const char *cause, *level;
	bool muted;
	unsigned n;
};

static void incidents_put(FILE *out, struct serve *s)
{
	const struct incidents_query q = {.state = "open", .limit = 1000};
	struct tally tallies[128] = {0};
	json_t *all = NULL, *item;
	size_t i, n = 0;

	put_head(out, "limpet_incidents", "gauge", "Open incidents by cause and level.");
	if (incidents_list(live_incidents(s->live), &q, &all, NULL) < 0)
		return;
	json_array_foreach(json_object_get(all, "incidents"), i, item)
	{
		struct tally t = {.cause = json_string_value(json_object_get(item, "cause")),
			.level = json_string_value(json_object_get(item, "level")),
			.muted = incident_is_muted(item, live_now_us(s->live))};
		size_t k = 0;

		while (k < n &&
			(strcmp(tallies[k].cause, t.cause) != 0 ||
				strcmp(tallies[k].level, t.level) != 0 ||
				tallies[k].muted != t.muted))
			k++;
		if (k == n && n < 128)
			tallies[n++] = t;
		if (k < n)
			tallies[k].n++;
	}
	for (i = 0; i < n; i++) {
		fputs("limpet_incidents", out);
		put_label(out, "cause", tallies[i].cause, "{");
		put_label(out, "level", tallies[i].level, ",");
		put_label(out, "muted", tallies[i].muted ? "true" : "false", ",");
		fprintf(out, "} %u\n", tallies[i].n);
	}
	json_decref(all);
}

static void ratios_put(FILE *out, const struct snapshot *now)
{
	uint32_t n = 0;

	put_head(out, "limpet_component_ratio", "gauge",
		"How many times worse than its peers each suspect is.");
	for (uint32_t i = 0; i < now->n_components && n < RATIOS_MAX; i++) {
		const struct snapshot_component *c = &now->components[i];

		if (c->level == SNAPSHOT_OK || !isfinite(c->ratio))
			continue;
		fputs("limpet_component_ratio", out);
		put_label(out, "component", c->id->text, "{");
		put_label(out, "observer", c->id->observer, ",");
		put_label(out, "metric", c->metric < now->n_metrics ? now->metrics[c->metric] : "",
			",");
		put_label(out, "level", snapshot_level_name(c->level), ",");
		fputc('}', out);
		put_value(out, c->ratio);
		n++;
	}
}

static void servers_put(FILE *out, const struct snapshot *now, int64_t now_us)
{
	put_head(out, "limpet_observers", "gauge", "Servers by delivery state.");
	for (enum observer_state state = OBSERVER_OK; state <= OBSERVER_SILENT; state++)
		fprintf(out, "limpet_observers{state=\"%s\"} %u\n", observer_state_name(state),
			snapshot_count(now, state));
	put_head(out, "limpet_observer_lag_seconds", "gauge", "Age of a server's last sample.");
	for (uint32_t i = 0; i < now->n_servers; i++) {
		if (now->servers[i].last_us == INT64_MIN)
			continue;
		fputs("limpet_observer_lag_seconds", out);
		put_label(out, "observer", now->servers[i].name, "{");
		fputc('}', out);
		put_value(out, (double)(now_us - now->servers[i].last_us) / 1e6);
	}
	put_head(out, "limpet_observer_clock_skew_seconds", "gauge",
		"How far a server's clock is ahead of the clocks of most servers.");
	for (uint32_t i = 0; i < now->n_servers; i++) {
		if (now->servers[i].skew_us == INT64_MIN)
			continue;
		fputs("limpet_observer_clock_skew_seconds", out);
		put_label(out, "observer", now->servers[i].name, "{");
		fputc('}', out);
		put_value(out, (double)now->servers[i].skew_us / 1e6);
	}
}

static void http_put(FILE *out, struct serve *s)
{
	struct http_stats st;

	http_get_stats(s->http, &st);
	put_one(out, "limpet_http_requests_total", "counter", "Requests.", (double)st.requests);
	put_one(out, "limpet_http_connections", "gauge", "Clients that are connected.",
		st.connections);
	put_head(out, "limpet_http_refused_total", "counter", "Requests refused, by reason.");
	fprintf(out, "limpet_http_refused_total{reason=\"token\"} %" PRIu64 "\n", st.refused_token);
	fprintf(out, "limpet_http_refused_total{reason=\"forbidden\"} %" PRIu64 "\n",
		st.refused_forbidden);
	fprintf(out, "limpet_http_refused_total{reason=\"too-large\"} %" PRIu64 "\n",
		st.refused_too_large);
	fprintf(out, "limpet_http_refused_total{reason=\"busy\"} %" PRIu64 "\n", st.refused_busy);
	fprintf(out, "limpet_http_refused_total{reason=\"not-found\"} %" PRIu64 "\n",
		st.refused_not_found);
	fprintf(out, "limpet_http_refused_total{reason=\"slow\"} %" PRIu64 "\n", st.cut_slow);
}

static void ingest_put_metrics(FILE *out, struct serve *s)
{
	struct ingest_stats st;

	if (!s->ingest)
		return;
	ingest_get_stats(s->ingest, &st);
	put_one(out, "limpet_ingest_frames_total", "counter", "Frames received from servers.",
		(double)st.frames);
	put_one(out, "limpet_ingest_samples_total", "counter", "Samples received from servers.",
		(double)st.samples);
	put_one(out, "limpet_ingest_bytes_total", "counter", "Bytes received from servers.",
		(double)st.bytes);
	put_one(out, "limpet_ingest_disk_failing", "gauge",
		"1 while received data cannot be written.", st.disk_failing);
	put_head(out, "limpet_ingest_refused_total", "counter",
		"Requests of servers that were refused, by reason.");
	for (int kind = INGEST_FINE + 1; kind < INGEST_KINDS; kind++)
		fprintf(out, "limpet_ingest_refused_total{reason=\"%s\"} %" PRIu64 "\n",
			ingest_refusal_name(kind), st.refused[kind]);
}

static void alerts_put(FILE *out, struct serve *s)
{
	const char *name;
	uint64_t sent, failed;
	unsigned n;

	if (!s->alerts)
		return;
	put_head(out, "limpet_alerts_waiting", "gauge", "Alerts that wait to be delivered.");
	for (size_t i = 0; (name = alerts_waiting(s->alerts, i, &n, &sent, &failed)); i++) {
		fputs("limpet_alerts_waiting", out);
		put_label(out, "target", name, "{");
		fprintf(out, "} %u\n", n);
	}
	put_head(out, "limpet_alerts_total", "counter", "Attempts to deliver alerts.");
	for (size_t i = 0; (name = alerts_waiting(s->alerts, i, &n, &sent, &failed)); i++) {
		fputs("limpet_alerts_total", out);
		put_label(out, "target", name, "{");
		fprintf(out, ",result=\"delivered\"} %" PRIu64 "\nlimpet_alerts_total", sent);
		put_label(out, "target", name, "{");
		fprintf(out, ",result=\"failed\"} %" PRIu64 "\n", failed);
	}
}

/* The resident memory of this process: the second number of /proc/self/statm. */
static double resident_bytes(void)
{
	char text[128] = "";
	FILE *f = fopen("/proc/self/statm", "re");
	char *end = text;

	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	strtoul(text, &end, 10);
	return (double)strtoul(end, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

/* Counters of data sent by remote write. */
static void push_put(FILE *out, const struct serve *s)
{
#ifdef HAVE_PUSH
	const struct push_stats stats = s->push ? push_stats(s->push) : (struct push_stats){0};
	const struct {
		const char *name;
		uint64_t n;
	} results[] = {
		{"sent", stats.sent}, {"refused", stats.refused}, {"expired", stats.expired}};

	if (!s->push)
		return;
	put_head(out, "limpet_remote_write_samples_total", "counter",
		"Samples that were sent, that the receiver refused, and that were too old to "
		"send.");
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		put_label(out, "result", results[i].name, "limpet_remote_write_samples_total{");
		fputc('}', out);
		put_value(out, (double)results[i].n);
	}
	put_one(out, "limpet_remote_write_retries_total", "counter",
		"Requests that were tried again.", (double)stats.retries);
	put_one(out, "limpet_remote_write_waiting", "gauge",
		"1 while the receiver accepts nothing.", stats.waiting);
	put_one(out, "limpet_remote_write_newest_seconds", "gauge",
		"The time of the last sample that was sent, since 1970.",
		(double)stats.newest_us / 1e6);
#else
	(void)out;
	(void)s;
#endif
}

static void process_put(FILE *out)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	put_one(out, "process_cpu_seconds_total", "counter", "CPU time of the collector.",
		(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
	put_one(out, "process_resident_memory_bytes", "gauge", "Memory of the collector.",
		resident_bytes());
}

static void metrics_write(FILE *out, void *ctx)
{
	struct serve *s = ctx;
	struct snapshot *now = live_snapshot(s->live);
	int64_t now_us = live_now_us(s->live);
	char trouble[504];

	put_head(out, "limpet_info", "gauge", "The version of limpet.");
	fputs("limpet_info{version=\"" LIMPET_VERSION "\"} 1\n", out);
	incidents_put(out, s);
	put_one(out, "limpet_suspects", "gauge", "Components that limp, in the last verdict.",
		now->n_suspects);
	put_one(out, "limpet_warnings", "gauge", "Components that are a little slow.",
		now->n_warnings);
	put_one(out, "limpet_absent", "gauge", "Components without data or work.", now->n_absent);
	put_one(out, "limpet_components", "gauge", "Components that are compared.",
		now->n_components);
	ratios_put(out, now);
	servers_put(out, now, now_us);
	if (now->watermark_us > INT64_MIN) {
		put_one(out, "limpet_watermark_seconds", "gauge",
			"The time up to which data was judged, since 1970.",
			(double)now->watermark_us / 1e6);
		put_one(out, "limpet_data_age_seconds", "gauge", "How old that is.",
			(double)(now_us - now->watermark_us) / 1e6);
	}
	put_one(out, "limpet_verdict_cpu_seconds", "gauge", "CPU time of the last verdict.",
		now->verdict_s);
	put_one(out, "limpet_samples_late_total", "counter",
		"Samples that arrived too late and were ignored.", (double)now->n_late);
	put_one(out, "limpet_trouble", "gauge", "1 if the engine or the store has failed.",
		*live_trouble(s->live, trouble, sizeof(trouble)) != '\0');
	alerts_put(out, s);
	http_put(out, s);
	ingest_put_metrics(out, s);
	push_put(out, s);
	process_put(out);
	snapshot_unref(now);
}

static void get_metrics(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	(void)rq;
	a->type = "text/plain; version=0.0.4; charset=utf-8";
	route_text(a, metrics_write, ctx);
}

const struct http_route routes_metrics[] = {
	{"GET", "/metrics", HTTP_OPERATOR, .handle = get_metrics},
	{NULL},
};
