/* The identity of the sender of a request. */
#ifndef SERVE_HTTP_PEER_H
#define SERVE_HTTP_PEER_H

#include "serve/http.h"
#include "serve/http_watch.h"

#define HTTP_TOKEN_MAX 256
#define HTTP_COOKIE "limpet_token"

/* Find token, client certificate and address. The token is copied to `token`; the name of a
 * certificate is remembered in `conn`. */
void http_peer_find(struct MHD_Connection *connection, struct http_conn *conn,
	char token[HTTP_TOKEN_MAX], struct http_peer *ret);

/* Was it sent by this server's own page (or by no page at all)? Browsers put the origin of the page
 * into "Origin:" of a request that changes something. */
bool http_peer_same_origin(struct MHD_Connection *connection);

#endif
