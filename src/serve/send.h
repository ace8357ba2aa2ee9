/* Sends recordings to a collector as they are written, and older data that it does not have.
 *
 * A separate thread reads the archives that the spool writes. Sampling and writing never wait for
 * it. The collector reports how much of each file it has, so everything is sent once, even if
 * either side was unavailable or killed. A file is sealed when the collector has all of it.
 */
#ifndef SERVE_SEND_H
#define SERVE_SEND_H

#include "serve/send_http.h"
#include <stdbool.h>

struct send_config {
	struct send_target target;
	const char *dir, *name; /* of the archives: DIR/NAME-TIME.lpa */
	const char *observer;
	int64_t since_us;     /* files that begin earlier are not sent; INT64_MIN: all are */
	struct lp_warn *warn; /* called from the sender's threads */
};

struct send_stats {
	uint64_t frames, bytes, requests; /* sent */
	bool behind;			  /* not all data has arrived */
};

struct sender;

int send_open(const struct send_config *config, struct sender **ret, struct lp_err *err);

/* For struct spool_config: the first `size` bytes of a file will not change. `sender` is a struct
 * sender. */
void send_written(void *sender, const char *path, uint64_t size);

/* The files no longer grow: send the rest, for at most SEND_LAST_SEC, and free the sender. Accepts
 * NULL. */
#define SEND_LAST_SEC 10
void send_close(struct sender *s, struct send_stats *ret_stats);

#endif
