/* Receives data from servers, and lists what the collector has. */
#include "serve/ingest_request.h"
#include "serve/serve.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "/api/v1/ingest/"

/* May the sender write under this name? This is checked before the body is read. */
static bool target_check(struct serve *s, const struct http_request *rq, struct ingest_target *t,
	struct http_answer *a)
{
	if (!ingest_target_parse(rq->rest, t)) {
		ingest_count(s->ingest, NULL, INGEST_BAD_REQUEST);
		http_fail(a, 400, "'%.100s' is not OBSERVER/FILE", rq->rest);
		return false;
	}
	if (rq->who[0] && strcmp(rq->who, t->observer) != 0) {
		ingest_count(s->ingest, rq->who, INGEST_WRONG_NAME);
		http_fail(a, 403,
			"this is the token or certificate of '%s', which cannot write as "
			"'%s'",
			rq->who, t->observer);
		return false;
	}
	return true;
}

static void before_body(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct ingest_target t;

	target_check(ctx, rq, &t, a);
}

static unsigned status_of(enum ingest_refusal no)
{
	switch (no) {
	case INGEST_FINE:
		return 200;
	case INGEST_WRONG_NAME:
		return 403;
	case INGEST_REPLAY:
	case INGEST_GAP:
	case INGEST_OTHER_FILE:
		return 409;
	case INGEST_TOO_LARGE:
	case INGEST_BOMB:
		return 413;
	case INGEST_BUSY:
		return 503;
	case INGEST_DISK:
		return 507;
	default:
		return 400;
	}
}

static void put(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct ingest_target t;
	struct ingest_put put = {.body = rq->body, .size = rq->body_size};
	struct ingest_place place = {0};
	struct lp_err err = {0};
	enum ingest_refusal no;

	if (!target_check(s, rq, &t, a))
		return;
	if (!t.file || !ingest_numbers_parse(http_query(rq, "from"), http_query(rq, "sum"), &put)) {
		ingest_count(s->ingest, t.observer, INGEST_BAD_REQUEST);
		http_fail(a, 400, "it should be " PREFIX "OBSERVER/FILE?from=FRAMES&sum=HEX");
		return;
	}
	put.observer = t.observer;
	put.file = t.file;
	put.last = http_query(rq, "last") != NULL;
	no = ingest_put(s->ingest, &put, &place, &err);
	if (no != INGEST_FINE) {
		http_fail(a, status_of(no), "%s: %s", ingest_refusal_name(no), err.text);
		a->retry_after = no == INGEST_BUSY || no == INGEST_DISK ? 5 : 0;
		return;
	}
	strbuf_printf(&a->body, "{\"frames\":%" PRIu64 ",\"sum\":\"%08" PRIx32 "\"}",
		place.n_frames, place.sum);
}

static void list(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct ingest_target t;
	struct lp_err err = {0};

	if (!target_check(s, rq, &t, a))
		return;
	if (t.file)
		http_fail(a, 404, "there is nothing here");
	else if (ingest_list(s->ingest, t.observer, &a->body, &err) < 0)
		http_fail(a, 503, "%s", err.text);
}

/* Received data, and refusals by reason, since the start. */
static json_t *totals_json(const struct ingest_stats *in, const struct http_stats *http)
{
	json_t *refused = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "token",
		(json_int_t)http->refused_token, "forbidden", (json_int_t)http->refused_forbidden,
		"body-too-large", (json_int_t)http->refused_too_large, "overload",
		(json_int_t)http->refused_busy, "slow", (json_int_t)http->cut_slow, "aborted",
		(json_int_t)http->aborted);

	for (int kind = INGEST_FINE + 1; refused && kind < INGEST_KINDS; kind++)
		json_object_set_new(refused, ingest_refusal_name(kind),
			json_integer((json_int_t)in->refused[kind]));
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:o}", "observers",
		(json_int_t)in->observers, "frames", (json_int_t)in->frames, "samples",
		(json_int_t)in->samples, "bytes", (json_int_t)in->bytes, "connections",
		(json_int_t)http->connections, "unsealed", (json_int_t)in->chores, "disk_failing",
		(int)in->disk_failing, "refused", refused);
}

static void totals(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct ingest_stats in;
	struct http_stats http;
	json_t *json;
	char *text;

	(void)rq;
	ingest_get_stats(s->ingest, &in);
	http_get_stats(s->http, &http);
	json = totals_json(&in, &http);
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	strbuf_puts(&a->body, text ? text : "{}");
	free(text);
	json_decref(json);
}

const struct http_route routes_ingest[] = {
	{"PUT", PREFIX, HTTP_SERVER, .body_max = INGEST_BODY_MAX, .handle = put,
		.before_body = before_body},
	{"GET", PREFIX, HTTP_SERVER, .handle = list},
	{"GET", "/api/v1/ingest", HTTP_OPERATOR, .handle = totals},
	{NULL},
};
