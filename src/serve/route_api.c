/* The API for operators: incidents, servers, components, and statements of operators (docs/api.md).
 */
#include "serve/ingest.h"
#include "serve/route.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX 16384
#define COMPONENTS_DEFAULT 200
#define COMPONENTS_MAX 100000

void route_json(struct http_answer *a, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(root);
	if (!text) {
		http_fail(a, 503, "there is no memory for that");
		return;
	}
	strbuf_puts(&a->body, text);
	strbuf_putc(&a->body, '\n');
	free(text);
}

void route_error(struct http_answer *a, int r, const struct lp_err *err)
{
	unsigned status = r == -EINVAL						? 400
		: r == -ENOENT							? 404
		: r == -ENOMEM || r == -ENOSPC || r == -EAGAIN || r == -ENODATA ? 503
										: 500;

	http_fail(a, status, "%s", err->text);
}

bool route_number(const struct http_request *rq, struct http_answer *a, const char *key,
	uint64_t max, uint64_t *ret)
{
	const char *text = http_query(rq, key);
	char *end;
	unsigned long long value;

	if (!text || !*text)
		return true;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end || errno || text[0] == '-' || value > max) {
		http_fail(a, 400, "%s must be a number up to %" PRIu64 ", not '%.64s'", key, max,
			text);
		return false;
	}
	*ret = value;
	return true;
}

bool route_time(const struct http_request *rq, struct http_answer *a, const char *key, int64_t *ret)
{
	const char *text = http_query(rq, key);
	struct lp_err err = {0};

	if (!text || !*text)
		return true;
	if (time_parse(text, ret, &err) == 0)
		return true;
	http_fail(a, 400, "%s: %s", key, err.text);
	return false;
}

void route_text(struct http_answer *a, void (*write)(FILE *out, void *ctx), void *ctx)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out)
		write(out, ctx);
	if (!out || fclose(out) != 0)
		http_fail(a, 503, "there is no memory for that");
	else
		strbuf_add(&a->body, text, size);
}

static json_t *time_or_null(int64_t us)
{
	char text[TIME_TEXT_MAX];

	return us > INT64_MIN && us ? json_string(time_format(us, text)) : json_null();
}

static const char *status_name(const struct snapshot *s, const struct incidents_count *n)
{
	if (n->critical)
		return "critical";
	if (n->warning)
		return "warning";
	return s->status == LP_STATUS_UNKNOWN || !s->verdict ? "unknown" : "ok";
}

/* What keeps the collector from its work; null: nothing. */
static json_t *trouble_json(const struct serve *serve)
{
	char trouble[504];

	if (serve_disk_fails(serve))
		return json_text(
			"the collector cannot write to its disk: it judges what it can keep in "
			"memory, but stores neither samples nor incidents; servers keep their "
			"samples and send them when it can");
	return *live_trouble(serve->live, trouble, sizeof(trouble)) ? json_text(trouble)
								    : json_null();
}

static json_t *notes_json(struct live *l, const struct snapshot *s)
{
	char span[TIME_TEXT_MAX], text[160];
	json_t *notes = json_array();
	int64_t ahead = live_ahead_us(l);

	if (ahead) {
		snprintf(text, sizeof(text),
			"the clocks of most servers are %s ahead of this machine's",
			span_format(ahead / US_PER_SEC * US_PER_SEC, span));
		json_array_append_new(notes, json_text(text));
	}
	if (!s->verdict)
		json_array_append_new(notes, json_text("there is no verdict yet"));
	if (s->n_filled_in) {
		snprintf(text, sizeof(text),
			"samples of %" PRIu32 " server%s came too late to be judged live in the "
			"last ten minutes; they are kept",
			s->n_filled_in, s->n_filled_in == 1 ? "" : "s");
		json_array_append_new(notes, json_text(text));
	}
	for (uint32_t i = 0; i < s->n_notes; i++)
		json_array_append_new(notes, json_text(s->notes[i]));
	return notes;
}

