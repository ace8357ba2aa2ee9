/* Sending by remote write: the servers' data is forwarded to Prometheus, VictoriaMetrics, Mimir or
 * any other receiver, as it arrives.
 *
 *     archives in DIR --> follow_data --> push_series (named) --> push_post (HTTP)
 *                              ^                                       |
 *                              +------- push_places (how far) <--------+
 *
 * The archives are the queue: they exist anyway and survive crashes, and receiving never waits for
 * sending. A thread reads them and sends. Data that the receiver cannot accept now (no answer, 5xx,
 * 429) is sent again, at increasing intervals; data that it refuses (other 4xx) is counted and
 * dropped. Data that arrived by remote write is not sent, because it would go round in circles.
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
	/* How far to go back, 0: PUSH_BACKLOG_US; where nothing was sent before, to now then. */
	int64_t backlog_us;
	struct lp_warn *warn;
};

struct push;

/* Start; what `config` points to outlives it. */
int push_start(const struct push_config *config, struct push **ret, struct lp_err *err);

/* Stop, and free. What was not sent is sent after the next start. Accepts NULL. */
void push_stop(struct push *p);

struct push_stats {
	uint64_t sent;	   /* samples that the receiver has */
	uint64_t refused;  /* that it refused */
	uint64_t expired;  /* that were too old to be sent */
	uint64_t retries;  /* requests that were tried again */
	int64_t newest_us; /* the time of the last sample that was sent; 0: none */
	bool waiting;	   /* the receiver does not take anything now */
};

struct push_stats push_stats(struct push *p);

#endif
