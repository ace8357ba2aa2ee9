/* Requests that read archives: series of values, and the verdict at a time in the past. */
#include "serve/route.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/verdict_json.h"
#include "serve/series.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <string.h>

#define RANGE_DEFAULT_US (3600 * US_PER_SEC)

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

/* Parse since and until; the default is the last hour. */
static bool range_take(struct serve *s, const struct http_request *rq, struct http_answer *a,
	struct series_ask *ask)
{
	int64_t watermark = ask->now->watermark_us;

	ask->until_us = watermark > INT64_MIN ? watermark : live_now_us(s->live);
	if (!route_time(rq, a, "until", &ask->until_us))
		return false;
	ask->since_us = ask->until_us - RANGE_DEFAULT_US;
	if (!route_time(rq, a, "since", &ask->since_us))
		return false;
	if (ask->since_us >= ask->until_us)
		http_fail(a, 400, "until must be later than since");
	return ask->since_us < ask->until_us;
}

static void series_answer(const struct series_ask *ask, struct http_answer *a)
{
	_cleanup_free_ char *text = NULL;
	struct lp_err err = {0};
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r;

	r = out ? series_write(out, ask, &err)
		: lp_err_sys(&err, -ENOMEM, "cannot read the series");
	if (out && fclose(out) != 0 && r == 0)
		r = lp_err_sys(&err, -ENOMEM, "cannot read the series");
	if (r < 0)
		route_error(a, r, &err);
	else
		strbuf_add(&a->body, text, size);
}

static void get_series(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	uint64_t points = SERIES_POINTS_DEFAULT;
	struct series_ask ask = {.component = http_query(rq, "component"),
		.metric = http_query(rq, "metric"),
		.cache = s->series,
		.dir = s->config.data,
		.data = s->config.replay_look};

	if (!ask.component || !ask.metric) {
		http_fail(a, 400, "component and metric must be given");
		return;
	}
	if (!route_number(rq, a, "points", SERIES_POINTS_MAX, &points))
		return;
	ask.points = points ? (uint32_t)points : SERIES_POINTS_DEFAULT;
	ask.now = live_snapshot(s->live);
	if (range_take(s, rq, a, &ask))
		series_answer(&ask, a);
	snapshot_unref((struct snapshot *)ask.now);
}

/* The verdict of `limpet diagnose --until T`. */
static int verdict_at(struct serve *s, int64_t at_us, struct http_answer *a, struct lp_err *err)
{
	int64_t back = s->config.look_back_us ? s->config.look_back_us : FEED_LOOK_BACK_US;
	const struct lp_diagnose_options how = {.topology = s->config.topology,
		.expect = s->config.expect,
		.from_us = at_us - back,
		.to_us = at_us};
	_cleanup_(lp_dataset_closep) struct lp_dataset *own = NULL;
	_cleanup_free_ char *text = NULL;
	struct lp_verdict *v = NULL;
	size_t size = 0;
	FILE *out;
	int r = s->config.replay_past
		? 0
		: lp_dataset_open(&s->config.data, 1, NULL, NULL, NULL, &own, err);

	if (r == 0)
		r = lp_diagnose(s->config.replay_past ? s->config.replay_past : own, &how, &v, err);
	if (!v)
		return r < 0 ? r : lp_err_set(err, -ENOENT, "there is no data before that time");
	out = open_memstream(&text, &size);
	r = out ? verdict_print_json(out, v) : -ENOMEM;
	lp_verdict_free(v);
	if (!out || fclose(out) != 0 || r < 0)
		return lp_err_sys(err, -ENOMEM, "cannot return the verdict");
	strbuf_add(&a->body, text, size);
	return 0;
}

static void get_verdict(void *ctx, const struct http_request *rq, struct http_answer *a)
{
	struct serve *s = ctx;
	struct snapshot *now = live_snapshot(s->live);
	struct lp_err err = {0};
	int64_t at_us = 0;
	int r = 0;

	if (!route_time(rq, a, "at", &at_us)) {
		;
	} else if (at_us) {
		/* It may use the whole machine, so only one runs at a time. */
		pthread_mutex_lock(&s->look_mutex);
		r = verdict_at(s, at_us, a, &err);
		pthread_mutex_unlock(&s->look_mutex);
	} else if (now->verdict) {
		strbuf_add(&a->body, now->verdict, now->verdict_size);
	} else {
		r = lp_err_set(&err, -ENODATA, "there is no verdict yet: there is too little data");
	}
	if (r < 0)
		route_error(a, r, &err);
	snapshot_unref(now);
}

const struct http_route routes_series[] = {
	{"GET", "/api/v1/series", HTTP_OPERATOR, .handle = get_series, .slow = true},
	{"GET", "/api/v1/verdict", HTTP_OPERATOR, .handle = get_verdict, .slow = true},
	{NULL},
};
