#include "serve/serve.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/temp.h"
#include "serve/alerts.h"
#include "serve/ingest.h"
#include "serve/series.h"
#include <errno.h>
#include <ftw.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<snappy-c.h>)
#include "serve/remote_write.h"
#define HAVE_REMOTE_WRITE
#endif
#ifdef HAVE_PUSH
#include "serve/push.h"
#endif

/* A server that writes is identified by its certificate or its token. If no server was enrolled and
 * no CA is configured, any client on this machine may write (as "", which means any name). */
static int authorize_server(
	struct serve *s, const struct http_peer *peer, char who[HTTP_NAME_MAX], struct lp_err *err)
{
	if (peer->certificate_name) {
		snprintf(who, HTTP_NAME_MAX, "%s", peer->certificate_name);
		return 0;
	}
	if (peer->token && tokens_find(s->tokens, TOKEN_SERVER, peer->token, who, HTTP_NAME_MAX))
		return 0;
	if (peer->token)
		return lp_err_set(err, -EACCES,
			"the token is not one of this collector's servers ('limpet serve enroll' "
			"makes them)");
	if (peer->loopback && !s->config.tls_client_ca_file &&
		!tokens_count(s->tokens, TOKEN_SERVER)) {
		who[0] = '\0';
		return 0;
	}
	return lp_err_set(
		err, -EACCES, "a server needs a token ('limpet serve enroll') or a certificate");
}

/* An operator is anyone on this machine, or a client with a token. */
static int authorize_operator(
	struct serve *s, const struct http_peer *peer, char who[HTTP_NAME_MAX], struct lp_err *err)
{
	if (peer->token && tokens_find(s->tokens, TOKEN_OPERATOR, peer->token, who, HTTP_NAME_MAX))
		return 0;
	if (peer->loopback) {
		snprintf(who, HTTP_NAME_MAX, SERVE_LOCAL);
		return 0;
	}
	return lp_err_set(err, -EACCES,
		peer->token ? "the token is not one of this collector's operators"
			    : "an operator needs a token ('limpet serve enroll --operator')");
}

static int authorize(void *ctx, enum http_needs needs, const struct http_peer *peer,
	char who[HTTP_NAME_MAX], struct lp_err *err)
{
	return needs == HTTP_SERVER ? authorize_server(ctx, peer, who, err)
				    : authorize_operator(ctx, peer, who, err);
}

static int routes_add(struct serve *s, struct lp_err *err)
{
	const struct http_route *const tables[] = {routes_session, routes_ingest, routes_api,
		routes_series, routes_events, routes_metrics, routes_page};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tables); i++) {
		if (tables[i] != routes_ingest || s->ingest)
			r = http_add_routes(s->http, tables[i], s);
	}
#ifdef HAVE_REMOTE_WRITE
	if (r == 0 && s->remote_write)
		r = http_add_routes(s->http, routes_write, s);
#endif
	return r < 0 ? lp_err_sys(err, r, "cannot serve") : 0;
}

static int ingest_begin(struct serve *s, struct lp_err *err)
{
	const struct ingest_config ingest = {.dir = s->config.data,
		.keep_age_us = s->config.keep_age_us,
		.keep_bytes = s->config.keep_bytes,
		.warn = s->config.warn};

	int r = ingest_open(&ingest, &s->ingest, err);

#ifdef HAVE_REMOTE_WRITE
	if (r == 0)
		r = remote_write_open(s->config.data, s->config.warn, &s->remote_write, err);
#endif
	return r;
}

static int http_begin(struct serve *s, struct lp_err *err)
{
	const struct serve_config *c = &s->config;
	const struct http_config http = {.listen = c->listen ? c->listen : SERVE_LISTEN,
		.tls_cert_file = c->tls_cert_file,
		.tls_key_file = c->tls_key_file,
		.tls_client_ca_file = c->tls_client_ca_file,
		.connections_max = (unsigned)c->connections_max,
		.authorize = authorize,
		.authorize_ctx = s,
		.warn = c->warn};

	return http_open(&http, &s->http, err);
}

/* An incident changed. Called with the store locked. */
static void changed(void *ctx, enum incident_change change, json_t *incident)
{
	struct serve *s = ctx;

	events_incident(s, incident);
	if (s->alerts)
		alerts_changed(s->alerts, change, incident);
}

