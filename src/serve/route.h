/* The common part of routes. */
#ifndef SERVE_ROUTE_H
#define SERVE_ROUTE_H

#include "serve/serve.h"
#include <jansson.h>
#include <stdio.h>

/* Answer with JSON, and take ownership of it. */
void route_json(struct http_answer *a, json_t *root);

/* Answer with an error: the status for the errno, and the message. */
void route_error(struct http_answer *a, int r, const struct lp_err *err);

/* Answer with the output of a function. */
void route_text(struct http_answer *a, void (*write)(FILE *out, void *ctx), void *ctx);

/* A number or a time of the query; `*ret` is unchanged if there is none. False: it is invalid, and
 * the answer says so. */
bool route_number(const struct http_request *rq, struct http_answer *a, const char *key,
	uint64_t max, uint64_t *ret);
bool route_time(
	const struct http_request *rq, struct http_answer *a, const char *key, int64_t *ret);

/* The answer of GET /api/v1/status. NULL: out of memory. */
json_t *route_status(struct serve *s);

#endif
