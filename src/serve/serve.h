/* The collector: one program that receives the recordings of the servers of a fleet, stores them,
 * judges them as they arrive, and answers requests of operators.
 *
 * It owns its parts: the HTTP server (serve/http.h), the tokens (serve/tokens.h), received data
 * (serve/ingest.h), and the engine with its incidents (serve/live.h).
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/http.h"
#include "serve/http_stream.h"
#include "serve/live.h"
#include "serve/tokens.h"
#include <pthread.h>

#define SERVE_LISTEN "127.0.0.1:9700"

/* An operator on the collector's own machine, who needs no token. */
#define SERVE_LOCAL "local"

struct serve_config {
	const char *data; /* the directory of archives */
	const char *listen;
	const char *tls_cert_file, *tls_key_file, *tls_client_ca_file;
	const char *topology, *expect; /* files, or NULL */
	uint64_t connections_max;      /* 0: the default */
	int64_t keep_age_us;	       /* of the archives of each server; 0: forever */
	uint64_t keep_bytes;	       /* the same; 0: any size */
	struct lp_warn *warn;	       /* called from several threads */
	/* Instead of receiving data, replay recordings `speed` times as fast. The other two are the
	 * same recordings again, for requests for values and for verdicts in the past. `data` may
	 * be NULL then: nothing is stored. */
	struct lp_dataset *replay, *replay_look, *replay_past;
	double speed;
	const char *alerts;   /* a file of alert targets; NULL: no alerts are sent */
	int64_t look_back_us; /* how much data the engine reads again at the start; 0: the
			       * default */
	/* Where to forward samples by remote write; NULL: nowhere. See serve/push.h. */
	const char *push_url, *push_http_config;
	int64_t push_backlog_us;
};

struct serve {
	struct serve_config config;
	struct http_server *http;
	struct tokens *tokens;
	struct ingest *ingest;		   /* NULL: this is a replay */
	struct remote_write *remote_write; /* NULL: this is a replay, or built without snappy */
	struct incidents *incidents;
	struct alerts *alerts; /* NULL: there are no alerts */
	struct live *live;
	struct series_cache *series;
	struct http_hub *hub;	    /* of events */
	pthread_mutex_t look_mutex; /* for requests that read much data */
	char *temporary;	    /* a directory that is removed at the end; NULL: none */
	struct push *push;	    /* NULL: samples are not forwarded */
};

/* Start all parts. It serves until it is closed. */
int serve_open(const struct serve_config *config, struct serve **ret, struct lp_err *err);

/* Finish current work, and free it. Accepts NULL. */
void serve_close(struct serve *s);

/* Does the collector fail to write received data? */
bool serve_disk_fails(const struct serve *s);

/* Notify clients that an incident changed, or that there is a new verdict. */
void events_incident(struct serve *s, json_t *incident);
void events_judged(struct serve *s, const struct snapshot *now, const struct snapshot *before);

/* Tables of routes: one file route_NAME.c each. Their `ctx` is the struct serve. */
extern const struct http_route routes_ingest[];	 /* route_ingest.c: data from servers */
extern const struct http_route routes_write[];	 /* route_write.c: remote write */
extern const struct http_route routes_session[]; /* route_session.c: log in and out, /healthz */
extern const struct http_route routes_api[];	 /* route_api.c: incidents and servers */
extern const struct http_route routes_series[];	 /* route_series.c: values from archives */
extern const struct http_route routes_events[];	 /* route_events.c: changes */
extern const struct http_route routes_metrics[]; /* route_metrics.c: for Prometheus */
extern const struct http_route routes_page[];	 /* route_page.c: the page */

#endif