static void judged(void *ctx, const struct snapshot *now, const struct snapshot *before)
{
	events_judged(ctx, now, before);
}

/* Open the store of incidents (temporary for a replay) and the alerts. */
static int incidents_begin(struct serve *s, struct lp_err *err)
{
	const struct incidents_options keep = {.changed = changed, .ctx = s};
	_cleanup_free_ char *path = NULL;
	int r;

	if (!s->config.replay && asprintf(&path, "%s/incidents.sqlite", s->config.data) < 0) {
		path = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	}
	r = incidents_open(path, &keep, &s->incidents, err);
	if (r == 0 && s->config.alerts)
		r = alerts_start(s->config.alerts, s->incidents, s->config.warn, &s->alerts, err);
	return r;
}

bool serve_disk_fails(const struct serve *s)
{
	struct ingest_stats st;

	if (!s->ingest)
		return false;
	ingest_get_stats(s->ingest, &st);
	return st.disk_failing;
}

static bool is_blind(void *ctx)
{
	return serve_disk_fails(ctx);
}

static int live_begin(struct serve *s, struct lp_err *err)
{
	const struct serve_config *c = &s->config;
	const struct live_options live = {.dir = c->data,
		.replay = c->replay,
		.speed = c->speed,
		.topology = c->topology,
		.expect = c->expect,
		.store = s->incidents,
		.look_back_us = c->look_back_us,
		.warn = c->warn,
		.judged = judged,
		.is_blind = is_blind,
		.ctx = s,
		.peek = s->ingest ? ingest_peek : NULL,
		.peek_ctx = s->ingest};

	return live_start(&live, &s->live, err);
}

/* A replay needs no data directory. */
static int data_begin(struct serve *s, struct lp_err *err)
{
	int r;

	if (s->config.data)
		return path_make_dirs(s->config.data, err);
	r = temp_dir_make(&s->temporary, err);
	s->config.data = s->temporary;
	return r;
}

static int push_begin(struct serve *s, struct lp_err *err)
{
	const struct serve_config *c = &s->config;

	if (!c->push_url)
		return 0;
#ifdef HAVE_PUSH
	return push_start(&(struct push_config){.dir = c->data,
				  .url = c->push_url,
				  .http_config = c->push_http_config,
				  .backlog_us = c->push_backlog_us,
				  .warn = c->warn},
		&s->push, err);
#else
	return lp_err_set(err, -EOPNOTSUPP,
		"this limpet was built without snappy (libsnappy-dev) or libcurl, which "
		"--remote-write needs");
#endif
}

static int parts_begin(struct serve *s, struct lp_err *err)
{
	int r = data_begin(s, err);

	if (r == 0)
		r = tokens_open(s->config.data, s->config.warn, &s->tokens, err);
	if (r == 0 && !s->config.replay)
		r = ingest_begin(s, err);
	if (r == 0)
		r = http_begin(s, err);
	if (r == 0 && http_add_hub(s->http, s->hub) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot serve");
	if (r == 0)
		r = incidents_begin(s, err);
	if (r == 0)
		r = live_begin(s, err);
	if (r == 0)
		r = push_begin(s, err);
	if (r == 0)
		r = routes_add(s, err);
	return r < 0 ? r : http_start(s->http, err);
}

int serve_open(const struct serve_config *config, struct serve **ret, struct lp_err *err)
{
	struct serve *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	s->config = *config;
	pthread_mutex_init(&s->look_mutex, NULL);
	s->hub = http_hub_new();
	s->series = series_cache_new();
	r = s->hub && s->series ? parts_begin(s, err) : lp_err_sys(err, -ENOMEM, "cannot serve");
	if (r < 0) {
		serve_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void serve_close(struct serve *s)
{
	if (!s)
		return;
	http_close(s->http);
#ifdef HAVE_REMOTE_WRITE
	remote_write_close(s->remote_write);
#endif
#ifdef HAVE_PUSH
	push_stop(s->push);
#endif
	live_stop(s->live);
	alerts_stop(s->alerts);
	incidents_close(s->incidents);
	ingest_close(s->ingest);
	tokens_close(s->tokens);
	http_hub_free(s->hub);
	series_cache_free(s->series);
	if (s->temporary)
		nftw(s->temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(s->temporary);
	pthread_mutex_destroy(&s->look_mutex);
	free(s);
}
