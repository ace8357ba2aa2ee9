/* Runs slow work in separate threads, so that other clients do not wait for it. */
#ifndef SERVE_HTTP_SLOW_H
#define SERVE_HTTP_SLOW_H

#include <limpet/err.h>

struct http_slow;

#define HTTP_SLOW_QUEUE_MAX 256 /* waiting work; more is refused */

int http_slow_new(unsigned n_threads, struct http_slow **ret, struct lp_err *err);

/* Finish waiting work and end the threads. From now on work is refused. Accepts NULL. */
void http_slow_stop(struct http_slow *s);
void http_slow_free(struct http_slow *s);

/* Let one of the threads call `fn(arg)`. 0, or -EAGAIN if too much work is waiting. */
int http_slow_push(struct http_slow *s, void (*fn)(void *arg), void *arg);

#endif
