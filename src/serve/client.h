/* The client side of the API: requests of `limpet incidents` to a collector. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <jansson.h>
#include <limpet/err.h>

#define CLIENT_URL "http://127.0.0.1:9700"

struct client {
	const char *url;	/* NULL: CLIENT_URL */
	const char *token_file; /* of an operator; NULL: none */
	const char *ca_file;	/* NULL: the system's authorities */
};

/* Request `path` ("/api/v1/incidents"), with a body that may be NULL. `*ret` is the answer. A
 * refusal of the collector is an error in its own words: -ENOENT (404), -EACCES (401, 403), -EINVAL
 * (400), else -EIO. */
int client_ask(const struct client *c, const char *method, const char *path, const json_t *body,
	json_t **ret, struct lp_err *err);

/* A value of a query, escaped. NULL: out of memory; the caller frees it. */
char *client_escape(const char *text);

#endif
