/* One message of remote write to one receiver, and what became of it. */
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
	PUSH_LATER,    /* no answer, 5xx or 429: it may be better later */
	PUSH_TOO_MUCH, /* 400, 413: some of it may be taken without the rest */
	PUSH_REFUSED,  /* other answers */
};

/* Send a message once, and give up if `stop` is set meanwhile. `err` says why it was not taken. */
enum push_result push_post(
	struct push_post *p, const struct strbuf *message, const bool *stop, struct lp_err *err);

/* The URL as it may be shown. */
const char *push_post_shown(const struct push_post *p);

#endif
