#include "serve/alerts_body.h"

#include "base/strbuf.h"
#include "base/time.h"
#include "report/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *incident, const char *key)
{
	const char *text = json_string_value(json_object_get(incident, key));

	return text ? text : "";
}

static json_t *time_json(int64_t us)
{
	char text[TIME_TEXT_MAX];

	return json_string(time_format(us / US_PER_SEC * US_PER_SEC, text));
}

/* A list of sentences as one text, one per line. */
static json_t *lines_of(const json_t *incident, const char *key)
{
	struct strbuf sb = {0};
	size_t i;
	json_t *item, *text;

	json_array_foreach(json_object_get(incident, key), i, item)
	{
		strbuf_printf(&sb, "%s%s", i ? "\n" : "", json_string_value(item));
	}
	text = json_text(sb.text ? sb.text : "");
	strbuf_release(&sb);
	return text;
}

static char *link_of(const json_t *incident, const char *page)
{
	char *link = NULL;

	if (page &&
		asprintf(&link, "%s/?incident=%lld", page,
			(long long)json_integer_value(json_object_get(incident, "id"))) < 0)
		link = NULL;
	return link;
}

json_t *alert_labels(const json_t *incident)
{
	char id[32];

	snprintf(id, sizeof(id), "%lld",
		(long long)json_integer_value(json_object_get(incident, "id")));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "alertname", "LimpetIncident",
		"incident", id, "cause", text_of(incident, "cause"), "part",
		text_of(incident, "part"), "instance", text_of(incident, "observer"), "severity",
		text_of(incident, "level"));
}

json_t *alert_manager(
	const json_t *incident, const json_t *labels, const char *page, int64_t ends_us)
{
	char *link = link_of(incident, page);
	json_t *alert = json_pack("{s:O, s:{s:s, s:o, s:o}, s:s, s:o}", "labels", labels,
		"annotations", "summary", text_of(incident, "what"), "description",
		lines_of(incident, "evidence"), "do", lines_of(incident, "do"), "startsAt",
		text_of(incident, "opened"), "endsAt", time_json(ends_us));

	if (alert && link) {
		json_object_set_new(alert, "generatorURL", json_string(link));
		json_object_set_new(
			json_object_get(alert, "annotations"), "link", json_string(link));
	}
	free(link);
	return alert;
}

json_t *alert_manager_over(const json_t *labels, int64_t now_us)
{
	return json_pack("{s:O, s:o}", "labels", labels, "endsAt", time_json(now_us));
}

json_t *alert_webhook(const json_t *incident, const char *change, const char *page, int64_t now_us)
{
	char *link = link_of(incident, page);
	json_t *body = json_pack("{s:s, s:s, s:o, s:o, s:O}", "limpet", LIMPET_VERSION, "change",
		change, "time", time_json(now_us), "link", link ? json_string(link) : json_null(),
		"incident", incident);

	free(link);
	return body;
}

json_t *alert_example(int64_t now_us)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:[s], s:[s], s:o, s:o, s:o}", "id",
		0, "state", "open", "level", "warning", "what",
		"this is a test of limpet's alerts: nothing is wrong", "part", "test", "observer",
		"", "cause", "test", "evidence", "'limpet serve test-alert' was run", "do",
		"Nothing.", "first", time_json(now_us), "opened", time_json(now_us), "ended",
		json_null());
}
