/* The client side of the API: `limpet incidents` sends requests to a collector. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <jansson.h>
#include <limpet/err.h>

#define CLIENT_URL "http://127.0.0.1:9700"

struct client {
	const char *url;	/* NULL: CLIENT_URL */
	const char *token_file; /* of an operator; NULL: none */
	const char *ca_file;	/* NULL: the certificate authorities of the system */
};

/* Request `path` ("/api/v1/incidents"), with a body that may be NULL. `*ret` is the answer. If the
 * collector refuses, the error has its words: -ENOENT (404), -EACCES (401, 403), -EINVAL (400),
 * else -EIO. */
int client_ask(const struct client *c, const char *method, const char *path, const json_t *body,
	json_t **ret, struct lp_err *err);

/* Escape a value of a query. NULL: out of memory; the caller frees the result. */
char *client_escape(const char *text);

#endif
