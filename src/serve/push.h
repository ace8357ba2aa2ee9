/* Forwards the data of servers by remote write to Prometheus, VictoriaMetrics, Mimir or any other
 * receiver, as it arrives.
 *
 *     archives in DIR --> follow_data --> push_series (named) --> push_post (HTTP)
 *                              ^                                       |
 *                              +------- push_places (how far) <--------+
 *
 * The archives are the queue: they exist anyway and survive crashes, and receiving never waits for
 * sending. A thread reads them and sends. If the receiver cannot accept data now (no answer, 5xx,
 * 429), it is sent again, at increasing intervals. Data that it refuses (other 4xx) is counted and
 * dropped. Data that arrived by remote write is not forwarded, because it could go round in
 * circles.
 */
#ifndef SERVE_PUSH_H
#define SERVE_PUSH_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

/* The default age beyond which samples are no longer sent. */
#define PUSH_BACKLOG_US (INT64_C(86400) * 1000000)

struct push_config {
	const char *dir;	 /* of archives */
	const char *url;	 /* "https://host/api/v1/write" */
	const char *http_config; /* a file with passwords, tokens, TLS; NULL: none */
	/* The maximum age of samples; 0: PUSH_BACKLOG_US, or only new samples if nothing was sent
	 * before. */
	int64_t backlog_us;
	struct lp_warn *warn;
};

struct push;

/* Start. Everything that `config` points to must outlive it. */
int push_start(const struct push_config *config, struct push **ret, struct lp_err *err);

/* Stop and free it. Unsent data is sent after the next start. Accepts NULL. */
void push_stop(struct push *p);

struct push_stats {
	uint64_t sent;	   /* samples that the receiver accepted */
	uint64_t refused;  /* samples that it refused */
	uint64_t expired;  /* samples that were too old to send */
	uint64_t retries;  /* requests that were tried again */
	int64_t newest_us; /* the time of the last sent sample; 0: none */
	bool waiting;	   /* the receiver accepts nothing at the moment */
};

struct push_stats push_stats(struct push *p);

#endif