json_t *route_status(struct serve *serve)
{
	struct live *l = serve->live;
	struct snapshot *s = live_snapshot(l);
	int64_t now = live_now_us(l), now_s = now / US_PER_SEC * US_PER_SEC;
	struct incidents_count n;
	json_t *o;

	incidents_count(live_incidents(l), now, &n);
	o = json_pack("{s:s, s:o, s:o, s:o, s:s, s:i, s:i, s:{s:i, s:i, s:i, s:i}, s:b, s:o, "
		      "s:o}",
		"limpet", LIMPET_VERSION, "now", time_or_null(now_s), "watermark",
		time_or_null(s->watermark_us), "data_age_s",
		s->watermark_us > INT64_MIN
			? json_real(fmax(0, round((double)(now - s->watermark_us) / 1e5) / 10))
			: json_null(),
		"status", status_name(s, &n), "critical", (int)n.critical, "warning",
		(int)n.warning, "observers", "reporting",
		(int)(snapshot_count(s, OBSERVER_OK) + snapshot_count(s, OBSERVER_LATE)),
		"expected", (int)s->n_servers, "late", (int)snapshot_count(s, OBSERVER_LATE),
		"silent", (int)snapshot_count(s, OBSERVER_SILENT), "replay",
		serve->config.replay != NULL, "trouble", trouble_json(serve), "notes",
		notes_json(l, s));
	snapshot_unref(s);
	return o;
}

static void get_status(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	json_t *status = route_status(ctx);

	if (status)
		json_object_set_new(status, "operator",
			strcmp(rq->who, SERVE_LOCAL) ? json_text(rq->who) : json_null());
	route_json(a, status);
}

static void get_incidents(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct incidents_query q = {.state = http_query(rq, "state"), .text = http_query(rq, "q")};
	uint64_t limit = 0, before = 0;
	struct lp_err err = {0};
	json_t *list = NULL;
	int r;

	if (!route_number(rq, a, "limit", 1000, &limit) ||
		!route_number(rq, a, "before", INT64_MAX, &before) ||
		!route_time(rq, a, "since", &q.since_us) ||
		!route_time(rq, a, "until", &q.until_us))
		return;
	q.limit = (unsigned)limit;
	q.before = (int64_t)before;
	r = incidents_list(live_incidents(s->live), &q, &list, &err);
	if (r < 0)
		route_error(a, r, &err);
	else
		route_json(a, list);
}

/* Parse "7/ack": the number, and the part after it. */
static bool id_take(
	const struct http_request *rq, struct http_answer *a, int64_t *ret, const char **verb)
{
	char *end;

	errno = 0;
	*ret = strtoll(rq->rest, &end, 10);
	if (end == rq->rest || errno || *ret <= 0 || (*end && *end != '/')) {
		http_fail(a, 404, "'%.64s' is not the number of an incident", rq->rest);
		return false;
	}
	*verb = *end ? end + 1 : "";
	return true;
}

static void get_incident(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct lp_err err = {0};
	json_t *incident = NULL;
	const char *verb;
	int64_t id;
	int r;

	if (!id_take(rq, a, &id, &verb))
		return;
	if (*verb) {
		http_fail(a, 404, "there is nothing at %.200s", rq->path);
		return;
	}
	r = incidents_get(live_incidents(s->live), id, &incident, &err);
	if (r < 0)
		route_error(a, r, &err);
	else
		route_json(a, incident);
}

/* When a mute ends: "for" a duration or "until" a time. */
static bool until_take(const json_t *body, int64_t now_us, int64_t *ret, struct http_answer *a)
{
	const char *span = json_string_value(json_object_get(body, "for"));
	const char *until = json_string_value(json_object_get(body, "until"));
	struct lp_err err = {0};
	int64_t us = 0;
	int r = span ? span_parse(span, &us, &err) : until ? time_parse(until, &us, &err) : 0;

	if (r < 0) {
		http_fail(a, 400, "%s", err.text);
		return false;
	}
	if (!span && !until) {
		http_fail(a, 400, "a mute needs \"for\" (\"2h\") or \"until\" (a time)");
		return false;
	}
	*ret = span ? now_us + us : us;
	return true;
}

static void say(
	struct serve *s, int64_t id, const struct incident_word *word, struct http_answer *a)
{
	struct lp_err err = {0};
	json_t *incident = NULL;
	int r = incidents_say(
		live_incidents(s->live), id, word, live_now_us(s->live), &incident, &err);

	if (r < 0)
		route_error(a, r, &err);
	else
		route_json(a, incident);
}

/* The name of a client comes from its token; on this machine people state their names. */
static const char *by_of(const struct http_request *rq, const json_t *body)
{
	const char *by = json_string_value(json_object_get(body, "by"));

	return by && *by && !strcmp(rq->who, SERVE_LOCAL) ? by : rq->who;
}

