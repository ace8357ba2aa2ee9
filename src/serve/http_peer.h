/* The identity of the sender of a request. */
#ifndef SERVE_HTTP_PEER_H
#define SERVE_HTTP_PEER_H

#include "serve/http.h"
#include "serve/http_watch.h"

#define HTTP_TOKEN_MAX 256
#define HTTP_COOKIE "limpet_token"

/* Find token, client certificate and address. Copies the token to `token`, and remembers the name
 * of a certificate in `conn`. */
void http_peer_find(struct MHD_Connection *connection, struct http_conn *conn,
	char token[HTTP_TOKEN_MAX], struct http_peer *ret);

/* Was it sent by this server's own page, or by no page? Browsers send the origin of the page in
 * "Origin:" with requests that change something. */
bool http_peer_same_origin(struct MHD_Connection *connection);

#endif
