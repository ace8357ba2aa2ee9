/* Server-sent events: incidents, the status, and servers that changed. */
#include "serve/route.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include <stdlib.h>

static void event_send(struct serve *s, const char *name, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	if (text)
		http_hub_event(s->hub, name, text);
	free(text);
	json_decref(root);
}

void events_incident(struct serve *s, json_t *incident)
{
	if (http_hub_clients(s->hub))
		event_send(s, "incident", json_incref(incident));
}

void events_judged(struct serve *s, const struct snapshot *now, const struct snapshot *before)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	uint32_t n;
	FILE *out;

	if (!http_hub_clients(s->hub))
		return;
	event_send(s, "status", route_status(s));
	out = open_memstream(&text, &size);
	if (!out)
		return;
	n = snapshot_write_changes(out, now, before);
	if (fclose(out) == 0 && n)
		http_hub_event(s->hub, "fleet", text);
}

/* A new client gets the status immediately. */
static void get_events(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	json_t *status = route_status(s);
	char *text = status ? json_dumps(status, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	(void)rq;
	a->type = "text/event-stream";
	a->stream = s->hub;
	strbuf_printf(&a->body, "event: status\ndata: %s\n\n", text ? text : "{}");
	free(text);
	json_decref(status);
}

const struct http_route routes_events[] = {
	{"GET", "/api/v1/events", HTTP_OPERATOR, .handle = get_events},
	{NULL},
};