static void post_incident(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	json_t *body = rq->body_size ? json_loadb(rq->body, rq->body_size, 0, NULL) : json_object();
	struct incident_word word = {.by = by_of(rq, body)};
	const char *verb;
	int64_t id;

	word.text = json_string_value(json_object_get(body, "comment"));
	if (!id_take(rq, a, &id, &verb)) {
		;
	} else if (!json_is_object(body)) {
		http_fail(a, 400, "the body is not a JSON object");
	} else if (!strcmp(verb, "ack")) {
		word.verb = INCIDENT_ACK;
		say(s, id, &word, a);
	} else if (!strcmp(verb, "comment")) {
		word.verb = INCIDENT_COMMENT;
		word.text = json_string_value(json_object_get(body, "text"));
		say(s, id, &word, a);
	} else if (!strcmp(verb, "mute")) {
		word.verb = INCIDENT_MUTE;
		if (until_take(body, live_now_us(s->live), &word.until_us, a))
			say(s, id, &word, a);
	} else {
		http_fail(a, 404, "an incident accepts ack, mute or comment, not '%.64s'", verb);
	}
	json_decref(body);
}

static void delete_incident(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct incident_word word = {.by = rq->who};
	const char *verb;
	int64_t id;

	if (!id_take(rq, a, &id, &verb))
		return;
	if (strcmp(verb, "ack") != 0 && strcmp(verb, "mute") != 0) {
		http_fail(a, 404, "only ack and mute of an incident can be undone");
		return;
	}
	word.verb = !strcmp(verb, "ack") ? INCIDENT_UNACK : INCIDENT_UNMUTE;
	say(ctx, id, &word, a);
}

static void write_fleet(FILE *out, void *ctx)
{
	snapshot_write_fleet(out, ctx);
}

static void get_fleet(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct snapshot *now = live_snapshot(s->live);

	(void)rq;
	route_text(a, write_fleet, now);
	snapshot_unref(now);
}

struct components_ask {
	struct snapshot *now;
	struct snapshot_query q;
};

static void write_components(FILE *out, void *ctx)
{
	const struct components_ask *ask = ctx;

	snapshot_write_components(out, ask->now, &ask->q);
}

static const char *query_text(const struct http_request *rq, const char *key)
{
	const char *text = http_query(rq, key);

	return text && *text ? text : NULL;
}

static void get_components(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct components_ask ask = {.q = {.observer = query_text(rq, "observer"),
					     .group = query_text(rq, "group"),
					     .text = query_text(rq, "q")}};
	uint64_t limit = COMPONENTS_DEFAULT;

	if (!route_number(rq, a, "limit", COMPONENTS_MAX, &limit))
		return;
	ask.q.limit = (uint32_t)limit;
	ask.now = live_snapshot(s->live);
	route_text(a, write_components, &ask);
	snapshot_unref(ask.now);
}

struct hosts_ask {
	struct snapshot *now;
	int64_t now_us;
	struct ingest_host *hosts; /* received data, by name; NULL: none */
	size_t n_hosts;
};

static void write_hosts(FILE *out, void *ctx)
{
	const struct hosts_ask *ask = ctx;

	snapshot_write_hosts(out, ask->now, ask->now_us, ask->hosts, ask->n_hosts);
}

static void get_hosts(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct hosts_ask ask = {.now = live_snapshot(s->live), .now_us = live_now_us(s->live)};

	(void)rq;
	if (s->ingest && ingest_hosts(s->ingest, &ask.hosts, &ask.n_hosts) < 0)
		ask.n_hosts = 0;
	route_text(a, write_hosts, &ask);
	snapshot_unref(ask.now);
	free(ask.hosts);
}

const struct http_route routes_api[] = {
	{"GET", "/api/v1/status", HTTP_OPERATOR, .handle = get_status},
	{"GET", "/api/v1/incidents", HTTP_OPERATOR, .handle = get_incidents},
	{"GET", "/api/v1/incidents/", HTTP_OPERATOR, .handle = get_incident},
	{"POST", "/api/v1/incidents/", HTTP_OPERATOR, .body_max = BODY_MAX,
		.handle = post_incident},
	{"DELETE", "/api/v1/incidents/", HTTP_OPERATOR, .handle = delete_incident},
	{"GET", "/api/v1/fleet", HTTP_OPERATOR, .handle = get_fleet},
	{"GET", "/api/v1/components", HTTP_OPERATOR, .handle = get_components},
	{"GET", "/api/v1/hosts", HTTP_OPERATOR, .handle = get_hosts},
	{NULL},
};
