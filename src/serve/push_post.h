/* Sends one message of remote write to one receiver, and returns the result. */
#ifndef SERVE_PUSH_POST_H
#define SERVE_PUSH_POST_H

#include "base/strbuf.h"
#include <limpet/err.h>

struct push_post;

/* `http_config` is a file, or NULL. */
int push_post_open(
	const char *url, const char *http_config, struct push_post **ret, struct lp_err *err);
void push_post_close(struct push_post *p);

enum push_result {
	PUSH_SENT,
	PUSH_LATER,    /* no answer, 5xx or 429: try again later */
	PUSH_TOO_MUCH, /* 400, 413: a part of it may be accepted */
	PUSH_REFUSED,  /* other answers */
};

/* Send a message once; stop if `stop` becomes true. `err` says why it was not accepted. */
enum push_result push_post(
	struct push_post *p, const struct strbuf *message, const bool *stop, struct lp_err *err);

/* The URL without secrets. */
const char *push_post_shown(const struct push_post *p);

#endif
