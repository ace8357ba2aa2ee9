/* Access to an HTTP server: passwords, tokens and TLS, from a file in the form of Prometheus'
 * http_config (as for promtool's --http.config.file). Secrets never come from the command line,
 * which every user of the machine can read.
 */
#ifndef IMPORT_REMOTE_HTTP_CONFIG_H
#define IMPORT_REMOTE_HTTP_CONFIG_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise it: no secrets, the system's certificates. */
struct http_config {
	char *username, *password;
	char *token_type, *token; /* of the Authorization header; NULL: none */
	char *ca_file, *cert_file, *key_file, *server_name;
	char *proxy_url;
	bool insecure;	   /* accept any certificate */
	bool no_redirects; /* do not follow them */
};

/* Parse a text. Files in it are relative to `name`; secrets are read from them. */
int http_config_parse(
	struct http_config *c, const char *text, size_t len, const char *name, struct lp_err *err);

/* The same for a file. */
int http_config_load(struct http_config *c, const char *path, struct lp_err *err);
void http_config_release(struct http_config *c);

#endif
